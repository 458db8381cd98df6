#include "format/json.h"

#include "format/json_value.h"
#include "text/datetime.h"
#include "text/integer.h"
#include "text/json_string.h"
#include "text/utf8.h"

#include <algorithm>
#include <functional>

namespace cpp_output
{

namespace
{

struct column_plan {
	std::string_view prefix; // `,"name":`
	std::string_view name;	 // `,"name"`, for the list of unchanged columns
	const CpoType *type;
	bool wanted;
	bool key;
};

struct json_plan : format_plan {
	std::string_view head;		  // `,"schema":"s","table":"t"`
	std::string_view description; // the whole `relation` object, where it is asked for
	std::uint64_t fingerprint;
	const column_plan *columns;
	std::size_t ncolumns;
	bool full; // old rows are whole rows
};

// A column's value in the new row, looked up in the whole old row where the new one lacks it.
const CpoValue &known_value(const CpoChange &change, const json_plan &plan, std::size_t i)
{
	const CpoValue &value = change.new_row[i];
	const bool lacking = value.form == CPO_UNCHANGED && plan.full && change.old_row != nullptr;
	return lacking ? change.old_row[i] : value;
}

class json_format final : public format
{
public:
	json_format(std::pmr::memory_resource *memory, const settings &all)
		: own_(all.json), mode_(mode(all)), values_(memory, all.json, mode_), memory_(memory)
	{
	}

	void configure(CpoConfig &config) const override;
	format_traits traits() const override { return {}; }

	const format_plan *plan(const CpoRelation &relation, std::pmr::memory_resource &arena) override;

	void begin(message_writer &out, CpoLsn lsn, const transaction &txn, bool last) override
	{
		if (own_.include_transaction)
			opening(out, lsn, txn, false, last);
	}
	void begin_prepare(message_writer &out, CpoLsn lsn, const transaction &txn, bool last) override
	{
		opening(out, lsn, txn, true, last);
	}
	void commit(message_writer &out, CpoLsn lsn, const transaction &txn) override
	{
		if (own_.include_transaction)
			closing(out, lsn, "commit", txn, false);
	}
	void prepare(message_writer &out, CpoLsn lsn, const transaction &txn) override
	{
		closing(out, lsn, "prepare", txn, true);
	}
	void commit_prepared(message_writer &out, CpoLsn lsn, const transaction &txn) override
	{
		closing(out, lsn, "commit_prepared", txn, true);
	}
	void rollback_prepared(message_writer &out, CpoLsn lsn, const transaction &txn) override;

	void change(message_writer &out, const CpoChange &change, transaction &txn) override;
	void truncate(message_writer &out, const CpoTruncation &truncation, transaction &txn) override;
	void message(message_writer &out, const CpoMessage &message, transaction *txn) override;

	void stream_start(message_writer &out, CpoLsn lsn, const transaction &txn, bool last) override;
	void stream_stop(message_writer &out, CpoLsn lsn, const transaction &txn) override;
	void stream_abort(
		message_writer &out, CpoLsn lsn, const transaction &txn, CpoXid subxid) override;
	void stream_prepare(message_writer &out, CpoLsn lsn, const transaction &txn) override
	{
		closing(out, lsn, "stream_prepare", txn, true);
	}
	void stream_commit(message_writer &out, CpoLsn lsn, const transaction &txn) override
	{
		closing(out, lsn, "stream_commit", txn, false);
	}

	void late_text(byte_buffer &text, const transaction &txn, bool /* first */) const override;

private:
	static text_mode mode(const settings &all)
	{
		return all.ascii_only ? text_mode::ascii : text_mode::utf8;
	}
	void describe(byte_buffer &text, const CpoRelation &relation, const json_plan &plan) const;

	// What each change needs is defined here, to be inlined.
	static byte_buffer &start(message_writer &out, CpoLsn lsn, std::string_view op)
	{
		byte_buffer &text = out.open(lsn);
		text.append("{\"op\":\"");
		text.append(op);
		text.push_back('"');
		return text;
	}
	static void finish(message_writer &out, byte_buffer &text, bool last = true)
	{
		text.push_back('}');
		out.close(last);
	}

