/*
 * Validity of UTF-8 by the server's rules: up to U+10FFFF, no surrogates, no
 * overlong forms.
 */
#pragma once

#include <cstddef>
#include <string_view>

namespace cpp_output
{

bool is_utf8(std::string_view text);

// As is_utf8, and no NUL byte: what the server takes as text.
bool is_text_utf8(std::string_view text);

/*
 * The length of the valid sequence that starts at `at`, 1 to 4; 0 where there
 * is none, or where it would go beyond end. at is before end.
 */
std::size_t utf8_sequence(const char *at, const char *end);

// The code point of a sequence of the length that utf8_sequence() gave.
char32_t utf8_code_point(const char *at, std::size_t length);

} // namespace cpp_output
