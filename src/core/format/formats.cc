// The table of formats: a new one is a line here and a file beside this one.
#include "format/format.h"
#include "format/json.h"
#include "format/test_decoding.h"
#include "format/wal2json.h"

namespace cpp_output
{

std::span<const format_entry> formats() noexcept
{
	static const format_entry table[] = {
		{"json", CPO_STREAMING_REORDER, json_options(), nullptr, make_json_format},
		{"test_decoding", CPO_STREAMING_OFF, test_decoding_options(), nullptr,
			make_test_decoding_format},
		{"wal2json", CPO_STREAMING_OFF, wal2json_options(), check_wal2json, make_wal2json_format},
	};
	return table;
}

void format::missing_identity(byte_buffer &text, const CpoRelation &relation) const
{
	append_identity_warning(text, "table \"", relation,
		"\" has no replica identity: its UPDATEs and DELETEs are sent without old rows");
}

void format::append_identity_warning(
	byte_buffer &text, std::string_view before, const CpoRelation &relation, std::string_view after)
{
	text.append(before);
	text.append(view(relation.info.schema));
	text.append(".");
	text.append(view(relation.info.name));
	text.append(after);
	text.push_back('\0');
	text.append("This warning comes once for a table in a session.");
	text.push_back('\0');
	text.append("Add a primary key, or use ALTER TABLE ... REPLICA IDENTITY.");
	text.push_back('\0');
}

} // namespace cpp_output