	static void append_xid(byte_buffer &text, CpoXid xid)
	{
		text.append(",\"xid\":");
		text.commit(write_unsigned(text.reserve(integer_max), xid));
	}
	static void append_lsn(byte_buffer &text, std::string_view name, CpoLsn lsn)
	{
		text.append(name);
		text.push_back('"');
		text.commit(write_lsn(text.reserve(lsn_max), lsn));
		text.push_back('"');
	}
	static void append_time(byte_buffer &text, std::string_view name, CpoTime time)
	{
		text.append(name);
		text.push_back('"');
		text.commit(write_timestamp_utc(text.reserve(datetime_max), time));
		text.push_back('"');
	}
	void append_gid(byte_buffer &text, const transaction &txn) const;
	void append_origin(byte_buffer &text, const transaction &txn) const;

	void opening(
		message_writer &out, CpoLsn lsn, const transaction &txn, bool prepared, bool last) const;
	void closing(message_writer &out, CpoLsn lsn, std::string_view op, const transaction &txn,
		bool prepared) const;

	// What the include- options put into every message of a transaction.
	void append_facts(
		message_writer &out, byte_buffer &text, const CpoPlace &place, const transaction &txn) const
	{
		// The consumer of a stream needs to know what a stream_abort takes back.
		if (txn.streamed)
			append_xid(text, place.subxid);
		else if (own_.include_xids)
			append_xid(text, place.xid);
		if (own_.include_lsn)
			append_lsn(text, ",\"lsn\":", place.lsn);
		if (!txn.streamed && (own_.include_timestamp || own_.include_origin))
			out.late();
	}

	void append_identity(message_writer &out, byte_buffer &text, const CpoChange &change,
		const json_plan &plan) const;
	void append_new_row(message_writer &out, byte_buffer &text, const CpoChange &change,
		const json_plan &plan) const;
	// An object of the wanted columns for which `value_of` gives a value.
	template <typename ValueOf>
	void append_columns(
		message_writer &out, byte_buffer &text, const json_plan &plan, ValueOf value_of) const;
	static void append_unchanged(byte_buffer &text, const CpoChange &change, const json_plan &plan);

	// The relation's description, unless this transaction has it already.
	static void announce(
		message_writer &out, const CpoChange &change, const json_plan &plan, transaction &txn);

