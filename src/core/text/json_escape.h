// What json_string and json_document share: characters beyond ASCII.
#pragma once

#include "text/json_string.h"
#include "text/utf8.h"

namespace cpp_output
{

inline char *write_json_unit(char *out, unsigned unit)
{
	constexpr char digits[] = "0123456789abcdef";
	out[0] = '\\';
	out[1] = 'u';
	out[2] = digits[unit >> 12 & 0xf];
	out[3] = digits[unit >> 8 & 0xf];
	out[4] = digits[unit >> 4 & 0xf];
	out[5] = digits[unit & 0xf];
	return out + 6;
}

/*
 * Writes the characters from `at` on as long as they are not ASCII and begin
 * before stop; the first one is and does. Up to 6 bytes for each one read.
 */
template <text_mode mode>
char *write_json_beyond_ascii(char *out, const char *&at, const char *stop, const char *end)
{
	do {
		const std::size_t length = utf8_sequence(at, end);
		if constexpr (mode == text_mode::ascii) {
			const char32_t point = length == 0 ? U'\xfffd' : utf8_code_point(at, length);
			if (point < 0x10000) {
				out = write_json_unit(out, static_cast<unsigned>(point));
			} else {
				const unsigned upper = static_cast<unsigned>(point) - 0x10000;
				out = write_json_unit(out, 0xd800 + (upper >> 10));
				out = write_json_unit(out, 0xdc00 + (upper & 0x3ff));
			}
		} else if (length == 0) {
			constexpr char replacement[] = {'\xef', '\xbf', '\xbd'};
			std::memcpy(out, replacement, sizeof replacement);
			out += sizeof replacement;
		} else {
			std::memcpy(out, at, length);
			out += length;
		}
		at += length == 0 ? 1 : length;
	} while (at < stop && static_cast<unsigned char>(*at) >= 0x80);
	return out;
}

} // namespace cpp_output
