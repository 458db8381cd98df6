#include "text/numeric.h"

#include "text/digits.h"

#include <algorithm>
#include <cstdint>

namespace cpp_output
{

namespace
{

/*
 * The header's upper bits tell its form. A short header holds everything in
 * its 16 bits, a long one has the weight in another 16.
 */
constexpr unsigned form_mask = 0xc000;
constexpr unsigned form_short = 0x8000;
constexpr unsigned form_special = 0xc000;
constexpr unsigned special_mask = 0xf000;
constexpr unsigned special_infinity = 0xd000;
constexpr unsigned special_minus_infinity = 0xf000;
constexpr unsigned long_negative = 0x4000;
constexpr unsigned long_scale_mask = 0x3fff;
constexpr unsigned short_negative = 0x2000;
constexpr unsigned short_scale_mask = 0x1f80;
constexpr unsigned short_scale_shift = 7;
constexpr unsigned short_weight_sign = 0x0040;
constexpr unsigned short_weight_mask = 0x003f;

unsigned load_16(const char *at)
{
	std::uint16_t value;
	std::memcpy(&value, at, sizeof value);
	return value;
}

// A digit in base 10000: four decimal ones.
unsigned load_digit(const char *at)
{
	const unsigned digit = load_16(at);
	return digit < 10000 ? digit : digit % 10000;
}

char *write_zeros(char *out, std::size_t n)
{
	std::memset(out, '0', n);
	return out + n;
}

char *write_digits(char *out, const char *digits, std::size_t n)
{
	for (std::size_t i = 0; i < n; i++)
		out = write_4_digits(out, load_digit(digits + 2 * i));
	return out;
}

// Without leading zeros, but at least one digit; stores four bytes.
char *write_first_digit(char *out, unsigned digit)
{
	char padded[8] = {};
	write_4_digits(padded, digit);
	const unsigned zeros = (digit < 1000 ? 1 : 0) + (digit < 100 ? 1 : 0) + (digit < 10 ? 1 : 0);
	std::memcpy(out, padded + zeros, 4);
	return out + 4 - zeros;
}

} // namespace

bool numeric_is_special(const char *data, std::size_t len)
{
	return len >= 2 && (load_16(data) & form_mask) == form_special;
}

void append_numeric(byte_buffer &buffer, const char *data, std::size_t len)
{
	if (len < 2) {
		buffer.push_back('0');
		return;
	}

	const unsigned header = load_16(data);
	bool negative;
	std::size_t scale; // decimal digits after the point
	int weight;		   // of the first digit, as a power of 10000
	std::size_t header_size = 2;
	if ((header & form_mask) == form_special) {
		const unsigned which = header & special_mask;
		buffer.append(which == special_infinity			? "Infinity"
					  : which == special_minus_infinity ? "-Infinity"
														: "NaN");
		return;
	} else if ((header & form_mask) == form_short) {
		negative = (header & short_negative) != 0;
		scale = (header & short_scale_mask) >> short_scale_shift;
		weight = static_cast<int>(header & short_weight_mask);
		if ((header & short_weight_sign) != 0)
			weight -= static_cast<int>(short_weight_mask) + 1;
	} else {
		negative = (header & form_mask) == long_negative;
		scale = header & long_scale_mask;
		weight = 0;
		if (len >= 4)
			weight = static_cast<std::int16_t>(load_16(data + 2));
		header_size = std::min<std::size_t>(4, len);
	}
	const char *digits = data + header_size;
	std::size_t ndigits = (len - header_size) / 2;

	// sign, digits before the point, point, digits after it in groups of four
	const std::size_t groups = weight < 0 ? 0 : static_cast<std::size_t>(weight) + 1;
	char *out = buffer.reserve(1 + 4 * groups + 4 + 1 + scale + 4);
	if (negative)
		*out++ = '-';

	if (groups == 0 || ndigits == 0) {
		*out++ = '0';
		if (groups > 0)
			out = write_zeros(out, 4 * (groups - 1));
	} else {
		const std::size_t stored = std::min(groups, ndigits);
		out = write_first_digit(out, load_digit(digits));
		out = write_digits(out, digits + 2, stored - 1);
		out = write_zeros(out, 4 * (groups - stored));
		digits += 2 * stored;
		ndigits -= stored;
	}

	if (scale > 0) {
		*out++ = '.';
		char *const end = out + scale;
		if (weight < -1)
			out = write_zeros(out, std::min(scale, 4 * static_cast<std::size_t>(-1 - weight)));
		const std::size_t left = static_cast<std::size_t>(end - out);
		out = write_digits(out, digits, std::min(ndigits, (left + 3) / 4));
		if (out < end)
			write_zeros(out, static_cast<std::size_t>(end - out));
		out = end;
	}
	buffer.commit(out);
}

} // namespace cpp_output
