#include "options.h"

#include "error.h"
#include "format/format.h"
#include "text/utf8.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <numeric>

namespace cpp_output
{

namespace
{

constexpr std::size_t shown_bytes = 200;

constexpr const char *streaming_values = "off, on, reorder";
constexpr const char *compression_values = "off, lz4, zstd";
constexpr const char *two_phase_values = "on, off";
constexpr const char *origin_values = "any, none";

constexpr choice<CpoStreaming> streaming_choices[] = {
	{"off", CPO_STREAMING_OFF}, {"on", CPO_STREAMING_ON}, {"reorder", CPO_STREAMING_REORDER}};

bool equal_ignoring_case(std::string_view a, std::string_view b)
{
	return std::equal(a.begin(), a.end(), b.begin(), b.end(),
		[](char x, char y) { return (x >= 'A' && x <= 'Z' ? x - 'A' + 'a' : x) == y; });
}

// A number with a unit, as the server's settings for memory have it.
std::size_t size_value(const option_value &value, std::size_t least)
{
	constexpr choice<unsigned> units[] = {{"kB", 10}, {"MB", 20}, {"GB", 30}, {"TB", 40}};
	constexpr const char *allowed = "a size from 64kB to 1024TB, such as 64MB";
	std::uint64_t number = 0;
	const char *begin = value.text.data();
	const char *end = begin + value.text.size();
	const auto [rest, error] = std::from_chars(begin, end, number);
	if (!value.given || error != std::errc())
		bad_value(value, allowed);
	std::string_view unit(rest, static_cast<std::size_t>(end - rest));
	while (!unit.empty() && unit.front() == ' ')
		unit.remove_prefix(1);
	for (const auto &[name, shift] : units)
		if (unit == name && number <= (std::uint64_t{1} << (50 - shift)) &&
			(number << shift) >= least)
			return static_cast<std::size_t>(number << shift);
	bad_value(value, allowed);
}

unsigned acts_value(const option_value &value)
{
	constexpr const char *allowed = "a list of insert, update, delete, truncate";
	unsigned acts = 0;
	std::string_view rest = value.text;
	for (bool more = true; more;) {
		const std::size_t comma = rest.find(',');
		std::string_view item = rest.substr(0, comma);
		more = comma != std::string_view::npos;
		rest.remove_prefix(more ? comma + 1 : rest.size());
		while (!item.empty() && item.front() == ' ')
			item.remove_prefix(1);
		while (!item.empty() && item.back() == ' ')
			item.remove_suffix(1);
		const auto *found = std::find_if(std::begin(act_choices), std::end(act_choices),
			[&](const auto &c) { return equal_ignoring_case(item, c.name); });
		if (found == std::end(act_choices))
			bad_value(value, allowed);
		acts |= act_bit(found->value);
	}
	return acts;
}

compression compression_value(const option_value &value)
{
	constexpr choice<compression> choices[] = {
		{"off", compression::off}, {"lz4", compression::lz4}, {"zstd", compression::zstd}};
	const compression result = choice_value(value, choices, compression_values);
	if (!compression_available(result))
		throw core_error(sqlstate::invalid_parameter_value,
			"option \"%s\": this build of cpp_output has no %.*s", value.name,
			static_cast<int>(value.text.size()), value.text.data())
			.hint("Use another value, or build cpp_output where the library's headers are "
				  "installed.");
	return result;
}

constexpr const char *default_compression()
{
#ifdef CPO_WITH_LZ4
	return "lz4";
#else
	return "off";
#endif
}

constexpr option options[] = {
	{"format", "name", "json", "json, test_decoding, wal2json", "The wire format.",
		[](settings &, const option_value &) { /* read first, see read_options() */ }},
	{"streaming", "name", "reorder in json, off elsewhere", streaming_values,
		"Whether transactions in progress are held back until COMMIT by the server (off), sent in "
		"pieces (on), or formatted while they run and sent at COMMIT (reorder).",
		[](settings &s, const option_value &v) {
			s.streaming = choice_value(v, streaming_choices, streaming_values);
		}},
	{"reorder-work-mem", "size", "64MB", "64kB to 1024TB",
		"Memory for transactions in progress under streaming=reorder; beyond it the largest goes "
		"to a temporary file.",
		[](settings &s, const option_value &v) {
			s.reorder_work_mem = size_value(v, std::size_t{64} << 10);
		}},
	{"spill-compression", "name", default_compression(), compression_values,
		"Compression of those temporary files.",
		[](settings &s, const option_value &v) { s.spill_compression = compression_value(v); }},
	{"tables", "list", nullptr, "schema.table, globs * and ?, SQL-quoted names",
		"Only these tables.",
		[](settings &s, const option_value &v) { s.tables.parse(v.text, 2, true, v.name); }},
	{"exclude-tables", "list", nullptr, "schema.table, globs * and ?, SQL-quoted names",
		"Not these tables; wins over tables.",
		[](settings &s, const option_value &v) {
			s.exclude_tables.parse(v.text, 2, true, v.name);
		}},
	{"exclude-columns", "list", nullptr, "schema.table.column, globs * and ?, SQL-quoted names",
		"Columns that are never printed, in old and new rows alike.",
		[](settings &s, const option_value &v) {
			s.exclude_columns.parse(v.text, 3, true, v.name);
		}},
	{"actions", "list", "insert,update,delete,truncate", "insert, update, delete, truncate",
		"Only these kinds of change.",
		[](settings &s, const option_value &v) { s.acts = acts_value(v); }},
	{"origin", "name", "any", origin_values,
		"none: only changes that were made here, not replicated from elsewhere.",
		[](settings &s, const option_value &v) {
			constexpr choice<bool> choices[] = {{"any", false}, {"none", true}};
			s.skip_origins = choice_value(v, choices, origin_values);
		}},
	{"exclude-origins", "list", nullptr, "names of replication origins, globs * and ?",
		"No transactions that were replicated from these origins.",
		[](settings &s, const option_value &v) {
			s.exclude_origins.parse(v.text, 1, false, v.name);
		}},
	{"messages", "boolean", "on", "on, off", "Logical messages (pg_logical_emit_message).",
		[](settings &s, const option_value &v) { s.messages = boolean_value(v); }},
	{"message-prefixes", "list", nullptr, "prefixes, globs * and ?",
		"Only messages with these prefixes.",
		[](settings &s, const option_value &v) {
			s.message_prefixes.parse(v.text, 1, false, v.name);
		}},
	{"two-phase", "boolean", "as the slot was created", two_phase_values,
		"Prepared transactions are sent at PREPARE (on) or at COMMIT PREPARED (off).",
		[](settings &s, const option_value &v) {
			s.two_phase = boolean_value(v) ? CPO_TWO_PHASE_ON : CPO_TWO_PHASE_OFF;
		}},
};

// Is the option's name, in either spelling, what the table has?
bool same_name(std::string_view given, std::string_view name)
{
	return std::equal(given.begin(), given.end(), name.begin(), name.end(),
		[](char g, char n) { return (g == '_' ? '-' : g) == n; });
}

const option *find(std::span<const option> table, std::string_view name)
{
	const auto found = std::find_if(
		table.begin(), table.end(), [&](const option &o) { return same_name(name, o.name); });
	return found == table.end() ? nullptr : &*found;
}

// Levenshtein distance; names longer than any option are at a distance that nobody asks for.
std::size_t distance(std::string_view a, std::string_view b)
{
	constexpr std::size_t longest = 64;
	if (a.size() >= longest || b.size() >= longest)
		return longest;
	std::array<std::size_t, longest> row{};
	std::iota(row.begin(), row.end(), std::size_t{0});
	for (std::size_t i = 0; i < a.size(); ++i) {
		std::size_t diagonal = row[0];
		row[0] = i + 1;
		for (std::size_t j = 0; j < b.size(); ++j) {
			const bool same = (a[i] == '_' ? '-' : a[i]) == b[j];
			const std::size_t replaced = diagonal + (same ? 0 : 1);
			diagonal = row[j + 1];
			row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
		}
	}
	return row[b.size()];
}

const char *nearest(const format_entry &format, std::string_view name)
{
	const char *best = nullptr;
	std::size_t best_distance = 4; // further away is another word
	for (std::span<const option> table : {format.options, common_options()})
		for (const option &o : table)
			if (const std::size_t d = distance(name, o.name); d < best_distance) {
				best = o.name;
				best_distance = d;
			}
	return best;
}

[[noreturn]] void unknown_option(const format_entry &format, const CpoOption &given)
{
	const std::string_view name = shown(view(given.name));
	const std::string_view value = given.value.data ? shown(view(given.value)) : "(null)";
	core_error error(sqlstate::invalid_parameter_value, "option \"%.*s\" = \"%.*s\" is unknown",
		static_cast<int>(name.size()), name.data(), static_cast<int>(value.size()), value.data());
	char owners[200] = "";
	unsigned nowners = 0;
	for (const format_entry &other : formats())
		if (find(other.options, view(given.name)) != nullptr) {
			const std::size_t used = std::strlen(owners);
			std::snprintf(owners + used, sizeof(owners) - used, "%s%s",
				nowners++ == 0 ? "" : " and ", other.name);
		}
	if (nowners != 0)
		error.detail(nowners == 1 ? "Format %s has this option, format %s does not."
								  : "Formats %s have this option, format %s does not.",
			owners, format.name);
	if (const char *best = nearest(format, view(given.name)))
		error.hint("Perhaps you meant the option \"%s\".", best);
	else
		error.hint("SELECT * FROM cpp_output_options() lists all options.");
	throw error;
}

const format_entry *find_format(std::string_view name)
{
	const auto all = formats();
	const auto found =
		std::find_if(all.begin(), all.end(), [&](const format_entry &f) { return name == f.name; });
	return found == all.end() ? nullptr : &*found;
}

// The slot's plugin name selects a format where it is one (a drop-in); the option wins.
const format_entry &choose_format(const CpoServer &server, std::span<const CpoOption> given)
{
	const format_entry *format = find_format(view(server.plugin_name));
	if (format == nullptr)
		format = &formats().front();
	for (const CpoOption &o : given) {
		if (!same_name(view(o.name), "format"))
			continue;
		format = find_format(view(o.value));
		if (format == nullptr)
			bad_value({"format", view(o.value), o.value.data != nullptr}, options[0].allowed);
	}
	return *format;
}

} // namespace

std::span<const option> common_options() noexcept
{
	return options;
}

std::string_view shown(std::string_view text) noexcept
{
	if (text.size() <= shown_bytes)
		return text;
	// A character of UTF-8 has up to three bytes behind its first one.
	for (std::size_t length = shown_bytes; length > shown_bytes - 4; --length)
		if (is_utf8(text.substr(0, length)))
			return text.substr(0, length);
	// In every encoding of a server the bytes of a longer character are 0x80 or more.
	text = text.substr(0, shown_bytes);
	while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80U) != 0)
		text.remove_suffix(1);
	return text;
}

