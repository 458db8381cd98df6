// Decimal integers and LSNs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpp_output
{

constexpr std::size_t integer_max = 20;
constexpr std::size_t lsn_max = 17;

/*
 * Each writes at `out` and returns the end of what it wrote; the caller has
 * reserved the number of bytes named above.
 */
char *write_integer(char *out, std::int64_t value);
char *write_unsigned(char *out, std::uint64_t value);

// The server's %X/%X: both halves in upper-case hex, neither one padded.
char *write_lsn(char *out, std::uint64_t lsn);

} // namespace cpp_output
