// Numerics in their form on disk.
#pragma once

#include "text/buffer.h"

namespace cpp_output
{

/*
 * data is a numeric without the varlena's length word, at any alignment, in
 * the machine's byte order. Appends what numeric_out would give. Bytes that
 * are no numeric are never read beyond len: a missing header reads as 0, a
 * missing digit as 0, a base-10000 digit out of range modulo 10000.
 */
void append_numeric(byte_buffer &out, const char *data, std::size_t len);

// NaN, Infinity or -Infinity: not a JSON number.
bool numeric_is_special(const char *data, std::size_t len);

} // namespace cpp_output
