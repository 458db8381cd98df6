// Version 2: one object a change, with an object for each of its columns.
#include "format/wal2json_format.h"

#include <array>

namespace cpp_output
{

namespace
{

struct v2_column {
	// What stands before the value, with a comma in front for all but the first column, and after
	// it: in `columns`; in `identity` a brace follows.
	std::string_view before;
	std::string_view after;
	wal2json_value_rule rule;
	bool printed;
	bool key; // part of the replica identity; with FULL every column is
};

struct v2_plan : format_plan {
	std::string_view name; // `,"schema":"public","table":"t"`
	std::string_view end;  // of the change, with the primary key
	const v2_column *column;
	std::size_t ncolumns;
};

constexpr char actions[] = {'I', 'U', 'D', 'T'};

class wal2json_v2_format final : public wal2json_format
{
public:
	explicit wal2json_v2_format(const settings &all)
		: wal2json_format(all), has_late_text_(own_.include_timestamp || own_.include_origin)
	{
	}

	const format_plan *plan(const CpoRelation &relation, std::pmr::memory_resource &arena) override;

	void begin(message_writer &out, CpoLsn lsn, const transaction &txn, bool last) override
	{
		boundary(out, 'B', lsn, txn, last);
	}
	void change(message_writer &out, const CpoChange &change, transaction &txn) override;
	void truncate(message_writer &out, const CpoTruncation &truncation, transaction &txn) override;
	void message(message_writer &out, const CpoMessage &message, transaction *txn) override;
	void commit(message_writer &out, CpoLsn lsn, const transaction &txn) override
	{
		boundary(out, 'C', lsn, txn, true);
	}

	void late_text(byte_buffer &out, const transaction &txn, bool first) const override;

private:
	void boundary(
		message_writer &out, char action, CpoLsn lsn, const transaction &txn, bool last) const;
	byte_buffer &open(message_writer &out, char action, const CpoPlace &place) const;
	void append_fact_lsn(byte_buffer &text, std::string_view name, CpoLsn lsn) const;
	static void append_row(message_writer &out, byte_buffer &text, const v2_plan &plan,
		const CpoValue *row, bool identity);

