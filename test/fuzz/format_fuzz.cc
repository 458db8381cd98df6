/*
 * Takes formats through relations, rows, messages and transactions of any kind.
 *
 * Oracles: each message of json and of wal2json's version 2 is one line of strict JSON; and a
 * transaction that is streamed in pieces, with subtransactions that roll back, through
 * streaming=reorder, is message by message what streaming=off sends of it.
 */
#include "core_driver.h"
#include "fuzz_input.h"
#include "strict_json.h"

#include <deque>
#include <iterator>
#include <memory>
#include <optional>

using namespace cpp_output;
using fuzz::input;

namespace
{

// --- relations ----------------------------------------------------------------

class table
{
public:
	table(input &in, CpoOid oid, bool trees) : trees_(trees)
	{
		const std::size_t ncolumns = in.below(6);
		const char identity = "dfin"[in.below(4)];
		for (std::size_t i = 0; i < ncolumns; ++i) {
			CpoColumn column{};
			column.name = keep(in.text(12) + static_cast<char>('a' + i));
			column.quoted_name = column.name;
			column.position = static_cast<int>(i) + 1;
			column.type = type(in, 0);
			column.type_oid = column.base_oid = column.type->oid;
			column.typmod = -1;
			column.type_name = column.typmod_name = column.catalog_name = keep(in.text(12));
			column.base_typmod_name = column.base_catalog_name = column.type_name;
			if (in.flip())
				column.default_expr = keep(in.text());
			column.not_null = in.flip();
			column.in_identity = (identity == 'd' || identity == 'i') && in.flip();
			column.in_primary_key = in.flip();
			column.generated_stored = in.below(8) == 1;
			column.generated_virtual = in.below(8) == 1;
			columns_.push_back(column);
		}
		info.oid = oid;
		info.schema = keep(in.text(12) + 's');
		info.name = keep(in.text(12) + 't');
		info.quoted_name = info.name;
		info.replica_identity = identity;
		info.ncolumns = columns_.size();
		info.columns = columns_.data();
		for (const CpoColumn &column : columns_)
			info.has_primary_key = info.has_primary_key || column.in_primary_key;
	}
	table(const table &) = delete;
	table &operator=(const table &) = delete;

	CpoRelationInfo info{};

private:
	CpoSpan keep(std::string text) { return driver::span(texts_.emplace_back(std::move(text))); }

	const CpoType *type(input &in, int depth)
	{
		constexpr CpoKind kinds[] = {CPO_OTHER, CPO_BOOL, CPO_INTEGER, CPO_BIGINT, CPO_OIDS,
			CPO_FLOAT, CPO_NUMERIC, CPO_STRING, CPO_CHAR, CPO_BYTEA, CPO_DATE, CPO_TIME,
			CPO_TIMESTAMP, CPO_TIMESTAMPTZ, CPO_UUID, CPO_JSON, CPO_BIT, CPO_ARRAY, CPO_COMPOSITE};
		constexpr CpoOid oids[] = {600, 16, 23, 20, 26, 701, 1700, 25, 18, 17, 1082, 1083, 1114,
			1184, 2950, 114, 1560, 1007, 16384};
		const std::uint32_t which = in.below(std::size(kinds) - (depth < 3 && trees_ ? 0 : 2));
		CpoType &made = types_.emplace_back();
		made = {
			oids[which], kinds[which], -1, 'i', in.below(8) == 7 ? ';' : ',', nullptr, 0, nullptr};
		switch (made.kind) {
		case CPO_BOOL:
		case CPO_CHAR:
			made.length = 1;
			made.align = 'c';
			break;
		case CPO_INTEGER:
		case CPO_OIDS:
		case CPO_DATE:
			made.length = 4;
			break;
		case CPO_BIGINT:
		case CPO_TIME:
		case CPO_TIMESTAMP:
		case CPO_TIMESTAMPTZ:
		case CPO_FLOAT:
			made.length = 8;
			made.align = 'd';
			break;
		case CPO_UUID:
			made.length = 16;
			made.align = 'c';
			break;
		case CPO_ARRAY:
			made.element = type(in, depth + 1);
			break;
		case CPO_COMPOSITE: {
			auto &fields = fields_.emplace_back();
			for (std::uint32_t n = in.below(4); n > 0; --n) {
				const CpoSpan name = keep(in.text(8) + static_cast<char>('a' + n));
				fields.push_back({name, type(in, depth + 1)});
			}
			made.nfields = fields.size();
			made.fields = fields.data();
			break;
		}
		default:
			break;
		}
		return &made;
	}