	json_settings own_;
	text_mode mode_;
	json_value_writer values_;
	std::pmr::memory_resource *memory_;
};

// --- the plan ---

void json_format::configure(CpoConfig &config) const
{
	config.utf8_text = true;
	config.native_values = true;
	config.raw_arrays = true;
	config.skip_matviews = true;
	config.want_origin_names = config.want_origin_names || own_.include_origin;
	config.wants = CPO_WANT_TYPE_TREES | (own_.include_relations ? CPO_WANT_TYPE_NAMES : 0U);
}

const format_plan *json_format::plan(const CpoRelation &relation, std::pmr::memory_resource &arena)
{
	const CpoRelationInfo &info = relation.info;
	byte_buffer text(memory_);
	text.append(",\"schema\":");
	values_.append_string(text, view(info.schema));
	text.append(",\"table\":");
	values_.append_string(text, view(info.name));
	auto *plan = std::pmr::polymorphic_allocator<>(&arena).new_object<json_plan>();
	plan->head = keep(text.view(), arena);
	plan->full = info.replica_identity == 'f';
	plan->ncolumns = info.ncolumns;
	auto *columns = static_cast<column_plan *>(
		arena.allocate(plan->ncolumns * sizeof(column_plan), alignof(column_plan)));
	for (std::size_t i = 0; i < plan->ncolumns; ++i) {
		const CpoColumn &column = info.columns[i];
		text.clear();
		text.push_back(',');
		values_.append_string(text, view(column.name));
		text.push_back(':');
		const std::string_view prefix = keep(text.view(), arena);
		new (&columns[i]) column_plan{prefix, prefix.substr(0, prefix.size() - 1), column.type,
			relation.needed[i] && !column.generated_virtual, column.in_identity};
	}
	plan->columns = columns;
	if (own_.include_relations) {
		text.clear();
		describe(text, relation, *plan);
		plan->description = keep(text.view(), arena);
		plan->fingerprint = std::hash<std::string_view>()(plan->description);
	}
	return plan;
}

void json_format::describe(
	byte_buffer &text, const CpoRelation &relation, const json_plan &plan) const
{
	const CpoRelationInfo &info = relation.info;
	text.append("{\"op\":\"relation\"");
	text.append(plan.head);
	text.append(",\"oid\":");
	text.commit(write_unsigned(text.reserve(integer_max), info.oid));
	text.append(",\"replica_identity\":\"");
	text.append(info.replica_identity == 'f'   ? "full"
				: info.replica_identity == 'i' ? "index"
				: info.replica_identity == 'n' ? "nothing"
											   : "default");
	text.append("\",\"columns\":[");
	bool first = true;
	for (std::size_t i = 0; i < info.ncolumns; ++i) {
		const CpoColumn &column = info.columns[i];
		if (!plan.columns[i].wanted)
			continue;
		text.append(first ? "{\"name\":" : ",{\"name\":");
		first = false;
		values_.append_string(text, view(column.name));
		text.append(",\"type\":");
		values_.append_string(text, view(column.typmod_name));
		text.append(column.in_identity ? ",\"key\":true" : ",\"key\":false");
		text.append(column.not_null ? ",\"not_null\":true" : ",\"not_null\":false");
		text.append(column.generated_stored ? ",\"generated\":true}" : ",\"generated\":false}");
	}
	text.append("]}");
}

// --- events ---

void json_format::rollback_prepared(message_writer &out, CpoLsn lsn, const transaction &txn)
{
	byte_buffer &text = start(out, lsn, "rollback_prepared");
	append_xid(text, txn.facts.xid);
	append_gid(text, txn);
	append_lsn(text, ",\"prepare_end_lsn\":", txn.facts.prepare_end_lsn);
	append_lsn(text, ",\"end_lsn\":", txn.facts.end_lsn);
	append_time(text, ",\"prepare_ts\":", txn.facts.prepare_time);
	append_time(text, ",\"ts\":", txn.facts.commit_time);
	finish(out, text);
}

void json_format::change(message_writer &out, const CpoChange &change, transaction &txn)
{
	const auto &plan = *static_cast<const json_plan *>(change.relation->plan);
	if (own_.include_relations)
		announce(out, change, plan, txn);
	byte_buffer &text = start(out, change.place.lsn,
		change.act == CPO_INSERT   ? "insert"
		: change.act == CPO_UPDATE ? "update"
								   : "delete");
	append_facts(out, text, change.place, txn);
	text.append(plan.head);
	if (change.act != CPO_INSERT)
		append_identity(out, text, change, plan);
	if (change.act != CPO_DELETE && change.new_row != nullptr) {
		text.append(",\"new\":");
		append_new_row(out, text, change, plan);
		append_unchanged(text, change, plan);
	}
	finish(out, text);
}

void json_format::truncate(message_writer &out, const CpoTruncation &truncation, transaction &txn)
{
	byte_buffer &text = start(out, truncation.place.lsn, "truncate");
	append_facts(out, text, truncation.place, txn);
	text.append(",\"tables\":[");
	for (std::size_t i = 0; i < truncation.nrelations; ++i) {
		const CpoRelationInfo &info = truncation.relations[i]->info;
		text.append(i == 0 ? "[" : ",[");
		values_.append_string(text, view(info.schema));
		text.push_back(',');
		values_.append_string(text, view(info.name));
		text.push_back(']');
	}
	text.append(truncation.cascade ? "],\"cascade\":true" : "],\"cascade\":false");
	text.append(
		truncation.restart_identity ? ",\"restart_identity\":true" : ",\"restart_identity\":false");
	finish(out, text);
}

void json_format::message(message_writer &out, const CpoMessage &message, transaction *txn)
{
	byte_buffer &text = start(out, message.place.lsn, "message");
	if (txn != nullptr)
		append_facts(out, text, message.place, *txn);
	else if (own_.include_lsn)
		append_lsn(text, ",\"lsn\":", message.place.lsn);
	text.append(",\"prefix\":");
	values_.append_string(text, view(message.prefix));
	text.append(message.transactional ? ",\"transactional\":true" : ",\"transactional\":false");
	const std::string_view content = view(message.content);
	if (message.valid_text && (mode_ == text_mode::ascii || is_text_utf8(content))) {
		text.append(",\"content\":");
		values_.append_string(text, content);
	} else {
		text.append(",\"content_base64\":");
		values_.append_base64(text, content);
	}
	finish(out, text);
}

void json_format::stream_start(message_writer &out, CpoLsn lsn, const transaction &txn, bool last)
{
	byte_buffer &text = start(out, lsn, "stream_start");
	append_xid(text, txn.facts.xid);
	text.append(txn.first_block ? ",\"first\":true" : ",\"first\":false");
	finish(out, text, last);
}

void json_format::stream_stop(message_writer &out, CpoLsn lsn, const transaction &txn)
{
	byte_buffer &text = start(out, lsn, "stream_stop");
	append_xid(text, txn.facts.xid);
	finish(out, text);
}

void json_format::stream_abort(
	message_writer &out, CpoLsn lsn, const transaction &txn, CpoXid subxid)
{
	byte_buffer &text = start(out, lsn, "stream_abort");
	append_xid(text, txn.facts.xid);
	text.append(",\"subxid\":");
	text.commit(write_unsigned(text.reserve(integer_max), subxid));
	finish(out, text);
}

void json_format::late_text(byte_buffer &text, const transaction &txn, bool /* first */) const
{
	if (own_.include_timestamp)
		append_time(text, ",\"ts\":", txn.facts.commit_time);
	if (own_.include_origin)
		append_origin(text, txn);
}

// --- pieces of text ---

void json_format::append_gid(byte_buffer &text, const transaction &txn) const
{
	text.append(",\"gid\":");
	values_.append_string(text, view(txn.facts.gid));
}

void json_format::append_origin(byte_buffer &text, const transaction &txn) const
{
	if (txn.facts.origin_id == 0)
		return;
	text.append(",\"origin\":");
	// All databases share origins: the name may be in the encoding of another one.
	append_json_string(text, view(txn.facts.origin_name),
		mode_ == text_mode::utf8 ? text_mode::checked_utf8 : mode_);
}

void json_format::opening(
	message_writer &out, CpoLsn lsn, const transaction &txn, bool prepared, bool last) const
{
	byte_buffer &text = start(out, lsn, "begin");
	append_xid(text, txn.facts.xid);
	if (prepared)
		append_gid(text, txn);
	append_lsn(text, ",\"lsn\":", txn.facts.first_lsn);
	append_time(text, ",\"ts\":", txn.facts.commit_time);
	if (own_.include_origin)
		append_origin(text, txn);
	finish(out, text, last);
}

void json_format::closing(message_writer &out, CpoLsn lsn, std::string_view op,
	const transaction &txn, bool prepared) const
{
	byte_buffer &text = start(out, lsn, op);
	append_xid(text, txn.facts.xid);
	if (prepared)
		append_gid(text, txn);
	append_lsn(text, ",\"lsn\":", txn.facts.final_lsn);
	append_lsn(text, ",\"end_lsn\":", txn.facts.end_lsn);
	append_time(text, ",\"ts\":", txn.facts.commit_time);
	finish(out, text);
}

template <typename ValueOf>
void json_format::append_columns(
	message_writer &out, byte_buffer &text, const json_plan &plan, ValueOf value_of) const
{
	text.push_back('{');
	bool first = true;
	for (std::size_t i = 0; i < plan.ncolumns; ++i) {
		const column_plan &column = plan.columns[i];
		const CpoValue *value = column.wanted ? value_of(i) : nullptr;
		if (value == nullptr || value->form == CPO_UNCHANGED)
			continue;
		out.at_column(i);
		text.append(first ? column.prefix.substr(1) : column.prefix);
		first = false;
		values_.append(text, *column.type, *value);
	}
	text.push_back('}');
}

void json_format::append_identity(
	message_writer &out, byte_buffer &text, const CpoChange &change, const json_plan &plan) const
{
	if (plan.full && change.old_row != nullptr) {
		text.append(",\"old\":");
		append_columns(out, text, plan, [&](std::size_t i) { return &change.old_row[i]; });
	} else if (!change.relation->has_identity()) {
		text.append(",\"no_identity\":true");
	} else if (change.old_row != nullptr || change.new_row != nullptr) {
		const CpoValue *row = change.old_row != nullptr ? change.old_row : change.new_row;
		text.append(",\"key\":");
		append_columns(out, text, plan,
			[&](std::size_t i) { return plan.columns[i].key ? &row[i] : nullptr; });
	}
}

void json_format::append_new_row(
	message_writer &out, byte_buffer &text, const CpoChange &change, const json_plan &plan) const
{
	append_columns(out, text, plan, [&](std::size_t i) { return &known_value(change, plan, i); });
}

void json_format::append_unchanged(
	byte_buffer &text, const CpoChange &change, const json_plan &plan)
{
	bool first = true;
	for (std::size_t i = 0; i < plan.ncolumns; ++i) {
		if (change.new_row[i].form != CPO_UNCHANGED || !plan.columns[i].wanted ||
			known_value(change, plan, i).form != CPO_UNCHANGED)
			continue;
		text.append(first ? ",\"unchanged\":[" : ",");
		text.append(plan.columns[i].name.substr(1));
		first = false;
	}
	if (!first)
		text.push_back(']');
}

void json_format::announce(
	message_writer &out, const CpoChange &change, const json_plan &plan, transaction &txn)
{
	auto &sent = txn.sent_relations;
	const CpoOid oid = change.relation->info.oid;
	const auto latest =
		std::find_if(sent.rbegin(), sent.rend(), [&](const auto &one) { return one.oid == oid; });
	if (latest != sent.rend() && latest->fingerprint == plan.fingerprint)
		return;
	sent.push_back({oid, change.place.lsn, plan.fingerprint});
	out.open(change.place.lsn).append(plan.description);
	out.close(false);
}

// --- options ---

template <bool json_settings::*member> void set_flag(settings &s, const option_value &value)
{
	s.json.*member = boolean_value(value);
}

using own = json_settings;
constexpr const char *number_values = "off, wide, all";
constexpr const char *bytea_values = "base64, hex";
constexpr option options[] = {
	{"include-transaction", "boolean", "on", "on, off", "The objects begin and commit.",
		set_flag<&own::include_transaction>},
	{"include-xids", "boolean", "off", "on, off",
		"The transaction id in changes, TRUNCATEs and transactional messages.",
		set_flag<&own::include_xids>},
	{"include-lsn", "boolean", "off", "on, off", "The LSN in changes, TRUNCATEs and messages.",
		set_flag<&own::include_lsn>},
	{"include-timestamp", "boolean", "off", "on, off",
		"The commit time in changes, TRUNCATEs and transactional messages, except between "
		"stream_start and stream_stop.",
		set_flag<&own::include_timestamp>},
	{"include-origin", "boolean", "off", "on, off",
		"The name of a replicated transaction's origin in begin, changes, TRUNCATEs and "
		"transactional messages, except between stream_start and stream_stop.",
		set_flag<&own::include_origin>},
	{"include-relations", "boolean", "off", "on, off",
		"An object that describes a table, ahead of its first change in a transaction.",
		set_flag<&own::include_relations>},
	{"numbers-as-string", "name", "off", number_values,
		"Which numbers become strings: none, those that a double may not hold (bigint, numeric), "
		"or all.",
		[](settings &s, const option_value &value) {
			constexpr choice<numbers_as_string> choices[] = {{"off", numbers_as_string::off},
				{"wide", numbers_as_string::wide}, {"all", numbers_as_string::all}};
			s.json.numbers = choice_value(value, choices, number_values);
		}},
	{"bytea", "name", "base64", bytea_values, "How bytea is written.",
		[](settings &s, const option_value &value) {
			constexpr choice<bytea_style> choices[] = {
				{"base64", bytea_style::base64}, {"hex", bytea_style::hex}};
			s.json.bytea = choice_value(value, choices, bytea_values);
		}},
};

} // namespace

pmr_ptr<format> make_json_format(std::pmr::memory_resource *memory, const settings &all)
{
	return make_pmr<json_format>(memory, memory, all);
}

std::span<const option> json_options() noexcept
{
	return options;
}

} // namespace cpp_output
