#include "text/integer.h"

#include "text/digits.h"

#include <bit>

namespace cpp_output
{

namespace
{

constexpr std::array<std::uint64_t, 20> powers_of_10 = [] {
	std::array<std::uint64_t, 20> powers{};
	std::uint64_t power = 1;
	for (auto &p : powers) {
		p = power;
		power *= 10;
	}
	return powers;
}();

// 1233/4096 is log10(2), near enough for 64 bits.
unsigned decimal_length(std::uint64_t value)
{
	const unsigned bits = static_cast<unsigned>(std::bit_width(value | 1));
	const unsigned guess = bits * 1233 >> 12;
	return guess + (value >= powers_of_10[guess] ? 1 : 0);
}

char *write_hex_unpadded(char *out, std::uint32_t value)
{
	const int nibbles = value == 0 ? 1 : (std::bit_width(value) + 3) / 4;
	for (int i = nibbles - 1; i >= 0; i--)
		*out++ = "0123456789ABCDEF"[value >> (4 * i) & 0xf];
	return out;
}

} // namespace

char *write_unsigned(char *out, std::uint64_t value)
{
	if (value < 10) {
		*out = static_cast<char>('0' + value);
		return out + 1;
	}
	char *const end = out + decimal_length(value);
	char *at = end;
	while (value > UINT32_MAX) {
		at -= 2;
		write_2_digits(at, static_cast<unsigned>(value % 100));
		value /= 100;
	}
	// 32-bit division is cheaper
	std::uint32_t rest = static_cast<std::uint32_t>(value);
	while (rest >= 100) {
		at -= 2;
		write_2_digits(at, rest % 100);
		rest /= 100;
	}
	if (rest >= 10)
		write_2_digits(at - 2, rest);
	else if (at != out)
		*out = static_cast<char>('0' + rest);
	return end;
}

char *write_integer(char *out, std::int64_t value)
{
	std::uint64_t magnitude = static_cast<std::uint64_t>(value);
	if (value < 0) {
		*out++ = '-';
		magnitude = 0 - magnitude;
	}
	return write_unsigned(out, magnitude);
}

char *write_lsn(char *out, std::uint64_t lsn)
{
	out = write_hex_unpadded(out, static_cast<std::uint32_t>(lsn >> 32));
	*out++ = '/';
	return write_hex_unpadded(out, static_cast<std::uint32_t>(lsn));
}

} // namespace cpp_output
