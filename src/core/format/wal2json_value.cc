#include "format/wal2json_value.h"

#include "error.h"
#include "format/server_text.h"
#include "text/hex.h"
#include "text/integer.h"
#include "text/numeric.h"

namespace cpp_output
{

namespace
{

constexpr CpoOid bool_oid = 16;
constexpr CpoOid bytea_oid = 17;

void append_hex(byte_buffer &out, std::string_view bytes)
{
	out.commit(write_hex(out.reserve(hex_size(bytes.size())), bytes.data(), bytes.size()));
}

bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

// What byteaout gave, as hex digits, whichever the setting of bytea_output.
void append_bytea_text(byte_buffer &out, std::string_view text)
{
	if (text.substr(0, 2) == "\\x") {
		out.append(text.substr(2));
		return;
	}
	// A byte is itself, "\\" a backslash, "\ooo" any other.
	for (std::size_t i = 0; i < text.size(); ++i) {
		char byte = text[i];
		if (byte == '\\' && i + 1 < text.size() && text[i + 1] == '\\') {
			++i;
		} else if (byte == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
				   is_octal(text[i + 2]) && is_octal(text[i + 3])) {
			byte = static_cast<char>(
				(text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 | (text[i + 3] - '0'));
			i += 3;
		}
		append_hex(out, {&byte, 1});
	}
}

void append_raw_string(byte_buffer &out, const wal2json_value_rule &rule, const CpoValue &value)
{
	switch (rule.kind) {
	case CPO_STRING:
		append_json_string(out, {value.data, value.len}, rule.mode);
		return;
	case CPO_BYTEA:
		out.append("\"\\\\x");
		append_hex(out, {value.data, value.len});
		out.push_back('"');
		return;
	case CPO_NUMERIC:
		out.push_back('"');
		append_numeric(out, value.data, value.len);
		out.push_back('"');
		return;
	default:
		break;
	}
	char *end = out.reserve(server_text_max + 2);
	*end++ = '"';
	end = write_server_text(end, rule.kind, value);
	*end++ = '"';
	out.commit(end);
}

bool text_is_special(std::string_view number)
{
	const std::size_t first = number.substr(0, 1) == "-" ? 1 : 0;
	return first < number.size() && (number[first] < '0' || number[first] > '9');
}

void append_number(byte_buffer &out, const wal2json_value_rule &rule, const CpoValue &value)
{
	const std::string_view bytes(value.data, value.form == CPO_RAW ? 0 : value.len);
	if (value.form != CPO_RAW)
		out.append(text_is_special(bytes) ? "null" : bytes);
	else if (rule.kind != CPO_NUMERIC)
		out.commit(write_integer(out.reserve(integer_max), value.integer));
	else if (numeric_is_special(value.data, value.len))
		out.append("null");
	else
		append_numeric(out, value.data, value.len);
}

void append_string(byte_buffer &out, const wal2json_value_rule &rule, const CpoValue &value)
{
	if (value.form == CPO_RAW)
		append_raw_string(out, rule, value);
	else
		append_json_string(out, {value.data, value.len}, rule.mode);
}

// Is it one identifier between quotes, with none inside?
bool is_quoted_identifier(std::string_view name)
{
	return name.size() > 2 && name.front() == '"' && name.find('"', 1) == name.size() - 1;
}

} // namespace

wal2json_value_rule wal2json_rule_for(
	CpoOid declared_type, CpoKind kind, bool numbers_as_string, text_mode mode) noexcept
{
	wal2json_style style = wal2json_style::string;
	if (is_number_type(declared_type))
		style = numbers_as_string ? wal2json_style::quoted_number : wal2json_style::number;
	else if (declared_type == bool_oid)
		style = wal2json_style::boolean;
	else if (declared_type == bytea_oid)
		style = wal2json_style::bytea;
	return {kind, style, mode};
}

void append_wal2json_value(byte_buffer &out, const wal2json_value_rule &rule, const CpoValue &value)
{
	if (value.form == CPO_NULL) {
		out.append("null");
		return;
	}
	switch (rule.style) {
	case wal2json_style::number:
		append_number(out, rule, value);
		return;
	case wal2json_style::boolean:
		out.append(
			(value.form == CPO_RAW ? value.integer != 0 : value.data[0] == 't') ? "true" : "false");
		return;
	case wal2json_style::bytea:
		out.push_back('"');
		if (value.form == CPO_RAW)
			append_hex(out, {value.data, value.len});
		else
			append_bytea_text(out, {value.data, value.len});
		out.push_back('"');
		return;
	case wal2json_style::quoted_number:
	case wal2json_style::string:
		append_string(out, rule, value);
		return;
	}
}

void append_wal2json_type(byte_buffer &out, std::string_view type_name, text_mode mode)
{
	if (is_quoted_identifier(type_name))
		type_name = type_name.substr(1, type_name.size() - 2);
	append_json_string(out, type_name, mode);
}

} // namespace cpp_output