bool parse_boolean(std::string_view text, bool &result) noexcept
{
	constexpr choice<bool> words[] = {
		{"true", true}, {"false", false}, {"yes", true}, {"no", false}};
	for (const choice<bool> &word : words)
		if (!text.empty() && text.size() <= word.name.size() &&
			equal_ignoring_case(text, word.name.substr(0, text.size()))) {
			result = word.value;
			return true;
		}
	if (equal_ignoring_case(text, "on") || text == "1")
		result = true;
	else if (equal_ignoring_case(text, "off") || equal_ignoring_case(text, "of") || text == "0")
		result = false;
	else
		return false;
	return true;
}

bool boolean_value(const option_value &value)
{
	bool result = true;
	if (value.given && !parse_boolean(value.text, result))
		bad_value(value, "on, off");
	return result;
}

void cannot_parse(
	const char *sqlstate, const option_value &value, std::string_view part, const char *allowed)
{
	const std::string_view text = shown(part);
	throw core_error(sqlstate, "could not parse value \"%.*s\" for parameter \"%s\"",
		static_cast<int>(text.size()), text.data(), value.name)
		.hint("Allowed: %s.", allowed);
}

void peer_boolean(const option_value &value, bool &flag)
{
	if (value.given && !parse_boolean(value.text, flag))
		cannot_parse(sqlstate::invalid_parameter_value, value, value.text, "on, off");
}

