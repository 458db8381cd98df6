#include "format/wal2json_format.h"

#include "error.h"
#include "format/wal2json.h"
#include "text/datetime.h"
#include "text/integer.h"

#include <algorithm>

namespace cpp_output
{

namespace
{

text_mode mode_of(const settings &all)
{
	if (all.ascii_only)
		return text_mode::ascii;
	return all.unchecked_text ? text_mode::checked_utf8 : text_mode::utf8;
}

} // namespace

wal2json_format::wal2json_format(const settings &all)
	: own_(all.wal2json), mode_(mode_of(all)),
	  domains_looked_through_(own_.include_domain_data_type && own_.include_types),
	  wide_lsn_(all.server_version >= 190000)
{
}

void wal2json_format::configure(CpoConfig &config) const
{
	config.utf8_text = true;
	config.two_phase = CPO_TWO_PHASE_OFF;
	const bool catalog_names = own_.format_version == 1 && !own_.include_typmod;
	if (own_.include_types)
		config.wants |= catalog_names ? CPO_WANT_CATALOG_NAMES : CPO_WANT_TYPE_NAMES;
	if (domains_looked_through_)
		config.wants |= CPO_WANT_DOMAIN_BASE;
	if (own_.include_default)
		config.wants |= CPO_WANT_DEFAULTS;
	if (own_.partition_root)
		config.wants |= CPO_WANT_PARTITION_ROOT;
}

format_traits wal2json_format::traits() const
{
	const bool silent = own_.format_version == 2 && !own_.include_transaction;
	format_traits traits;
	traits.lazy_begin = silent || !own_.include_empty_transaction;
	return traits;
}

bool wal2json_format::wants_relation(const CpoRelationInfo &info, CpoAct act) const
{
	// As publish_via_partition_root has it: to truncate a partition is not to truncate the table.
	if (act == CPO_TRUNCATE && own_.partition_root && info.root_name.data != nullptr)
		return false;
	const auto [schema, table] = name_of(info);
	return !own_.filter_tables.match(schema, table) &&
		   (own_.all_tables || own_.add_tables.match(schema, table));
}

bool wal2json_format::wants_origin(std::uint32_t origin_id) const
{
	return origin_id == 0 || std::find(own_.filter_origins.begin(), own_.filter_origins.end(),
								 origin_id) == own_.filter_origins.end();
}

bool wal2json_format::wants_message(std::string_view prefix) const
{
	return !own_.filter_msg_prefixes.contain(prefix) &&
		   (own_.add_msg_prefixes.empty() || own_.add_msg_prefixes.contain(prefix));
}

void wal2json_format::never()
{
	throw core_error(sqlstate::internal_error, "unexpected event in format wal2json");
}

void wal2json_format::missing_identity(byte_buffer &text, const CpoRelation &relation) const
{
	append_identity_warning(text, "UPDATE and DELETE of table \"", relation,
		"\" are left out: no primary key, or replica identity is nothing");
}

// --- pieces of text ---

void wal2json_format::append_content(byte_buffer &out, const CpoMessage &message) const
{
	const bool check = !message.valid_text && mode_ == text_mode::utf8;
	append_json_string(out, view(message.content), check ? text_mode::checked_utf8 : mode_);
}

void wal2json_format::append_lsn(byte_buffer &out, CpoLsn lsn) const
{
	char *end = out.reserve(lsn_max + 2);
	*end++ = '"';
	end = write_lsn(end, wide_lsn_ ? lsn >> 32 << 32 : lsn);
	if (wide_lsn_) {
		--end; // the zero that stands for the lower half
		for (int shift = 28; shift >= 0; shift -= 4)
			*end++ = "0123456789ABCDEF"[lsn >> shift & 0xf];
	}
	*end++ = '"';
	out.commit(end);
}

void wal2json_format::append_number(byte_buffer &out, std::uint32_t number)
{
	out.commit(write_unsigned(out.reserve(integer_max), number));
}

void wal2json_format::append_time(byte_buffer &out, const transaction &txn)
{
	char *end = out.reserve(datetime_max + 2);
	*end++ = '"';
	end = write_timestamptz(end, txn.facts.commit_time, txn.facts.commit_offset, ' ');
	*end++ = '"';
	out.commit(end);
}

void wal2json_format::append_type(byte_buffer &out, const CpoColumn &column) const
{
	const bool base = domains_looked_through_;
	if (own_.format_version == 1 && !own_.include_typmod)
		append_string(out, view(base ? column.base_catalog_name : column.catalog_name));
	else
		append_wal2json_type(out, view(base ? column.base_typmod_name : column.typmod_name), mode_);
}

void wal2json_format::append_default(byte_buffer &out, const CpoColumn &column) const
{
	if (column.default_expr.data == nullptr || column.generated_stored)
		out.append("null");
	else
		append_string(out, view(column.default_expr));
}

wal2json_value_rule wal2json_format::rule_for(const CpoColumn &column) const
{
	const CpoOid type = own_.format_version == 1 ? spoken_type(column) : column.type_oid;
	return wal2json_rule_for(type, column.type->kind, own_.numeric_data_types_as_string, mode_);
}

wal2json_format::table_name wal2json_format::name_of(const CpoRelationInfo &info) const
{
	if (own_.partition_root && info.root_name.data != nullptr)
		return {view(info.root_schema), view(info.root_name)};
	return {view(info.schema), view(info.name)};
}

std::string_view wal2json_format::keep(byte_buffer &text, std::pmr::memory_resource &arena)
{
	const std::string_view kept = cpp_output::keep(text.view(), arena);
	text.clear();
	return kept;
}

pmr_ptr<format> make_wal2json_format(std::pmr::memory_resource *memory, const settings &all)
{
	return all.wal2json.format_version == 1 ? make_wal2json_v1(memory, all)
											: make_wal2json_v2(memory, all);
}

} // namespace cpp_output
