// JSON strings.
#pragma once

#include "text/buffer.h"

namespace cpp_output
{

// What becomes of bytes from 0x80 up.
enum class text_mode {
	utf8,		  // copied: the text is known to be UTF-8
	checked_utf8, // each byte that is not UTF-8 becomes U+FFFD
	ascii		  // \uxxxx, surrogate pairs above U+FFFF; \ufffd as above
};

/*
 * Appends text as a JSON string. Quotes, backslashes and controls below 0x20
 * are escaped in the way of the server's own escape_json().
 */
void append_json_string(byte_buffer &out, std::string_view text, text_mode mode);

// The same without the quotes around it.
void append_json_escaped(byte_buffer &out, std::string_view text, text_mode mode);

} // namespace cpp_output
