#include "text/utf8.h"

#include "text/simd.h"

namespace cpp_output
{

namespace
{

bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

bool is_between(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

// *at is not ASCII.
std::size_t long_sequence(const char *at, const char *end)
{
	const auto *byte = reinterpret_cast<const unsigned char *>(at);
	const std::ptrdiff_t room = end - at;
	const unsigned char lead = byte[0];

	if (lead < 0xe0) {
		// 0xc0 and 0xc1 would be overlong
		return lead >= 0xc2 && room >= 2 && is_continuation(byte[1]) ? 2 : 0;
	}
	if (lead < 0xf0) {
		if (room < 3)
			return 0;
		// neither overlong nor a surrogate
		const unsigned char low = lead == 0xe0 ? 0xa0 : 0x80;
		const unsigned char high = lead == 0xed ? 0x9f : 0xbf;
		return is_between(byte[1], low, high) && is_continuation(byte[2]) ? 3 : 0;
	}
	if (lead < 0xf5 && room >= 4) {
		// neither overlong nor beyond U+10FFFF
		const unsigned char low = lead == 0xf0 ? 0x90 : 0x80;
		const unsigned char high = lead == 0xf4 ? 0x8f : 0xbf;
		return is_between(byte[1], low, high) && is_continuation(byte[2]) &&
					   is_continuation(byte[3])
				   ? 4
				   : 0;
	}
	return 0;
}

} // namespace

std::size_t utf8_sequence(const char *at, const char *end)
{
	return static_cast<unsigned char>(*at) < 0x80 ? 1 : long_sequence(at, end);
}

char32_t utf8_code_point(const char *at, std::size_t length)
{
	const auto *byte = reinterpret_cast<const unsigned char *>(at);
	const auto tail = [byte](int i) { return char32_t{byte[i]} & 0x3f; };
	switch (length) {
	case 2:
		return (char32_t{byte[0]} & 0x1f) << 6 | tail(1);
	case 3:
		return (char32_t{byte[0]} & 0x0f) << 12 | tail(1) << 6 | tail(2);
	case 4:
		return (char32_t{byte[0]} & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
	default:
		return byte[0];
	}
}

bool is_utf8(std::string_view text)
{
	const char *at = text.data();
	const char *const end = at + text.size();
	while (at < end) {
		if (end - at >= static_cast<std::ptrdiff_t>(vector_block::size)) {
			const auto marks = vector_block::load(at).marks();
			if (marks == 0) {
				at += vector_block::size;
				continue;
			}
			at += vector_block::first(marks);
		}
		// a run of the same script, before blocks are worth it again
		do {
			const std::size_t length = utf8_sequence(at, end);
			if (length == 0)
				return false;
			at += length;
		} while (at < end && static_cast<unsigned char>(*at) >= 0x80);
	}
	return true;
}

bool is_text_utf8(std::string_view text)
{
	return text.find('\0') == std::string_view::npos && is_utf8(text);
}

} // namespace cpp_output
