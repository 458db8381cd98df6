#include "format/json_value.h"

#include "error.h"
#include "text/array_binary.h"
#include "text/array_text.h"
#include "text/base64.h"
#include "text/datetime.h"
#include "text/hex.h"
#include "text/integer.h"
#include "text/json_document.h"
#include "text/numeric.h"
#include "text/uuid.h"

#include <cstring>

namespace cpp_output
{

namespace
{

constexpr std::string_view hex_prefix = "\\x";

int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The bytes of "\x0a1b" in `out`; false if it is not of that form.
bool unhex(byte_buffer &out, std::string_view text)
{
	if (text.substr(0, 2) != hex_prefix || text.size() % 2 != 0)
		return false;
	char *end = out.reserve(text.size() / 2);
	for (std::size_t i = 2; i < text.size(); i += 2) {
		const int high = hex_digit(text[i]);
		const int low = hex_digit(text[i + 1]);
		if (high < 0 || low < 0)
			return false;
		*end++ = static_cast<char>(high << 4 | low);
	}
	out.commit(end);
	return true;
}

template <typename T> T load(const char *data)
{
	T value;
	std::memcpy(&value, data, sizeof(value));
	return value;
}

// A fixed-width element of an array in the form of CPO_RAW.
std::int64_t load_integer(const CpoType &type, const char *data)
{
	switch (type.length) {
	case 1:
		return *data;
	case 2:
		return load<std::int16_t>(data);
	case 4:
		return type.kind == CPO_OIDS ? std::int64_t{load<std::uint32_t>(data)}
									 : std::int64_t{load<std::int32_t>(data)};
	default:
		return load<std::int64_t>(data);
	}
}

// Opens, closes and separates the parts of nested arrays.
class array_frame
{
public:
	explicit array_frame(byte_buffer &out) noexcept : out_(out) {}