	bool trees_;
	std::deque<std::string> texts_;
	std::deque<CpoType> types_;
	std::deque<std::vector<CpoField>> fields_;
	std::vector<CpoColumn> columns_;
};

// --- rows -----------------------------------------------------------------------

// What the values of a transaction point to, until it ends.
struct arena {
	std::deque<std::string> texts;
	std::deque<std::vector<std::uint64_t>> words; // aligned as the server's memory is
};

class row_maker
{
public:
	row_maker(input &in, arena &kept, const CpoConfig &config, bool any_bytes)
		: in_(in), kept_(kept), config_(config), any_bytes_(any_bytes)
	{
	}

	std::vector<CpoValue> row(const CpoRelationInfo &info)
	{
		std::vector<CpoValue> values;
		for (std::size_t i = 0; i < info.ncolumns; ++i) {
			CpoValue value{};
			const std::uint32_t what = in_.below(10);
			if (info.columns[i].generated_virtual || what == 0)
				value.form = CPO_NULL;
			else if (what == 1)
				value.form = CPO_UNCHANGED;
			else
				value = value_of(*info.columns[i].type);
			values.push_back(value);
		}
		return values;
	}

private:
	CpoValue form(CpoForm form, std::string bytes)
	{
		const std::string &text = kept_.texts.emplace_back(std::move(bytes));
		CpoValue value{};
		value.data = text.data();
		value.len = static_cast<std::uint32_t>(text.size());
		value.form = form;
		return value;
	}
	static CpoValue number(std::int64_t integer)
	{
		CpoValue value{};
		value.integer = integer;
		value.form = CPO_RAW;
		return value;
	}

	std::string any_text() { return any_bytes_ ? in_.bytes() : in_.text(); }

	std::string number_text()
	{
		constexpr const char *texts[] = {"0", "-1", "NaN", "Infinity", "-Infinity", "1e+300",
			"-2.5e-07", "12345678901234567890.000", "0.1", "-0"};
		return texts[in_.below(std::size(texts))];
	}

	std::string time_text()
	{
		constexpr const char *texts[] = {"2026-11-29 18:11:02.5+00", "infinity", "-infinity",
			"0044-03-15 12:00:00+00 BC", "294276-12-31 23:59:59.999999", "2026-11-29 18:11:02"};
		return texts[in_.below(std::size(texts))];
	}

	std::string json_text()
	{
		constexpr const char *texts[] = {"null", "{\"a\": [1, 2.50, -3e5, {}]}", "[\n\t1,\r\n2 ]",
			"\"\\u00e9\\ud83e\\udd8a\"", "{\"\\n\":\"\\\"\"}", "0", "[]"};
		const std::uint32_t which = in_.below(std::size(texts) + 1);
		if (which < std::size(texts))
			return texts[which];
		std::string text = "[\"";
		for (const char c : any_bytes_ ? in_.bytes() : in_.text())
			if (static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\')
				text += c;
		return text + "\"]";
	}

	static std::int64_t within(std::uint64_t bits, std::int64_t least, std::int64_t most)
	{
		return least + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(most - least));
	}

	CpoValue raw(const CpoType &type)
	{
		const std::uint64_t bits = in_.bits();
		constexpr std::int64_t first_timestamp = -211813488000000000;
		constexpr std::int64_t last_timestamp = 9223371331200000000 - 1;
		switch (type.kind) {
		case CPO_BOOL:
			return number(static_cast<std::int64_t>(bits & 1));
		case CPO_INTEGER:
			return number(static_cast<std::int32_t>(bits));
		case CPO_BIGINT:
			return number(static_cast<std::int64_t>(bits));
		case CPO_OIDS:
			return number(static_cast<std::uint32_t>(bits));
		case CPO_DATE:
			return number(bits % 7 == 0 ? (bits & 8 ? INT32_MIN : INT32_MAX)
										: within(bits, -2451545, 2145031949));
		case CPO_TIME:
			return number(within(bits, 0, 86400000001));
		case CPO_TIMESTAMP:
		case CPO_TIMESTAMPTZ: {
			CpoValue value = number(
				bits % 7 == 0
					? (bits & 8 ? INT64_MIN : INT64_MAX)
					: first_timestamp + static_cast<std::int64_t>(bits % 9435184819200000000ULL));
			if (value.integer > last_timestamp && value.integer != INT64_MAX)
				value.integer = last_timestamp;
			if (type.kind == CPO_TIMESTAMPTZ && !config_.native_values)
				value.len = static_cast<std::uint32_t>(within(in_.bits(), -15 * 3600, 15 * 3600));
			return value;
		}
		case CPO_UUID: {
			std::string bytes = in_.bytes();
			bytes.resize(16);
			return form(CPO_RAW, bytes);
		}
		case CPO_NUMERIC:
			return form(CPO_RAW, numeric());
		case CPO_BYTEA:
			return form(CPO_RAW, in_.bytes());
		case CPO_STRING:
			return form(CPO_RAW, any_text());
		case CPO_ARRAY:
			if (config_.raw_arrays)
				return array(type);
			break;
		default:
			break;
		}
		return text(type);
	}

