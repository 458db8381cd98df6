// Bytes in lower-case hex.
#pragma once

#include <cstddef>

namespace cpp_output
{

constexpr std::size_t hex_size(std::size_t n)
{
	return 2 * n;
}

// Stores exactly hex_size(n) bytes.
char *write_hex(char *out, const char *data, std::size_t n);

} // namespace cpp_output
