/*
 * Version 1: one document a transaction, with a row's names, types and values in arrays of their
 * own.
 *
 * What stands before the first value is constant for a table as long as no column is left out, so
 * the plan holds it ready. Columns are left out where a TOASTed value did not change, and where a
 * key is null.
 */
#include "format/wal2json_format.h"

#include <array>

namespace cpp_output
{

namespace
{

// The arrays that describe a row's columns; the array of the values follows them.
enum list : std::size_t { names, types, type_oids, positions, optionals, defaults };
constexpr std::size_t list_count = defaults + 1;

struct v1_column {
	std::array<std::string_view, list_count> items; // as they stand in the lists
	wal2json_value_rule rule;
	bool printed;
	bool key; // part of the replica identity; with FULL every column is
};

// Which columns a row is printed with.
enum class selection { all, keys, not_null };

// An object of lists: what is constant of it.
struct v1_section {
	std::array<std::string_view, list_count> openings; // empty: not asked for
	std::string_view values_opening;
	// Everything up to the first value, if no column of the selection is left out.
	std::string_view whole;
	std::string_view whole_keys; // the same for the keys alone
};

struct v1_plan : format_plan {
	std::array<std::string_view, CPO_TRUNCATE> heads; // by act: up to the name of the table
	v1_section columns;
	v1_section old_keys;
	std::string_view insert_end;
	std::string_view update_middle; // between new and old row
	const v1_column *column;
	std::size_t ncolumns;
	std::size_t nprinted;
	std::size_t nkeys;
};

class wal2json_v1_format final : public wal2json_format
{
public:
	explicit wal2json_v1_format(const settings &all)
		: wal2json_format(all), line_(own_.pretty_print ? "\n" : ""),
		  space_(own_.pretty_print ? " " : ""), comma_(own_.pretty_print ? ", " : ",")
	{
	}

	const format_plan *plan(const CpoRelation &relation, std::pmr::memory_resource &arena) override;

	void begin(message_writer &out, CpoLsn lsn, const transaction &txn, bool last) override;
	void change(message_writer &out, const CpoChange &change, transaction &txn) override;
	void truncate(message_writer &, const CpoTruncation &, transaction &) override {}
	void message(message_writer &out, const CpoMessage &message, transaction *txn) override;
	void commit(message_writer &out, CpoLsn lsn, const transaction &txn) override;

	// The comma before every change but the first.
	void late_text(byte_buffer &out, const transaction &, bool first) const override
	{
		if (!first)
			out.push_back(',');
	}

private:
	std::string_view indent(std::size_t depth) const
	{
		return std::string_view("\t\t\t\t", own_.pretty_print ? depth : 0);
	}
	// `"name": ` at some depth
	void append_name(byte_buffer &text, std::size_t depth, std::string_view name) const;
	// `],` or the like, and the end of the line
	void append_end(byte_buffer &text, std::string_view end) const
	{
		text.append(end);
		text.append(line_);
	}
	void append_item(byte_buffer &text, const CpoColumn &column, list which) const;
	std::string_view make_head(const CpoRelation &relation, CpoAct act,
		std::string_view primary_key, byte_buffer &text, std::pmr::memory_resource &arena) const;
	std::string_view make_primary_key(
		const CpoRelation &relation, byte_buffer &text, std::pmr::memory_resource &arena) const;
	v1_section make_section(
		const v1_plan &plan, bool old, byte_buffer &text, std::pmr::memory_resource &arena) const;
	template <typename Printed>
	void append_lists(
		byte_buffer &text, const v1_plan &plan, const v1_section &section, Printed printed) const;
	template <selection which>
	void append_row(message_writer &out, byte_buffer &text, const v1_plan &plan,
		const v1_section &section, const CpoValue *row) const;

	byte_buffer &open_item(message_writer &out, CpoLsn lsn) const;
	void close(message_writer &out, bool last = true) const
	{
		if (own_.write_in_chunks)
			out.close(last);
		else
			out.close_piece();
	}