	// As the server stores it: no zero digits at either end, and no weight of zero itself.
	std::string numeric()
	{
		std::string bytes;
		const auto word = [&](unsigned n) {
			const auto value = static_cast<std::uint16_t>(n);
			bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
		};
		constexpr unsigned special[] = {0xc000, 0xd000, 0xf000};
		const std::uint32_t ndigits = in_.below(6);
		const std::uint32_t which = in_.below(12);
		if (which < std::size(special)) {
			word(special[which]);
			return bytes;
		}
		const unsigned scale = in_.below(64);
		if (in_.flip()) {
			word(0x8000 | (ndigits != 0 && in_.flip() ? 0x2000 : 0) | scale << 7 |
				 (ndigits != 0 ? in_.below(128) : 0));
		} else {
			word((ndigits != 0 && in_.flip() ? 0x4000 : 0) | scale << (in_.flip() ? 0 : 6));
			word(ndigits != 0 ? static_cast<unsigned>(in_.below(200)) - 100 : 0);
		}
		for (std::uint32_t i = 0; i < ndigits; ++i)
			word(1 + (in_.byte() | in_.byte() << 8) % 9999);
		return bytes;
	}

	// An array as it lies in the server's memory, or nearly so.
	CpoValue array(const CpoType &type)
	{
		const CpoType &element = *type.element;
		if (element.kind == CPO_ARRAY || element.kind == CPO_COMPOSITE ||
			element.kind == CPO_FLOAT || element.kind == CPO_JSON || element.kind == CPO_OTHER ||
			element.kind == CPO_BIT || element.kind == CPO_CHAR)
			return text(type);
		std::string bytes;
		const auto word = [&](std::uint32_t n) {
			bytes.append(reinterpret_cast<const char *>(&n), 4);
		};
		const std::uint32_t ndim = in_.below(4);
		std::uint32_t count = ndim == 0 ? 0 : 1;
		const bool nulls = in_.flip();
		word(0); // the length, below
		word(ndim);
		const std::size_t start_at = bytes.size();
		word(0); // where data starts, below
		word(element.oid);
		for (std::uint32_t d = 0; d < ndim; ++d) {
			const std::uint32_t dim = 1 + in_.below(3);
			count *= dim;
			word(dim);
		}
		for (std::uint32_t d = 0; d < ndim; ++d)
			word(1);
		std::uint64_t null_bits = 0;
		if (nulls) {
			for (std::uint32_t i = 0; i < (count + 7) / 8; ++i) {
				const std::uint8_t byte = in_.byte();
				null_bits |= std::uint64_t{byte} << (8 * i);
				bytes.push_back(static_cast<char>(byte));
			}
			bytes.resize((bytes.size() + 7) & ~std::size_t{7});
			const auto start = static_cast<std::uint32_t>(bytes.size());
			bytes.replace(start_at, 4, reinterpret_cast<const char *>(&start), 4);
		}
		for (std::uint32_t i = 0; i < count; ++i) {
			if (nulls && (null_bits >> i & 1) == 0)
				continue;
			append_element(bytes, element);
		}
		if (in_.below(16) == 15)
			bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), in_.below(9)));
		if (in_.below(16) == 15 && !bytes.empty())
			bytes[in_.byte() % bytes.size()] ^= static_cast<char>(in_.byte());
		bytes.resize(std::max<std::size_t>(bytes.size(), 4));
		const auto length = static_cast<std::uint32_t>(bytes.size()) << 2;
		bytes.replace(0, 4, reinterpret_cast<const char *>(&length), 4);

		auto &words = kept_.words.emplace_back((bytes.size() + 7) / 8);
		bytes.copy(reinterpret_cast<char *>(words.data()), bytes.size());
		CpoValue value{};
		value.data = reinterpret_cast<const char *>(words.data());
		value.len = static_cast<std::uint32_t>(bytes.size());
		value.form = CPO_RAW;
		return value;
	}

	void append_element(std::string &bytes, const CpoType &element)
	{
		const std::size_t alignment = element.align == 'd' ? 8 : element.align == 'i' ? 4 : 1;
		if (element.length > 0) {
			bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
			const CpoValue value = raw(element);
			if (element.kind == CPO_UUID)
				bytes.append(value.data, 16);
			else
				bytes.append(reinterpret_cast<const char *>(&value.integer),
					static_cast<std::size_t>(element.length));
			return;
		}
		const CpoValue value = raw(element);
		if (value.len < 126) {
			bytes.push_back(static_cast<char>((value.len + 1) << 1 | 1));
		} else {
			bytes.resize((bytes.size() + 3) & ~std::size_t{3});
			const std::uint32_t length = (value.len + 4) << 2;
			bytes.append(reinterpret_cast<const char *>(&length), 4);
		}
		bytes.append(value.data, value.len);
	}

	CpoValue text(const CpoType &type)
	{
		switch (type.kind) {
		case CPO_BOOL:
			return form(CPO_TEXT, in_.flip() ? "t" : "f");
		case CPO_INTEGER:
		case CPO_BIGINT:
		case CPO_OIDS:
			return form(CPO_TEXT, std::to_string(static_cast<std::int32_t>(in_.bits())));
		case CPO_FLOAT:
		case CPO_NUMERIC:
			return form(CPO_TEXT, number_text());
		case CPO_TIMESTAMP:
		case CPO_TIMESTAMPTZ:
			return form(CPO_TEXT, time_text());
		case CPO_JSON:
			return form(CPO_TEXT, json_text());
		case CPO_BIT:
			return form(CPO_TEXT, in_.flip() ? "0101" : "");
		case CPO_BYTEA:
			return form(CPO_TEXT, in_.flip() ? "\\x0a0b" : any_text());
		case CPO_CHAR:
			return form(CPO_TEXT, in_.text(1)); // charout() prints other bytes as octal
		case CPO_ARRAY:
			return form(CPO_TEXT, in_.flip() || !all_text(type) ? array_text(type, 0) : any_text());
		case CPO_COMPOSITE:
			return form(
				CPO_TEXT, in_.flip() || !all_text(type) ? record_text(type, 0) : any_text());
		default:
			return form(CPO_TEXT, any_text());
		}
	}

	// May each leaf be any text at all, as that of a type unknown to the core?
	static bool all_text(const CpoType &type)
	{
		if (type.kind == CPO_ARRAY)
			return all_text(*type.element);
		if (type.kind == CPO_COMPOSITE)
			return std::all_of(type.fields, type.fields + type.nfields,
				[](const CpoField &field) { return all_text(*field.type); });
		return type.kind == CPO_OTHER || type.kind == CPO_STRING;
	}

	std::string quoted(std::string_view text)
	{
		std::string result = "\"";
		for (const char c : text) {
			if (c == '"' || c == '\\')
				result += '\\';
			result += c;
		}
		return result + '"';
	}

	std::string item_text(const CpoType &type, int depth)
	{
		if (depth < 3 && type.kind == CPO_ARRAY)
			return array_text(type, depth + 1);
		if (depth < 3 && type.kind == CPO_COMPOSITE)
			return record_text(type, depth + 1);
		const CpoValue value = text(type);
		return {value.data, value.len};
	}

	std::string array_text(const CpoType &type, int depth)
	{
		std::string result = in_.below(8) == 7 ? "[0:1]={" : "{";
		for (std::uint32_t i = 0, n = in_.below(4); i < n; ++i) {
			if (i != 0)
				result += type.element->delimiter;
			result += in_.below(4) == 3 ? "NULL" : quoted(item_text(*type.element, depth));
		}
		return result + '}';
	}

	std::string record_text(const CpoType &type, int depth)
	{
		std::string result = "(";
		for (std::size_t i = 0; i < type.nfields; ++i) {
			if (i != 0)
				result += ',';
			if (in_.below(4) != 3)
				result += quoted(item_text(*type.fields[i].type, depth));
		}
		return result + ')';
	}

	CpoValue value_of(const CpoType &type) { return in_.flip() ? raw(type) : text(type); }

	input &in_;
	arena &kept_;
	const CpoConfig &config_;
	bool any_bytes_;
};

