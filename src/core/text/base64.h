// Bytes in base64: the standard alphabet, padded, in one line.
#pragma once

#include <cstddef>

namespace cpp_output
{

constexpr std::size_t base64_size(std::size_t n)
{
	return (n + 2) / 3 * 4;
}

// Stores exactly base64_size(n) bytes.
char *write_base64(char *out, const char *data, std::size_t n);

} // namespace cpp_output