	bool has_late_text_;
};

// --- the plan ---

const format_plan *wal2json_v2_format::plan(
	const CpoRelation &relation, std::pmr::memory_resource &arena)
{
	const CpoRelationInfo &info = relation.info;
	byte_buffer text(&arena);
	auto *plan = std::pmr::polymorphic_allocator<>(&arena).new_object<v2_plan>();
	const table_name name = name_of(info);
	if (own_.include_schemas) {
		text.append(",\"schema\":");
		append_string(text, name.schema);
	}
	text.append(",\"table\":");
	append_string(text, name.table);
	plan->name = keep(text, arena);

	const auto open_column = [&](const CpoColumn &column) {
		text.append("{\"name\":");
		append_string(text, view(column.name));
		if (own_.include_types) {
			text.append(",\"type\":");
			append_type(text, column);
		}
		if (own_.include_type_oids) {
			text.append(",\"typeoid\":");
			append_number(text, column.type_oid);
		}
	};

	plan->ncolumns = info.ncolumns;
	auto *columns = static_cast<v2_column *>(
		arena.allocate(info.ncolumns * sizeof(v2_column), alignof(v2_column)));
	for (std::size_t i = 0; i < info.ncolumns; ++i) {
		const CpoColumn &column = info.columns[i];
		auto *made = new (&columns[i]) v2_column{};
		made->rule = rule_for(column);
		made->printed = printed(relation, i);
		made->key = made->printed && (column.in_identity || info.replica_identity == 'f');
		text.push_back(',');
		open_column(column);
		text.append(",\"value\":");
		made->before = keep(text, arena);
		if (own_.include_not_null)
			text.append(column.not_null ? ",\"optional\":false" : ",\"optional\":true");
		if (own_.include_column_positions) {
			text.append(",\"position\":");
			append_number(text, static_cast<std::uint32_t>(column.position));
		}
		if (own_.include_default) {
			text.append(",\"default\":");
			append_default(text, column);
		}
		text.push_back('}');
		made->after = keep(text, arena);
	}
	plan->column = columns;

	if (own_.include_pk) {
		text.append(",\"pk\":[");
		bool first = true;
		for (std::size_t i = 0; i < info.ncolumns; ++i) {
			if (!info.columns[i].in_primary_key || !columns[i].printed)
				continue;
			text.append(first ? "" : ",");
			first = false;
			open_column(info.columns[i]);
			text.push_back('}');
		}
		text.push_back(']');
	}
	text.push_back('}');
	plan->end = keep(text, arena);
	return plan;
}

// --- events ---

void wal2json_v2_format::late_text(byte_buffer &out, const transaction &txn, bool /* first */) const
{
	if (own_.include_timestamp) {
		out.append(",\"timestamp\":");
		append_time(out, txn);
	}
	if (own_.include_origin) {
		out.append(",\"origin\":");
		append_number(out, txn.facts.origin_id);
	}
}

void wal2json_v2_format::append_fact_lsn(byte_buffer &text, std::string_view name, CpoLsn lsn) const
{
	if (!own_.include_lsn)
		return;
	text.append(name);
	append_lsn(text, lsn);
}

// BEGIN and COMMIT.
void wal2json_v2_format::boundary(
	message_writer &out, char action, CpoLsn lsn, const transaction &txn, bool last) const
{
	if (!own_.include_transaction)
		return;
	byte_buffer &text = out.open(lsn);
	text.append("{\"action\":\"");
	text.push_back(action);
	text.push_back('"');
	if (own_.include_xids) {
		text.append(",\"xid\":");
		append_number(text, txn.facts.xid);
	}
	late_text(text, txn, true);
	append_fact_lsn(text, ",\"lsn\":", txn.facts.final_lsn);
	append_fact_lsn(text, ",\"nextlsn\":", txn.facts.end_lsn);
	text.push_back('}');
	out.close(last);
}

// What all objects of a transaction begin with.
byte_buffer &wal2json_v2_format::open(message_writer &out, char action, const CpoPlace &place) const
{
	byte_buffer &text = out.open(place.lsn);
	text.append("{\"action\":\"");
	text.push_back(action);
	text.push_back('"');
	if (own_.include_xids) {
		text.append(",\"xid\":");
		append_number(text, place.xid);
	}
	if (has_late_text_)
		out.late();
	append_fact_lsn(text, ",\"lsn\":", place.lsn);
	return text;
}

void wal2json_v2_format::append_row(
	message_writer &out, byte_buffer &text, const v2_plan &plan, const CpoValue *row, bool identity)
{
	std::size_t skip_comma = 1;
	for (std::size_t i = 0; i < plan.ncolumns; ++i) {
		const v2_column &column = plan.column[i];
		if (!(identity ? column.key : column.printed) || row[i].form == CPO_UNCHANGED)
			continue;
		out.at_column(i);
		text.append(column.before.substr(skip_comma));
		skip_comma = 0;
		append_wal2json_value(text, column.rule, row[i]);
		text.append(identity ? "}" : column.after);
	}
}

void wal2json_v2_format::change(message_writer &out, const CpoChange &change, transaction &)
{
	if (dropped(change))
		return;
	const auto &plan = *static_cast<const v2_plan *>(change.relation->plan);
	byte_buffer &text = open(out, actions[change.act], change.place);
	text.append(plan.name);
	if (change.new_row != nullptr) {
		text.append(",\"columns\":[");
		append_row(out, text, plan, change.new_row, false);
		text.push_back(']');
	}
	// Without an old row the identity is that of the new one.
	const CpoValue *identity =
		change.old_row != nullptr || change.act == CPO_INSERT ? change.old_row : change.new_row;
	if (identity != nullptr) {
		text.append(",\"identity\":[");
		append_row(out, text, plan, identity, true);
		text.push_back(']');
	}
	text.append(plan.end);
	out.close();
}

void wal2json_v2_format::truncate(
	message_writer &out, const CpoTruncation &truncation, transaction &)
{
	for (std::size_t i = 0; i < truncation.nrelations; ++i) {
		const auto &plan = *static_cast<const v2_plan *>(truncation.relations[i]->plan);
		byte_buffer &text = open(out, actions[CPO_TRUNCATE], truncation.place);
		text.append(plan.name);
		text.push_back('}');
		out.close();
	}
}

void wal2json_v2_format::message(
	message_writer &out, const CpoMessage &message, transaction * /* txn */)
{
	byte_buffer &text = out.open(message.place.lsn);
	text.append("{\"action\":\"M\"");
	if (own_.include_xids) {
		text.append(",\"xid\":");
		if (message.transactional)
			append_number(text, message.place.xid);
		else
			text.append("null");
	}
	if (message.transactional && has_late_text_) {
		out.late();
	} else if (!message.transactional) {
		text.append(own_.include_timestamp ? ",\"timestamp\":null" : "");
		text.append(own_.include_origin ? ",\"origin\":null" : "");
	}
	append_fact_lsn(text, ",\"lsn\":", message.message_lsn);
	text.append(message.transactional ? ",\"transactional\":true" : ",\"transactional\":false");
	text.append(",\"prefix\":");
	append_string(text, view(message.prefix));
	text.append(",\"content\":");
	append_content(text, message);
	text.push_back('}');
	out.close();
}

} // namespace

pmr_ptr<format> make_wal2json_v2(std::pmr::memory_resource *memory, const settings &all)
{
	return make_pmr<wal2json_v2_format>(memory, all);
}

} // namespace cpp_output