// --- events -----------------------------------------------------------------------

struct event {
	enum class kind { change, truncate, message } what = kind::change;
	CpoLsn lsn = 0;
	CpoXid subxid = 0;
	bool rolled_back = false;
	CpoAct act = CPO_INSERT;
	std::size_t relation = 0;
	std::optional<std::vector<CpoValue>> old_row;
	std::optional<std::vector<CpoValue>> new_row;
	std::string prefix;
	std::string content;
	bool flag = false;
};

struct session {
	explicit session(driver::memory_hooks &memory) : core(memory) {}

	// Formats need not know all that a server can do; arrays may be corrupt.
	bool done(CpoStatus status)
	{
		if (core.drain(status))
			return true;
		const std::string_view state(core.error.sqlstate);
		driver::require(state == "XX001" || state == "54000" ||
							(state == "XX000" &&
								std::string_view(core.error.message).find("unexpected event") !=
									std::string_view::npos),
			core.error.message);
		return false;
	}

	bool tell(const event &one, CpoXid xid)
	{
		const CpoPlace place{one.lsn, xid, one.subxid};
		switch (one.what) {
		case event::kind::change: {
			CpoChange change{};
			change.place = place;
			change.relation = relations[one.relation];
			change.act = one.act;
			change.old_row = one.old_row ? one.old_row->data() : nullptr;
			change.new_row = one.new_row ? one.new_row->data() : nullptr;
			return !cpo_relation_wants(change.relation, one.act) ||
				   done(cpo_change(core.session, &change));
		}
		case event::kind::truncate: {
			CpoTruncation truncation{};
			truncation.place = place;
			truncation.nrelations = 1;
			truncation.relations = &relations[one.relation];
			truncation.cascade = one.flag;
			truncation.restart_identity = !one.flag;
			return !cpo_relation_wants(relations[one.relation], CPO_TRUNCATE) ||
				   done(cpo_truncate(core.session, &truncation));
		}
		case event::kind::message: {
			CpoMessage message{};
			message.place = place;
			message.message_lsn = one.lsn;
			message.transactional = true;
			message.valid_text = one.flag;
			message.prefix = driver::span(one.prefix);
			message.content = driver::span(one.content);
			return done(cpo_message(core.session, &message));
		}
		}
		return false;
	}

