// Values and names as wal2json writes them.
#pragma once

#include "core.h"
#include "text/buffer.h"
#include "text/json_string.h"

namespace cpp_output
{

/*
 * The form of a column's values follows the declared type: what is a domain over a number is a
 * string.
 */
enum class wal2json_style : std::uint8_t {
	string,		   // whatever the text, between quotes
	number,		   // null for NaN and the infinities
	quoted_number, // numeric-data-types-as-string
	boolean,
	bytea // hex digits between quotes
};

struct wal2json_value_rule {
	CpoKind kind;
	wal2json_style style;
	text_mode mode;
};

wal2json_value_rule wal2json_rule_for(
	CpoOid declared_type, CpoKind kind, bool numbers_as_string, text_mode mode) noexcept;

// Any value but an unchanged one.
void append_wal2json_value(
	byte_buffer &out, const wal2json_value_rule &rule, const CpoValue &value);

/*
 * A type's name as format_type() gives it, as a JSON string. A name that is one quoted identifier
 * goes without SQL's quotes, unless there are quotes inside: "My Type" of SQL is "My Type" of JSON.
 */
void append_wal2json_type(byte_buffer &out, std::string_view type_name, text_mode mode);

} // namespace cpp_output