	void open()
	{
		separate();
		out_.push_back('[');
		first_ = true;
	}
	void close()
	{
		out_.push_back(']');
		first_ = false;
	}
	void separate()
	{
		if (!first_)
			out_.push_back(',');
		first_ = false;
	}

private:
	byte_buffer &out_;
	bool first_ = true;
};

} // namespace

bool json_value_writer::as_string(CpoKind kind) const noexcept
{
	switch (settings_.numbers) {
	case numbers_as_string::off:
		return false;
	case numbers_as_string::wide:
		return kind == CPO_BIGINT || kind == CPO_NUMERIC;
	default:
		return true;
	}
}

void json_value_writer::append(byte_buffer &out, const CpoType &type, const CpoValue &value) const
{
	if (value.form == CPO_NULL)
		out.append("null");
	else if (value.form == CPO_RAW)
		append_raw(out, type, value);
	else
		append_text(out, type, {value.data, value.len});
}

void json_value_writer::append_raw(
	byte_buffer &out, const CpoType &type, const CpoValue &value) const
{
	switch (type.kind) {
	case CPO_BOOL:
		out.append(value.integer != 0 ? "true" : "false");
		return;
	case CPO_INTEGER:
	case CPO_BIGINT:
	case CPO_OIDS: {
		const bool quoted = as_string(type.kind);
		char *end = out.reserve(integer_max + 2);
		if (quoted)
			*end++ = '"';
		end = write_integer(end, value.integer);
		if (quoted)
			*end++ = '"';
		out.commit(end);
		return;
	}
	case CPO_STRING:
		append_string(out, {value.data, value.len});
		return;
	case CPO_BYTEA:
		append_bytea(out, {value.data, value.len});
		return;
	case CPO_NUMERIC: {
		const bool quoted = as_string(CPO_NUMERIC) || numeric_is_special(value.data, value.len);
		if (quoted)
			out.push_back('"');
		append_numeric(out, value.data, value.len);
		if (quoted)
			out.push_back('"');
		return;
	}
	case CPO_ARRAY: {
		const std::size_t start = out.size();
		if (!append_array(out, *type.element, value)) {
			out.truncate(start);
			throw core_error(sqlstate::data_corrupted, "an array cannot be read");
		}
		return;
	}
	default:
		break;
	}
	char *end = out.reserve(datetime_max + 2);
	*end++ = '"';
	switch (type.kind) {
	case CPO_DATE:
		end = write_date(end, value.integer);
		break;
	case CPO_TIME:
		end = write_time(end, value.integer);
		break;
	case CPO_TIMESTAMP:
		end = write_timestamp(end, value.integer, 'T');
		break;
	case CPO_TIMESTAMPTZ:
		end = write_timestamp_utc(end, value.integer);
		break;
	case CPO_UUID:
		end = write_uuid(end, value.data);
		break;
	default:
		throw core_error(sqlstate::internal_error, "unexpected raw value of kind %d", type.kind);
	}
	*end++ = '"';
	out.commit(end);
}

void json_value_writer::append_text(
	byte_buffer &out, const CpoType &type, std::string_view text) const
{
	const std::size_t start = out.size();
	switch (type.kind) {
	case CPO_BOOL:
		out.append(text == "t" ? "true" : "false");
		return;
	case CPO_INTEGER:
	case CPO_BIGINT:
	case CPO_OIDS:
	case CPO_FLOAT:
	case CPO_NUMERIC:
		append_number(out, type.kind, text);
		return;
	case CPO_JSON:
		append_json_document(out, text, mode_);
		return;
	case CPO_BYTEA:
		append_bytea_text(out, text);
		return;
	case CPO_TIMESTAMP:
	case CPO_TIMESTAMPTZ:
		append_time_text(out, type.kind, text);
		return;
	case CPO_CHAR:
		append_json_string(out, text, mode_ == text_mode::utf8 ? text_mode::checked_utf8 : mode_);
		return;
	case CPO_ARRAY:
		if (append_array_text(out, *type.element, text))
			return;
		out.truncate(start);
		break;
	case CPO_COMPOSITE:
		if (append_record_text(out, type, text))
			return;
		out.truncate(start);
		break;
	default:
		break;
	}
	append_string(out, text);
}

// Numbers of the server are numbers of JSON, but for NaN and the infinities.
void json_value_writer::append_number(byte_buffer &out, CpoKind kind, std::string_view text) const
{
	const char last = text.empty() ? 'N' : text.back();
	const bool quoted = as_string(kind) || last < '0' || last > '9';
	if (quoted)
		out.push_back('"');
	out.append(text);
	if (quoted)
		out.push_back('"');
}

void json_value_writer::append_base64(byte_buffer &out, std::string_view bytes) const
{
	out.push_back('"');
	out.commit(write_base64(out.reserve(base64_size(bytes.size())), bytes.data(), bytes.size()));
	out.push_back('"');
}

void json_value_writer::append_bytea(byte_buffer &out, std::string_view bytes) const
{
	if (settings_.bytea == bytea_style::base64) {
		append_base64(out, bytes);
		return;
	}
	out.push_back('"');
	out.commit(write_hex(out.reserve(2 * bytes.size()), bytes.data(), bytes.size()));
	out.push_back('"');
}

void json_value_writer::append_bytea_text(byte_buffer &out, std::string_view text) const
{
	byte_buffer bytes(memory_);
	if (unhex(bytes, text))
		append_bytea(out, bytes.view());
	else
		append_string(out, text);
}

// "2026-11-29 18:11:02+00" (the shell has the server print in UTC) to "2026-11-29T18:11:02Z".
void json_value_writer::append_time_text(
	byte_buffer &out, CpoKind kind, std::string_view text) const
{
	constexpr std::string_view utc = "+00";
	constexpr std::string_view bc = " BC";
	const bool before_christ = text.size() > bc.size() && text.ends_with(bc);
	if (before_christ)
		text.remove_suffix(bc.size());
	const bool zoned = kind == CPO_TIMESTAMPTZ && text.ends_with(utc);
	if (zoned)
		text.remove_suffix(utc.size());
	const std::size_t space = text.find(' ');
	out.push_back('"');
	out.append(text.substr(0, space));
	if (space != std::string_view::npos) {
		out.push_back('T');
		out.append(text.substr(space + 1));
	}
	if (zoned)
		out.push_back('Z');
	if (before_christ)
		out.append(bc);
	out.push_back('"');
}

bool json_value_writer::append_array(
	byte_buffer &out, const CpoType &element, const CpoValue &value) const
{
	array_binary_reader array(value.data, value.len, element.length, element.align);
	if (array.malformed())
		return false;
	if (array.count() == 0) {
		out.append("[]");
		return true;
	}
	array_frame frame(out);
	const int ndim = array.ndim();
	// How many elements of each dimension are still to come.
	std::int32_t left[array_binary_reader::max_dimensions];
	int depth = 0;
	for (;;) {
		for (; depth < ndim; ++depth) {
			frame.open();
			left[depth] = array.dims()[depth];
		}
		std::string_view bytes;
		const array_item item = array.next(bytes);
		if (item != array_item::value && item != array_item::null)
			return false;
		frame.separate();
		CpoValue one{};
		if (item == array_item::value) {
			one.form = CPO_RAW;
			one.len = static_cast<std::uint32_t>(bytes.size());
			if (element.length > 0 && element.kind != CPO_UUID)
				one.integer = load_integer(element, bytes.data());
			else
				one.data = bytes.data();
		}
		append(out, element, one);
		while (depth > 0 && --left[depth - 1] == 0) {
			frame.close();
			--depth;
		}
		if (depth == 0)
			return true;
	}
}

bool json_value_writer::append_array_text(
	byte_buffer &out, const CpoType &element, std::string_view text) const
{
	array_text_reader reader(text, element.delimiter);
	byte_buffer scratch(memory_);
	array_frame frame(out);
	for (;;) {
		std::string_view item;
		switch (reader.next(item, scratch)) {
		case text_event::open:
			frame.open();
			break;
		case text_event::close:
			frame.close();
			break;
		case text_event::null:
			frame.separate();
			out.append("null");
			break;
		case text_event::element:
			frame.separate();
			append_text(out, element, item);
			break;
		case text_event::end:
			return true;
		case text_event::malformed:
			return false;
		}
	}
}

bool json_value_writer::append_record_text(
	byte_buffer &out, const CpoType &type, std::string_view text) const
{
	record_text_reader reader(text);
	byte_buffer scratch(memory_);
	std::size_t index = 0;
	std::string_view item;
	for (text_event event = reader.next(item, scratch); event != text_event::end;
		 event = reader.next(item, scratch)) {
		if (event == text_event::malformed)
			return false;
		if (event == text_event::open) {
			out.push_back('{');
			continue;
		}
		if (event == text_event::close) {
			out.push_back('}');
			continue;
		}
		// A type without columns has the text of a single null.
		if (type.nfields == 0 && event == text_event::null && index++ == 0)
			continue;
		if (index == type.nfields)
			return false;
		const CpoField &field = type.fields[index++];
		if (index != 1)
			out.push_back(',');
		append_string(out, {field.name.data, field.name.len});
		out.push_back(':');
		if (event == text_event::null)
			out.append("null");
		else
			append_text(out, *field.type, item);
	}
	return type.nfields == 0 || index == type.nfields;
}

} // namespace cpp_output