	driver::core_driver core;
	std::vector<CpoRelation *> relations;
};

using options = std::vector<driver::core_driver::option>;

options random_options(input &in, bool &json_lines)
{
	const std::uint32_t format = in.below(4);
	json_lines = format == 0 || format == 3;
	options given = {{"format", format == 0 ? "json" : format == 1 ? "test_decoding" : "wal2json"}};
	if (format == 3)
		given.push_back({"format-version", "2"});
	constexpr const char *json[] = {"include-xids", "include-lsn", "include-timestamp",
		"include-origin", "include-relations", "include-transaction"};
	constexpr const char *test_decoding[] = {
		"include-xids", "include-timestamp", "skip-empty-xacts"};
	constexpr const char *wal2json[] = {"include-xids", "include-lsn", "include-timestamp",
		"include-origin", "include-types", "include-typmod", "include-type-oids",
		"include-domain-data-type", "include-column-positions", "include-not-null",
		"include-default", "include-pk", "numeric-data-types-as-string", "include-transaction"};
	const auto some = [&](auto &names) {
		for (const char *name : names)
			if (const std::uint32_t value = in.below(3); value != 0)
				given.push_back({name, value == 1 ? "on" : "off"});
	};
	if (format == 0) {
		some(json);
		constexpr const char *numbers[] = {"off", "wide", "all"};
		given.push_back({"numbers-as-string", numbers[in.below(3)]});
		given.push_back({"bytea", in.flip() ? "hex" : "base64"});
	} else if (format == 1) {
		some(test_decoding);
	} else {
		some(wal2json);
		if (format == 2 && in.flip())
			given.push_back({"pretty-print", "on"});
		if (format == 2 && in.flip())
			given.push_back({"write-in-chunks", "on"});
	}
	if (in.below(4) == 3)
		given.push_back({"exclude-columns", "*.*.*a"});
	return given;
}

