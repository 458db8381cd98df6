// JSON values that are text already.
#pragma once

#include "text/json_string.h"

namespace cpp_output
{

/*
 * Appends the text of a json or jsonb value, so that it can stand inside
 * another JSON document on a single line. Valid JSON has raw controls only as
 * white space between tokens: each becomes a space. All else stays as it is,
 * but for bytes from 0x80 up, which stand in strings only and are treated as
 * text_mode says.
 */
void append_json_document(byte_buffer &out, std::string_view json_text, text_mode mode);

} // namespace cpp_output
