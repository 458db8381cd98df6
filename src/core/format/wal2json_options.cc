#include "format/wal2json.h"

#include "error.h"

#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>

namespace cpp_output
{

namespace
{

template <bool wal2json_settings::*member> void set_flag(settings &s, const option_value &value)
{
	s.wal2json.*member = true;
	peer_boolean(value, s.wal2json.*member);
}

constexpr const char *table_list = "schema.table, *.table, schema.*; \\ escapes";
constexpr const char *word_list = "words separated by commas";
constexpr const char *action_list = "insert, update, delete, truncate";

// As the server's parse_int(): decimal, octal or hexadecimal, rounded where it has a fraction.
bool parse_integer(std::string_view text, int &result)
{
	char digits[64];
	if (text.size() >= sizeof(digits))
		return false;
	text.copy(digits, text.size());
	digits[text.size()] = '\0';
	char *end = nullptr;
	errno = 0;
	double number = static_cast<double>(std::strtol(digits, &end, 0));
	if (*end == '.' || *end == 'e' || *end == 'E' || errno == ERANGE) {
		errno = 0;
		number = std::strtod(digits, &end);
	}
	if (end == digits || errno == ERANGE || std::isnan(number))
		return false;
	while (is_space(*end))
		++end;
	number = std::rint(number);
	if (*end != '\0' || number > INT_MAX || number < INT_MIN)
		return false;
	result = static_cast<int>(number);
	return true;
}

void set_format_version(settings &s, const option_value &value)
{
	constexpr int oldest = 1;
	constexpr int newest = 2;
	int version = newest;
	if (value.given && !parse_integer(value.text, version))
		cannot_parse(sqlstate::invalid_parameter_value, value, value.text, "1, 2");
	if (version > newest)
		throw core_error(sqlstate::feature_not_supported,
			"client sent format_version=%d but we only support format %d or lower", version,
			newest);
	if (version < oldest)
		throw core_error(sqlstate::feature_not_supported,
			"client sent format_version=%d but we only support format %d or higher", version,
			oldest);
	s.wal2json.format_version = version;
}

void set_actions(settings &s, const option_value &value)
{
	if (!value.given)
		return;
	wal2json_words words(s.wal2json.filter_msg_prefixes.words().get_allocator().resource());
	if (!words.add(value.text))
		cannot_parse(sqlstate::invalid_name, value, value.text, action_list);
	s.acts = 0;
	for (const std::pmr::string &word : words.words()) {
		const auto *found = std::begin(act_choices);
		while (found != std::end(act_choices) && found->name != word)
			++found;
		if (found == std::end(act_choices))
			cannot_parse(sqlstate::invalid_parameter_value, value, word, action_list);
		s.acts |= act_bit(found->value);
	}
}

// Lists given more than once add up, a bare option starts anew.
template <typename List> void set_list(List &list, const option_value &value, const char *allowed)
{
	if (!value.given)
		list.clear();
	else if (!list.add(value.text))
		cannot_parse(sqlstate::invalid_name, value, value.text, allowed);
}

void set_filter_origins(settings &s, const option_value &value)
{
	auto &origins = s.wal2json.filter_origins;
	wal2json_words words(origins.get_allocator().resource());
	set_list(words, value, "numbers of replication origins");
	if (!value.given)
		origins.clear();
	for (const std::pmr::string &word : words.words())
		origins.push_back(wal2json_number(word));
}

using own = wal2json_settings;
constexpr option options[] = {
	{"format-version", "integer", "1", "1, 2",
		"One document a transaction (1) or an object a change (2).", set_format_version},
	{"include-transaction", "boolean", "on", "on, off", "Objects for BEGIN and COMMIT (version 2).",
		set_flag<&own::include_transaction>},
	{"include-empty-transaction", "boolean", "on", "on, off",
		"Transactions that turn out to hold nothing.", set_flag<&own::include_empty_transaction>},
	{"include-xids", "boolean", "off", "on, off", "Transaction ids.", set_flag<&own::include_xids>},
	{"include-timestamp", "boolean", "off", "on, off", "The commit time.",
		set_flag<&own::include_timestamp>},
	{"include-origin", "boolean", "off", "on, off", "The number of the replication origin.",
		set_flag<&own::include_origin>},
	{"include-lsn", "boolean", "off", "on, off",
		"LSNs: of the end of the transaction, and in version 2 of each object.",
		set_flag<&own::include_lsn>},
	{"include-schemas", "boolean", "on", "on, off", "The schemas of tables.",
		set_flag<&own::include_schemas>},
	{"include-types", "boolean", "on", "on, off", "The names of the columns' types.",
		set_flag<&own::include_types>},
	{"include-type-oids", "boolean", "off", "on, off", "The oids of the columns' types.",
		set_flag<&own::include_type_oids>},
	{"include-typmod", "boolean", "on", "on, off",
		"Type names as declared, varchar(20); off: the catalog's names (version 1).",
		set_flag<&own::include_typmod>},
	{"include-domain-data-type", "boolean", "off", "on, off",
		"The type that a domain is made of in place of the domain.",
		set_flag<&own::include_domain_data_type>},
	{"include-column-positions", "boolean", "off", "on, off", "The numbers of the columns.",
		set_flag<&own::include_column_positions>},
	{"include-not-null", "boolean", "off", "on, off", "Whether columns may be null.",
		set_flag<&own::include_not_null>},
	{"include-default", "boolean", "off", "on, off", "The columns' default expressions.",
		set_flag<&own::include_default>},
	{"include-pk", "boolean", "off", "on, off", "The columns of the primary key.",
		set_flag<&own::include_pk>},
	{"partition-root", "boolean", "off", "on, off",
		"Partitions go by the name of the partitioned table at the top.",
		set_flag<&own::partition_root>},
	{"pretty-print", "boolean", "off", "on, off", "Line breaks and indentation (version 1).",
		set_flag<&own::pretty_print>},
	{"write-in-chunks", "boolean", "off", "on, off",
		"A message for each change in place of one for the document (version 1).",
		set_flag<&own::write_in_chunks>},
	{"numeric-data-types-as-string", "boolean", "off", "on, off",
		"Numbers as strings, NaN and the infinities too.",
		set_flag<&own::numeric_data_types_as_string>},
	{"include-unchanged-toast", "boolean", nullptr, "nothing", "Refused, as in wal2json.",
		[](settings &, const option_value &value) {
			throw core_error(sqlstate::invalid_name, "parameter \"%s\" was deprecated", value.name);
		}},
	{"actions", "list", "insert,update,delete,truncate", action_list,
		"Only these kinds of change; version 1 has no TRUNCATE.", set_actions},
	{"filter-origins", "list", nullptr, "numbers of replication origins",
		"No transactions that were replicated from these origins.", set_filter_origins},
	{"filter-tables", "list", nullptr, table_list, "Not these tables; wins over add-tables.",
		[](settings &s, const option_value &value) {
			set_list(s.wal2json.filter_tables, value, table_list);
		}},
	{"add-tables", "list", "*.*", table_list, "Only these tables.",
		[](settings &s, const option_value &value) {
			s.wal2json.all_tables = false;
			s.wal2json.add_tables.clear();
			set_list(s.wal2json.add_tables, value, table_list);
		}},
	{"filter-msg-prefixes", "list", nullptr, word_list,
		"No messages with these prefixes; wins over add-msg-prefixes.",
		[](settings &s, const option_value &value) {
			set_list(s.wal2json.filter_msg_prefixes, value, word_list);
		}},
	{"add-msg-prefixes", "list", nullptr, word_list, "Only messages with these prefixes.",
		[](settings &s, const option_value &value) {
			set_list(s.wal2json.add_msg_prefixes, value, word_list);
		}},
};

} // namespace

std::span<const option> wal2json_options() noexcept
{
	return options;
}

void check_wal2json(settings &all)
{
	if (all.streaming == CPO_STREAMING_ON)
		throw core_error(sqlstate::feature_not_supported,
			"format wal2json has no form for transactions in progress")
			.hint("Use streaming=reorder, which sends a transaction at its COMMIT, or "
				  "streaming=off.");
	if (all.two_phase == CPO_TWO_PHASE_ON)
		throw core_error(
			sqlstate::feature_not_supported, "format wal2json has no form for PREPARE TRANSACTION")
			.hint("Without two-phase=on prepared transactions are sent at COMMIT PREPARED.");
	if (all.wal2json.format_version == 1)
		all.acts &= ~act_bit(CPO_TRUNCATE);
}

} // namespace cpp_output
