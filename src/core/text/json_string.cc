#include "text/json_string.h"

#include "text/json_escape.h"
#include "text/scan_copy.h"

#include <array>

namespace cpp_output
{

namespace
{

// What stands for one byte in a string; stored as a whole, whatever its length.
struct escape {
	char bytes[7];
	unsigned char length;
};
static_assert(sizeof(escape) == 8);

constexpr std::array<escape, 256> escapes = [] {
	std::array<escape, 256> table{};
	for (unsigned c = 0; c < 256; c++) {
		escape &e = table[c];
		if (c < 0x20) {
			const char hex[] = "0123456789abcdef";
			e = {{'\\', 'u', '0', '0', hex[c >> 4], hex[c & 0xf]}, 6};
		} else {
			e = {{static_cast<char>(c)}, 1};
		}
	}
	table['"'] = {{'\\', '"'}, 2};
	table['\\'] = {{'\\', '\\'}, 2};
	table['\b'] = {{'\\', 'b'}, 2};
	table['\f'] = {{'\\', 'f'}, 2};
	table['\n'] = {{'\\', 'n'}, 2};
	table['\r'] = {{'\\', 'r'}, 2};
	table['\t'] = {{'\\', 't'}, 2};
	return table;
}();

template <text_mode mode> struct string_rule {
	static constexpr std::size_t expansion = 6;
	static constexpr bool bytewise = mode == text_mode::utf8;

	template <typename Block> static Block copied(Block block) { return block; }

	template <typename Block> static Block special(Block block)
	{
		// Flipping 0x02 moves '"' next to the controls, and no control out of them.
		const Block marked = block.flipped(0x02).at_most(0x20) | block.equal('\\');
		if constexpr (mode == text_mode::utf8)
			return marked;
		else
			return marked | block;
	}

	static char *step(char *out, const char *&at, const char *stop, const char *end)
	{
		const unsigned char c = static_cast<unsigned char>(*at);
		if constexpr (mode != text_mode::utf8) {
			if (c >= 0x80)
				return write_json_beyond_ascii<mode>(out, at, stop, end);
		}
		const escape &e = escapes[c];
		std::memcpy(out, &e, sizeof e);
		at++;
		return out + e.length;
	}
};

void append(byte_buffer &buffer, std::string_view text, text_mode mode, bool quoted)
{
	switch (mode) {
	case text_mode::utf8:
		append_scanned<string_rule<text_mode::utf8>>(buffer, text, quoted);
		break;
	case text_mode::checked_utf8:
		append_scanned<string_rule<text_mode::checked_utf8>>(buffer, text, quoted);
		break;
	case text_mode::ascii:
		append_scanned<string_rule<text_mode::ascii>>(buffer, text, quoted);
		break;
	}
}

} // namespace

void append_json_string(byte_buffer &buffer, std::string_view text, text_mode mode)
{
	append(buffer, text, mode, true);
}

void append_json_escaped(byte_buffer &buffer, std::string_view text, text_mode mode)
{
	append(buffer, text, mode, false);
}

} // namespace cpp_output
