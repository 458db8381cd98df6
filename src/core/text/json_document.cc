#include "text/json_document.h"

#include "text/json_escape.h"
#include "text/scan_copy.h"

namespace cpp_output
{

namespace
{

template <text_mode mode> struct document_rule {
	static constexpr std::size_t expansion = mode == text_mode::utf8 ? 1 : 6;
	static constexpr bool bytewise = mode == text_mode::utf8;

	template <typename Block> static Block copied(Block block) { return block.raised_to(' '); }

	template <typename Block> static Block special([[maybe_unused]] Block block)
	{
		if constexpr (mode == text_mode::utf8)
			return Block::none();
		else
			return block;
	}

	static char *step(char *out, const char *&at, const char *stop, const char *end)
	{
		const unsigned char c = static_cast<unsigned char>(*at);
		if constexpr (mode != text_mode::utf8) {
			if (c >= 0x80)
				return write_json_beyond_ascii<mode>(out, at, stop, end);
		}
		*out = static_cast<char>(c < ' ' ? ' ' : c);
		at++;
		return out + 1;
	}
};

} // namespace

void append_json_document(byte_buffer &buffer, std::string_view json_text, text_mode mode)
{
	switch (mode) {
	case text_mode::utf8:
		append_scanned<document_rule<text_mode::utf8>>(buffer, json_text, false);
		break;
	case text_mode::checked_utf8:
		append_scanned<document_rule<text_mode::checked_utf8>>(buffer, json_text, false);
		break;
	case text_mode::ascii:
		append_scanned<document_rule<text_mode::ascii>>(buffer, json_text, false);
		break;
	}
}

} // namespace cpp_output