void check_lines(const session &one, bool ascii)
{
	for (const driver::sent_message &message : one.core.messages) {
		driver::require(fuzz::strict_json::valid(message.bytes),
			("not JSON: " + message.bytes.substr(0, 4000)).c_str());
		for (const char c : message.bytes) {
			driver::require(c != '\n' && c != '\r', "each message is one line");
			driver::require(!ascii || static_cast<unsigned char>(c) < 0x80, "ASCII only");
		}
		driver::require(message.bytes.front() == '{', "each message is an object");
	}
}

std::vector<event> random_events(input &in, arena &kept, const CpoConfig &config, bool any_bytes,
	const std::deque<table> &tables, CpoXid xid, CpoLsn &lsn)
{
	std::vector<event> events;
	row_maker rows(in, kept, config, any_bytes);
	CpoXid subxid = xid;
	bool rolled_back = false;
	for (std::uint32_t n = in.below(24); n > 0 && in.more(); --n) {
		event one;
		one.lsn = lsn += 2 + in.below(3);
		if (in.below(6) == 5) {
			// the end of a subtransaction or the start of the next one
			subxid = subxid == xid ? xid + 1 + static_cast<CpoXid>(events.size()) : xid;
			rolled_back = subxid != xid && in.flip();
		}
		one.subxid = subxid;
		one.rolled_back = rolled_back;
		one.relation = in.below(static_cast<std::uint32_t>(tables.size()));
		const CpoRelationInfo &info = tables[one.relation].info;
		const std::uint32_t what = in.below(8);
		if (what == 6) {
			one.what = event::kind::truncate;
			one.flag = in.flip();
		} else if (what == 7) {
			one.what = event::kind::message;
			one.flag = in.flip();
			one.prefix = any_bytes ? in.bytes(8) : in.text(8);
			one.content = one.flag && !any_bytes ? in.text() : in.bytes();
		} else {
			one.act = static_cast<CpoAct>(what % 3);
			if (one.act != CPO_DELETE)
				one.new_row = rows.row(info);
			if (one.act != CPO_INSERT && in.flip())
				one.old_row = rows.row(info);
		}
		events.push_back(std::move(one));
	}
	return events;
}

CpoTransaction facts_of(CpoXid xid, CpoLsn first, CpoLsn last, const std::string &text, bool origin)
{
	CpoTransaction facts{};
	facts.xid = xid;
	facts.first_lsn = first;
	facts.final_lsn = last;
	facts.end_lsn = last + 1;
	facts.commit_time = 800000000000000;
	facts.gid = driver::span(text);
	facts.origin_id = origin ? 1 : 0;
	facts.origin_name = driver::span(text);
	return facts;
}

using transaction_call = CpoStatus (*)(CpoSession *, const CpoPlace *, const CpoTransaction *);

bool whole(session &one, const std::vector<event> &events, CpoXid xid, const CpoTransaction &facts,
	bool prepared)
{
	const CpoPlace begin{facts.first_lsn, xid, xid};
	const CpoPlace end{facts.end_lsn, xid, xid};
	const transaction_call open = prepared ? cpo_begin_prepare : cpo_begin;
	if (!one.done(open(one.core.session, &begin, &facts)))
		return false;
	for (const event &e : events)
		if (!e.rolled_back && !one.tell(e, xid))
			return false;
	const transaction_call close = prepared ? cpo_prepare : cpo_commit;
	return one.done(close(one.core.session, &end, &facts));
}

