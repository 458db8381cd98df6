// UUIDs.
#pragma once

#include "text/hex.h"

#include <cstring>

namespace cpp_output
{

constexpr std::size_t uuid_max = 36;

// data is 16 bytes in the order in which they are written.
inline char *write_uuid(char *out, const char *data)
{
	char digits[32];
	write_hex(digits, data, 16);
	std::memcpy(out, digits, 8);
	out[8] = '-';
	std::memcpy(out + 9, digits + 8, 4);
	out[13] = '-';
	std::memcpy(out + 14, digits + 12, 4);
	out[18] = '-';
	std::memcpy(out + 19, digits + 16, 4);
	out[23] = '-';
	std::memcpy(out + 24, digits + 20, 12);
	return out + uuid_max;
}

} // namespace cpp_output
