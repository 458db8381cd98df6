// SQL string literals.
#pragma once

#include "text/buffer.h"

namespace cpp_output
{

/*
 * Appends text as it stands between the quotes of a literal under
 * standard_conforming_strings: quotes doubled, backslashes left alone.
 */
void append_sql_literal_body(byte_buffer &out, std::string_view text);

} // namespace cpp_output