// In blocks; a rolled back subtransaction is taken back where it ends.
bool in_blocks(session &one, const std::vector<event> &events, CpoXid xid,
	const CpoTransaction &facts, bool prepared, input &in)
{
	CpoTransaction early = facts;
	early.commit_time = 0;
	early.final_lsn = early.end_lsn = 0;
	bool open = false;
	const auto toggle = [&](CpoLsn lsn) {
		const CpoPlace place{lsn, xid, xid};
		open = !open;
		return open ? one.done(cpo_stream_start(one.core.session, &place, &early))
					: one.done(cpo_stream_stop(one.core.session, &place));
	};
	for (std::size_t i = 0; i < events.size(); ++i) {
		if (!open && !toggle(events[i].lsn))
			return false;
		if (!one.tell(events[i], xid))
			return false;
		const bool sub_ends = events[i].subxid != xid &&
							  (i + 1 == events.size() || events[i + 1].subxid != events[i].subxid);
		const bool take_back = sub_ends && events[i].rolled_back;
		if ((take_back || in.below(4) == 3) && !toggle(events[i].lsn))
			return false;
		if (take_back) {
			std::size_t first = i;
			while (first > 0 && events[first - 1].subxid == events[i].subxid)
				--first;
			// a message's LSN is the end of its record
			const CpoLsn from =
				events[first].lsn - (events[first].what == event::kind::message ? 1 : 0);
			const CpoPlace place{events[i].lsn + 1, xid, xid};
			if (!one.done(cpo_stream_abort(one.core.session, &place, xid, events[i].subxid, from)))
				return false;
		}
	}
	if (events.empty() && (!toggle(facts.first_lsn)))
		return false;
	if (open && !toggle(facts.final_lsn))
		return false;
	const CpoPlace end{facts.end_lsn, xid, xid};
	const transaction_call close = prepared ? cpo_stream_prepare : cpo_stream_commit;
	return one.done(close(one.core.session, &end, &facts));
}

void run(input &in, driver::memory_hooks &memory)
{
	CpoServer server{};
	server.version_num = in.flip() ? 150020 : 180006;
	server.plugin_name = driver::span("cpp_output");
	server.ascii_only = in.below(4) == 3;
	server.unchecked_text = server.ascii_only && in.flip();
	bool json_lines = false;
	options given = random_options(in, json_lines);
	session off(memory);
	session reorder(memory);
	options more = given;
	more.push_back({"reorder-work-mem", "64kB"});
	more.push_back({"streaming", "reorder"});
	given.push_back({"streaming", "off"});
	if (!off.core.open(server, given) || !reorder.core.open(server, more)) {
		driver::require(std::string_view(off.core.error.sqlstate) == "22023" ||
							std::string_view(reorder.core.error.sqlstate) == "22023",
			"options are refused as such");
		return;
	}
	const CpoConfig &config = *cpo_config(off.core.session);
	// text in another encoding than UTF-8, where the format does not ask for UTF-8
	const bool any_bytes = server.unchecked_text;
	json_lines = json_lines && (config.utf8_text || !server.ascii_only);

	std::deque<table> tables;
	arena kept;
	CpoXid xid = 1000;
	CpoLsn lsn = 0x1000000;
	while (in.more()) {
		if (tables.empty() || in.below(4) == 3) {
			// anew, now and then, as after an ALTER TABLE
			const bool again = !tables.empty() && in.flip();
			const CpoOid oid =
				again ? tables.back().info.oid : static_cast<CpoOid>(16384 + tables.size());
			if (again)
				tables.pop_back();
			tables.emplace_back(in, oid, (config.wants & CPO_WANT_TYPE_TREES) != 0);
			for (session *one : {&off, &reorder}) {
				CpoRelation *relation = nullptr;
				if (!one->done(
						cpo_relation_define(one->core.session, &tables.back().info, &relation)))
					return;
				one->relations.resize(tables.size());
				one->relations.back() = relation;
			}
		}
		const CpoLsn first = ++lsn;
		xid += 100;
		const std::vector<event> events =
			random_events(in, kept, config, any_bytes, tables, xid, lsn);
		const bool prepared = in.below(4) == 3;
		const std::string name = any_bytes ? in.bytes(8) : in.text(8);
		lsn += 2;
		const CpoTransaction facts = facts_of(xid, first, lsn, name, in.flip());
		if (!whole(off, events, xid, facts, prepared) ||
			!in_blocks(reorder, events, xid, facts, prepared, in))
			return;
		driver::require(off.core.messages == reorder.core.messages, "reorder is as off");
		if (json_lines) {
			check_lines(off, server.ascii_only);
		}
		off.core.messages.clear();
		reorder.core.messages.clear();
		++lsn;
	}
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t len)
{
	input in(data, len);
	driver::memory_hooks memory;
	run(in, memory);
	driver::require(memory.in_use == 0 && !memory.mismatch, "memory leaked");
	return 0;
}