	// With pretty-print, what stands at the end of a line, after a colon and after a comma.
	std::string_view line_;
	std::string_view space_;
	std::string_view comma_;
};

template <selection which> bool selected(const v1_column &column, const CpoValue &value)
{
	if (which == selection::keys ? !column.key : !column.printed)
		return false;
	return value.form != CPO_UNCHANGED && (which == selection::all || value.form != CPO_NULL);
}

// --- the plan ---

void wal2json_v1_format::append_name(
	byte_buffer &text, std::size_t depth, std::string_view name) const
{
	text.append(indent(depth));
	text.push_back('"');
	text.append(name);
	text.append("\":");
	text.append(space_);
}

void wal2json_v1_format::append_item(byte_buffer &text, const CpoColumn &column, list which) const
{
	switch (which) {
	case names:
		append_string(text, view(column.name));
		break;
	case types:
		append_type(text, column);
		break;
	case type_oids:
		append_number(text, spoken_type(column));
		break;
	case positions:
		append_number(text, static_cast<std::uint32_t>(column.position));
		break;
	case optionals:
		text.append(column.not_null ? "false" : "true");
		break;
	case defaults:
		append_default(text, column);
		break;
	}
}

std::string_view wal2json_v1_format::make_head(const CpoRelation &relation, CpoAct act,
	std::string_view primary_key, byte_buffer &text, std::pmr::memory_resource &arena) const
{
	constexpr std::string_view kinds[] = {"\"insert\",", "\"update\",", "\"delete\","};
	const table_name name = name_of(relation.info);
	append_end(text, "{");
	append_name(text, 3, "kind");
	append_end(text, kinds[act]);
	if (own_.include_schemas) {
		append_name(text, 3, "schema");
		append_string(text, name.schema);
		append_end(text, ",");
	}
	append_name(text, 3, "table");
	append_string(text, name.table);
	append_end(text, ",");
	if (act == CPO_DELETE && !primary_key.empty()) {
		text.append(primary_key);
		append_end(text, ",");
	}
	return keep(text, arena);
}

// `"pk": {...}`, or nothing
std::string_view wal2json_v1_format::make_primary_key(
	const CpoRelation &relation, byte_buffer &text, std::pmr::memory_resource &arena) const
{
	if (!own_.include_pk || !relation.info.has_primary_key)
		return {};
	const auto append_list = [&](list which) {
		bool first = true;
		for (std::size_t i = 0; i < relation.info.ncolumns; ++i) {
			const CpoColumn &column = relation.info.columns[i];
			if (!column.in_primary_key || !printed(relation, i))
				continue;
			text.append(first ? "" : comma_);
			first = false;
			append_item(text, column, which);
		}
	};
	append_name(text, 3, "pk");
	append_end(text, "{");
	append_name(text, 4, "pknames");
	text.push_back('[');
	append_list(names);
	append_end(text, "],");
	append_name(text, 4, "pktypes");
	text.push_back('[');
	if (own_.include_types)
		append_list(types);
	append_end(text, "]");
	text.append(indent(3));
	text.push_back('}');
	return keep(text, arena);
}

v1_section wal2json_v1_format::make_section(
	const v1_plan &plan, bool old, byte_buffer &text, std::pmr::memory_resource &arena) const
{
	constexpr std::string_view column_lists[] = {"columnnames", "columntypes", "columntypeoids",
		"columnpositions", "columnoptionals", "columndefaults"};
	constexpr std::string_view key_lists[] = {"keynames", "keytypes", "keytypeoids"};
	const bool wanted[] = {true, own_.include_types, own_.include_type_oids,
		own_.include_column_positions, own_.include_not_null, own_.include_default};
	const std::size_t depth = old ? 4 : 3;
	const auto list = [&](std::string_view name) {
		append_name(text, depth, name);
		text.push_back('[');
		return keep(text, arena);
	};

	v1_section section;
	if (old) {
		append_name(text, 3, "oldkeys");
		append_end(text, "{"); // kept with the first list
	}
	for (std::size_t i = 0; i < (old ? std::size(key_lists) : std::size(column_lists)); ++i)
		if (wanted[i])
			section.openings[i] = list(old ? key_lists[i] : column_lists[i]);
	section.values_opening = list(old ? "keyvalues" : "columnvalues");

	append_lists(text, plan, section, [&](std::size_t i) { return plan.column[i].printed; });
	section.whole = keep(text, arena);
	append_lists(text, plan, section, [&](std::size_t i) { return plan.column[i].key; });
	section.whole_keys = keep(text, arena);
	return section;
}

const format_plan *wal2json_v1_format::plan(
	const CpoRelation &relation, std::pmr::memory_resource &arena)
{
	const CpoRelationInfo &info = relation.info;
	byte_buffer text(&arena);
	auto *plan = std::pmr::polymorphic_allocator<>(&arena).new_object<v1_plan>();
	plan->ncolumns = info.ncolumns;
	plan->nprinted = plan->nkeys = 0;
	auto *columns = static_cast<v1_column *>(
		arena.allocate(info.ncolumns * sizeof(v1_column), alignof(v1_column)));
	for (std::size_t i = 0; i < info.ncolumns; ++i) {
		const CpoColumn &column = info.columns[i];
		auto *made = new (&columns[i]) v1_column{};
		made->rule = rule_for(column);
		made->printed = printed(relation, i);
		made->key = made->printed && (column.in_identity || info.replica_identity == 'f');
		for (std::size_t which = 0; which < list_count; ++which) {
			if (which == types && !own_.include_types)
				continue;
			append_item(text, column, static_cast<list>(which));
			made->items[which] = keep(text, arena);
		}
		plan->nprinted += made->printed ? 1 : 0;
		plan->nkeys += made->key ? 1 : 0;
	}
	plan->column = columns;

	const std::string_view primary_key = make_primary_key(relation, text, arena);
	for (const CpoAct act : {CPO_INSERT, CPO_UPDATE, CPO_DELETE})
		plan->heads[act] = make_head(relation, act, primary_key, text, arena);
	plan->columns = make_section(*plan, false, text, arena);
	plan->old_keys = make_section(*plan, true, text, arena);

	append_end(text, "],");
	if (!primary_key.empty()) {
		text.append(primary_key);
		append_end(text, ",");
	}
	plan->update_middle = keep(text, arena);
	append_end(text, primary_key.empty() ? "]" : "],");
	if (!primary_key.empty()) {
		text.append(primary_key);
		text.append(line_);
	}
	text.append(indent(2));
	text.push_back('}');
	plan->insert_end = keep(text, arena);
	return plan;
}

// --- rows ---

// The lists of a section, and the opening of its values.
template <typename Printed>
void wal2json_v1_format::append_lists(
	byte_buffer &text, const v1_plan &plan, const v1_section &section, Printed printed) const
{
	for (std::size_t which = 0; which < list_count; ++which) {
		if (section.openings[which].empty())
			continue;
		text.append(section.openings[which]);
		bool first = true;
		for (std::size_t i = 0; i < plan.ncolumns; ++i) {
			if (!printed(i))
				continue;
			if (!first)
				text.append(comma_);
			first = false;
			text.append(plan.column[i].items[which]);
		}
		append_end(text, "],");
	}
	text.append(section.values_opening);
}

template <selection which>
void wal2json_v1_format::append_row(message_writer &out, byte_buffer &text, const v1_plan &plan,
	const v1_section &section, const CpoValue *row) const
{
	std::size_t nselected = 0;
	bool keys_only = true;
	for (std::size_t i = 0; i < plan.ncolumns; ++i) {
		if (selected<which>(plan.column[i], row[i])) {
			++nselected;
			keys_only = keys_only && plan.column[i].key;
		}
	}
	if (nselected == plan.nprinted)
		text.append(section.whole);
	else if (keys_only && nselected == plan.nkeys)
		text.append(section.whole_keys);
	else
		append_lists(text, plan, section,
			[&](std::size_t i) { return selected<which>(plan.column[i], row[i]); });

	bool first = true;
	for (std::size_t i = 0; i < plan.ncolumns; ++i) {
		if (!selected<which>(plan.column[i], row[i]))
			continue;
		if (!first)
			text.append(comma_);
		first = false;
		out.at_column(i);
		append_wal2json_value(text, plan.column[i].rule, row[i]);
	}
}

// --- events ---

void wal2json_v1_format::begin(message_writer &out, CpoLsn lsn, const transaction &txn, bool last)
{
	byte_buffer &text = out.open(lsn);
	append_end(text, "{");
	if (own_.include_xids) {
		append_name(text, 1, "xid");
		append_number(text, txn.facts.xid);
		append_end(text, ",");
	}
	if (own_.include_lsn) {
		append_name(text, 1, "nextlsn");
		append_lsn(text, txn.facts.end_lsn);
		append_end(text, ",");
	}
	if (own_.include_timestamp) {
		append_name(text, 1, "timestamp");
		append_time(text, txn);
		append_end(text, ",");
	}
	if (own_.include_origin) {
		append_name(text, 1, "origin");
		append_number(text, txn.facts.origin_id);
		append_end(text, ",");
	}
	append_name(text, 1, "change");
	text.push_back('[');
	close(out, last);
}

// A new member of the array "change", up to where its object opens.
byte_buffer &wal2json_v1_format::open_item(message_writer &out, CpoLsn lsn) const
{
	byte_buffer &text = out.open(lsn);
	if (!own_.write_in_chunks)
		text.append(line_);
	text.append(indent(2));
	out.late();
	return text;
}

void wal2json_v1_format::change(message_writer &out, const CpoChange &change, transaction &)
{
	if (dropped(change) || (change.act == CPO_DELETE && change.old_row == nullptr))
		return;
	const auto &plan = *static_cast<const v1_plan *>(change.relation->plan);
	byte_buffer &text = open_item(out, change.place.lsn);
	text.append(plan.heads[change.act]);
	if (change.act != CPO_DELETE) {
		append_row<selection::all>(out, text, plan, plan.columns, change.new_row);
		text.append(change.act == CPO_INSERT ? plan.insert_end : plan.update_middle);
	}
	if (change.act != CPO_INSERT) {
		// Without an old row the keys are those of the new one.
		if (change.old_row == nullptr)
			append_row<selection::keys>(out, text, plan, plan.old_keys, change.new_row);
		else if (change.act == CPO_DELETE)
			append_row<selection::keys>(out, text, plan, plan.old_keys, change.old_row);
		else
			append_row<selection::not_null>(out, text, plan, plan.old_keys, change.old_row);
		append_end(text, "]");
		text.append(indent(3));
		append_end(text, "}");
		text.append(indent(2));
		text.push_back('}');
	}
	close(out);
}

void wal2json_v1_format::message(
	message_writer &out, const CpoMessage &message, transaction * /* txn */)
{
	// One that belongs to no transaction is a document of its own.
	const bool alone = !message.transactional;
	byte_buffer &text = alone ? out.open(message.place.lsn) : open_item(out, message.place.lsn);
	if (alone) {
		append_end(text, "{");
		append_name(text, 1, "change");
		append_end(text, "[");
		text.append(indent(2));
	}
	append_end(text, "{");
	append_name(text, 3, "kind");
	append_end(text, "\"message\",");
	append_name(text, 3, "transactional");
	append_end(text, alone ? "false," : "true,");
	append_name(text, 3, "prefix");
	append_string(text, view(message.prefix));
	append_end(text, ",");
	append_name(text, 3, "content");
	append_content(text, message);
	text.append(line_);
	text.append(indent(2));
	text.push_back('}');
	if (alone) {
		text.append(line_);
		text.append(indent(1));
		append_end(text, "]");
		text.push_back('}');
		out.close();
	} else {
		close(out);
	}
}

void wal2json_v1_format::commit(message_writer &out, CpoLsn lsn, const transaction & /* txn */)
{
	byte_buffer &text = out.open(lsn);
	if (!own_.write_in_chunks)
		text.append(line_);
	text.append(indent(1));
	append_end(text, "]");
	text.push_back('}');
	out.close();
}

} // namespace

pmr_ptr<format> make_wal2json_v1(std::pmr::memory_resource *memory, const settings &all)
{
	return make_pmr<wal2json_v1_format>(memory, all);
}

} // namespace cpp_output
