// Two decimal digits at a time.
#pragma once

#include <array>
#include <cstring>

namespace cpp_output
{

// "00" to "99"
inline constexpr std::array<char, 200> digit_pairs = [] {
	std::array<char, 200> pairs{};
	for (unsigned i = 0; i < 100; i++) {
		pairs[2 * i] = static_cast<char>('0' + i / 10);
		pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
	}
	return pairs;
}();

// value is below 100
inline char *write_2_digits(char *out, unsigned value)
{
	std::memcpy(out, digit_pairs.data() + 2 * value, 2);
	return out + 2;
}

// value is below 10000
inline char *write_4_digits(char *out, unsigned value)
{
	write_2_digits(out, value / 100);
	return write_2_digits(out + 2, value % 100);
}

} // namespace cpp_output
