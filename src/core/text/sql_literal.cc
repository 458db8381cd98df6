#include "text/sql_literal.h"

#include "text/scan_copy.h"

namespace cpp_output
{

namespace
{

struct literal_rule {
	static constexpr std::size_t expansion = 2;
	static constexpr bool bytewise = true;

	template <typename Block> static Block copied(Block block) { return block; }
	template <typename Block> static Block special(Block block) { return block.equal('\''); }

	static char *step(char *out, const char *&at, const char *, const char *)
	{
		const char c = *at++;
		out[0] = c;
		out[1] = c;
		return out + (c == '\'' ? 2 : 1);
	}
};

} // namespace

void append_sql_literal_body(byte_buffer &buffer, std::string_view text)
{
	append_scanned<literal_rule>(buffer, text, false);
}

} // namespace cpp_output