void bad_value(const option_value &value, const char *allowed)
{
	const std::string_view text = shown(value.text);
	if (!value.given)
		throw core_error(
			sqlstate::invalid_parameter_value, "option \"%s\" needs a value", value.name)
			.hint("Allowed: %s.", allowed);
	throw core_error(sqlstate::invalid_parameter_value, "invalid value for option \"%s\": \"%.*s\"",
		value.name, static_cast<int>(text.size()), text.data())
		.hint("Allowed: %s.", allowed);
}

void read_options(settings &result, const CpoServer &server, std::span<const CpoOption> given)
{
	const format_entry &format = choose_format(server, given);
	result.format = &format;
	result.server_version = server.version_num;
	result.ascii_only = server.ascii_only;
	result.unchecked_text = server.unchecked_text;
#ifdef CPO_WITH_LZ4
	result.spill_compression = compression::lz4;
#endif
	result.streaming = format.streaming;
	if (server.streaming_setting.data != nullptr && server.streaming_setting.len != 0)
		result.streaming =
			choice_value({"cpp_output.streaming", view(server.streaming_setting), true},
				streaming_choices, streaming_values);

	for (const CpoOption &o : given) {
		const option *found = find(format.options, view(o.name));
		if (found == nullptr)
			found = find(options, view(o.name));
		if (found == nullptr)
			unknown_option(format, o);
		found->set(result, {found->name, view(o.value), o.value.data != nullptr});
	}
	if (format.check != nullptr)
		format.check(result);
}

} // namespace cpp_output

// --- cpo_option_info() ---

extern "C" bool cpo_option_info(size_t index, CpoOptionInfo *info) noexcept
{
	using namespace cpp_output;
	// In order of name: the index-th is the one that this many come before.
	const auto row = [&](std::size_t owner) {
		return owner == 0 ? common_options() : formats()[owner - 1].options;
	};
	const auto before = [](const option &a, std::size_t a_owner, const option &b,
							std::size_t b_owner) {
		const int order = std::string_view(a.name).compare(b.name);
		return order < 0 || (order == 0 && a_owner < b_owner);
	};
	const std::size_t owners = formats().size() + 1;
	for (std::size_t owner = 0; owner < owners; ++owner)
		for (const option &candidate : row(owner)) {
			std::size_t rank = 0;
			for (std::size_t other = 0; other < owners; ++other)
				for (const option &o : row(other))
					rank += before(o, other, candidate, owner) ? 1 : 0;
			if (rank != index)
				continue;
			*info = {candidate.name, owner == 0 ? "all" : formats()[owner - 1].name, candidate.type,
				candidate.default_value, candidate.allowed, candidate.description};
			return true;
		}
	return false;
}
