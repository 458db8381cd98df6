// What both versions of wal2json's format share.
#pragma once

#include "format/format.h"
#include "format/wal2json_settings.h"
#include "format/wal2json_value.h"

namespace cpp_output
{

class wal2json_format : public format
{
public:
	wal2json_format(const settings &all);

	void configure(CpoConfig &config) const final;
	format_traits traits() const final;

	bool wants_relation(const CpoRelationInfo &info, CpoAct act) const final;
	bool wants_origin(std::uint32_t origin_id) const final;
	bool wants_message(std::string_view prefix) const final;

	// The peer knows neither prepared transactions nor transactions in progress.
	void begin_prepare(message_writer &, CpoLsn, const transaction &, bool) final { never(); }
	void prepare(message_writer &, CpoLsn, const transaction &) final { never(); }
	void commit_prepared(message_writer &, CpoLsn, const transaction &) final { never(); }
	void rollback_prepared(message_writer &, CpoLsn, const transaction &) final { never(); }
	void stream_start(message_writer &, CpoLsn, const transaction &, bool) final { never(); }
	void stream_stop(message_writer &, CpoLsn, const transaction &) final { never(); }
	void stream_abort(message_writer &, CpoLsn, const transaction &, CpoXid) final { never(); }
	void stream_prepare(message_writer &, CpoLsn, const transaction &) final { never(); }
	void stream_commit(message_writer &, CpoLsn, const transaction &) final { never(); }

	void missing_identity(byte_buffer &text, const CpoRelation &relation) const final;

protected:
	void append_string(byte_buffer &out, std::string_view text) const
	{
		append_json_string(out, text, mode_);
	}
	void append_content(byte_buffer &out, const CpoMessage &message) const;
	void append_lsn(byte_buffer &out, CpoLsn lsn) const;
	static void append_number(byte_buffer &out, std::uint32_t number);
	static void append_time(byte_buffer &out, const transaction &txn);
	// As a JSON string.
	void append_type(byte_buffer &out, const CpoColumn &column) const;
	void append_default(byte_buffer &out, const CpoColumn &column) const;
	wal2json_value_rule rule_for(const CpoColumn &column) const;
	// The type that type names, and in version 1 values and oids, speak of.
	CpoOid spoken_type(const CpoColumn &column) const
	{
		return domains_looked_through_ ? column.base_oid : column.type_oid;
	}

	// A partition may go by the name of the table at the top.
	struct table_name {
		std::string_view schema;
		std::string_view table;
	};
	table_name name_of(const CpoRelationInfo &info) const;

	// Nothing is written of a change whose row cannot be told from others.
	static bool dropped(const CpoChange &change)
	{
		return change.act != CPO_INSERT && change.old_row == nullptr &&
			   !change.relation->has_identity();
	}
	static bool printed(const CpoRelation &relation, std::size_t column)
	{
		return relation.needed[column] && !relation.info.columns[column].generated_virtual;
	}
	static std::string_view keep(byte_buffer &text, std::pmr::memory_resource &arena);

	const wal2json_settings &own_; // the session's settings outlive the format
	text_mode mode_;

private:
	[[noreturn]] static void never();

	bool domains_looked_through_;
	bool wide_lsn_; // since PostgreSQL 19 the lower half has eight digits
};

pmr_ptr<format> make_wal2json_v1(std::pmr::memory_resource *, const settings &);
pmr_ptr<format> make_wal2json_v2(std::pmr::memory_resource *, const settings &);

} // namespace cpp_output
