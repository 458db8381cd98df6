// A session of the core for tests: tables by a line, events by a line, and what was sent as text.
#pragma once

#include "core_driver.h"

#include <gtest/gtest.h>

#include <deque>
#include <initializer_list>
#include <optional>

namespace cpp_output::harness
{

using driver::core_driver;
using driver::memory_hooks;
using driver::sent_message;
using driver::span;

using options = std::vector<core_driver::option>;
using texts = std::vector<std::string>;

// --- types ---

constexpr CpoType type(CpoOid oid, CpoKind kind, std::int16_t length = -1, char align = 'i')
{
	return {oid, kind, length, align, ',', nullptr, 0, nullptr};
}
constexpr CpoType array_of(CpoOid oid, const CpoType &element)
{
	return {oid, CPO_ARRAY, -1, 'i', ',', &element, 0, nullptr};
}

inline constexpr CpoType int4 = type(23, CPO_INTEGER, 4);
inline constexpr CpoType text = type(25, CPO_STRING);

// --- values ---

constexpr CpoValue null{};

inline CpoValue raw(std::int64_t number)
{
	CpoValue value{};
	value.integer = number;
	value.form = CPO_RAW;
	return value;
}
inline CpoValue bytes(std::string_view data, CpoForm form)
{
	CpoValue value{};
	value.data = data.data();
	value.len = static_cast<std::uint32_t>(data.size());
	value.form = static_cast<std::uint8_t>(form);
	return value;
}
// What an output function gave. The text must live on.
inline CpoValue out(std::string_view text)
{
	return bytes(text, CPO_TEXT);
}
inline CpoValue raw(std::string_view data)
{
	return bytes(data, CPO_RAW);
}
inline CpoValue unchanged()
{
	return bytes({}, CPO_UNCHANGED);
}

using row = std::vector<CpoValue>;

// --- tables ---

// By default `public.t (id integer primary key, v text)`; tests change what they need.
class table
{
public:
	explicit table(std::string_view name = "t", CpoOid oid = 16384) : name_(name)
	{
		info.oid = oid;
		info.schema = span("public");
		info.replica_identity = 'd';
		add("id", int4).in_identity = true;
		columns[0].in_primary_key = columns[0].not_null = true;
		add("v", text);
	}

	CpoColumn &add(std::string_view name, const CpoType &type, std::string_view type_name = "")
	{
		CpoColumn &column = columns.emplace_back();
		column.name = column.quoted_name = span(name);
		column.position = static_cast<int>(columns.size());
		column.type_oid = column.base_oid = type.oid;
		column.typmod = -1;
		if (type_name.empty())
			type_name = type.oid == int4.oid ? "integer" : "text";
		column.type_name = column.typmod_name = column.catalog_name = span(type_name);
		column.base_typmod_name = column.base_catalog_name = span(type_name);
		column.type = &type;
		return column;
	}

	const CpoRelationInfo &described()
	{
		quoted_ = "public." + name_;
		info.name = span(name_);
		info.quoted_name = span(quoted_);
		info.ncolumns = columns.size();
		info.columns = columns.data();
		info.has_primary_key = info.ncolumns != 0 && columns[0].in_primary_key;
		return info;
	}

	CpoRelationInfo info{};
	std::vector<CpoColumn> columns;

private:
	std::string name_;
	std::string quoted_;
};

// --- sessions ---

/*
 * Events have LSNs that grow by 0x10, but for those that begin and end a transaction, which have
 * the ones that the server gives them. What they send is kept until sent() or sent_messages().
 */
class session
{
public:
	explicit session(const options &given = {}, const CpoServer &server = default_server())
		: driver_(memory_)
	{
		driver_.open(server, given);
	}

	static CpoServer default_server()
	{
		CpoServer server{};
		server.version_num = 170000;
		server.plugin_name = span("cpp_output");
		return server;
	}

	bool opened() const { return driver_.session != nullptr; }
	CpoSession *get() { return driver_.session; }
	core_driver &driver() { return driver_; }
	const CpoConfig &config() { return *cpo_config(get()); }
	const CpoCounters &counters() { return *cpo_counters(get()); }
	const CpoError &error() const { return driver_.error; }
	const texts &warnings() const { return driver_.warnings; }

	CpoRelation *define(table &t)
	{
		CpoRelation *relation = nullptr;
		EXPECT_EQ(cpo_relation_define(get(), &t.described(), &relation), CPO_OK);
		return relation;
	}

	// Facts of a transaction as they are at its end.
	static CpoTransaction facts(CpoXid xid)
	{
		CpoTransaction known{};
		known.xid = xid;
		known.first_lsn = 0x1000 + CpoLsn{xid};
		known.final_lsn = 0x100000000 + CpoLsn{xid} * 0x100;
		known.end_lsn = known.final_lsn + 0x30;
		known.commit_time = CpoTime{xid} * 1'000'000;
		known.gid = span("gid");
		return known;
	}
	// The same while it is in progress.
	static CpoTransaction early_facts(CpoXid xid)
	{
		CpoTransaction known{};
		known.xid = xid;
		known.first_lsn = facts(xid).first_lsn;
		return known;
	}

	CpoPlace place(CpoXid xid, CpoXid subxid = 0)
	{
		lsn += 0x10;
		return {lsn, xid, subxid == 0 ? xid : subxid};
	}

	bool begin(CpoXid xid) { return event(xid, cpo_begin, facts(xid).first_lsn); }
	bool begin_prepare(CpoXid xid) { return event(xid, cpo_begin_prepare, facts(xid).first_lsn); }
	bool commit(CpoXid xid) { return event(xid, cpo_commit); }
	bool prepare(CpoXid xid) { return event(xid, cpo_prepare); }
	bool commit_prepared(CpoXid xid) { return event(xid, cpo_commit_prepared); }
	bool rollback_prepared(CpoXid xid) { return event(xid, cpo_rollback_prepared); }
	bool stream_commit(CpoXid xid) { return event(xid, cpo_stream_commit); }
	bool stream_prepare(CpoXid xid) { return event(xid, cpo_stream_prepare); }

	bool stream_start(CpoXid xid)
	{
		const CpoPlace where = place(xid);
		const CpoTransaction known = early_facts(xid);
		return driver_.drain(cpo_stream_start(get(), &where, &known));
	}
	bool stream_stop(CpoXid xid)
	{
		const CpoPlace where = place(xid);
		return driver_.drain(cpo_stream_stop(get(), &where));
	}
	bool stream_abort(CpoXid xid, CpoXid subxid, CpoLsn first_lsn)
	{
		const CpoPlace where = place(xid);
		return driver_.drain(cpo_stream_abort(get(), &where, xid, subxid, first_lsn));
	}
	bool stream_abort(CpoXid xid) { return stream_abort(xid, xid, facts(xid).first_lsn); }

	bool insert(CpoXid xid, CpoRelation *relation, const row &values, CpoXid subxid = 0)
	{
		return change(xid, relation, CPO_INSERT, nullptr, &values, subxid);
	}
	bool update(CpoXid xid, CpoRelation *relation, const row &values)
	{
		return change(xid, relation, CPO_UPDATE, nullptr, &values);
	}
	bool update(CpoXid xid, CpoRelation *relation, const row &before, const row &values)
	{
		return change(xid, relation, CPO_UPDATE, &before, &values);
	}
	bool remove(CpoXid xid, CpoRelation *relation, const row &before)
	{
		return change(xid, relation, CPO_DELETE, &before, nullptr);
	}
	bool change(CpoXid xid, CpoRelation *relation, CpoAct act, const row *before, const row *after,
		CpoXid subxid = 0)
	{
		return driver_.drain(raw_change(xid, relation, act, before, after, subxid));
	}
	// The event alone; its actions are still to be done.
	CpoStatus raw_change(CpoXid xid, CpoRelation *relation, CpoAct act, const row *before,
		const row *after, CpoXid subxid = 0)
	{
		CpoChange made{};
		made.place = place(xid, subxid);
		made.relation = relation;
		made.act = act;
		made.old_row = before == nullptr ? nullptr : before->data();
		made.new_row = after == nullptr ? nullptr : after->data();
		return cpo_change(get(), &made);
	}
	bool truncate(CpoXid xid, std::initializer_list<CpoRelation *> relations)
	{
		CpoTruncation made{};
		made.place = place(xid);
		made.nrelations = relations.size();
		made.relations = relations.begin();
		return driver_.drain(cpo_truncate(get(), &made));
	}
	bool message(CpoXid xid, std::string_view prefix, std::string_view content)
	{
		CpoMessage made{};
		made.place = place(xid);
		made.transactional = xid != 0;
		made.valid_text = true;
		made.prefix = span(prefix);
		made.content = span(content);
		return driver_.drain(cpo_message(get(), &made));
	}

	// What was sent since the last call.
	texts sent()
	{
		texts all;
		for (const sent_message &message : std::exchange(driver_.messages, {}))
			all.push_back(message.bytes);
		return all;
	}
	std::vector<sent_message> sent_messages() { return std::exchange(driver_.messages, {}); }

	CpoLsn lsn = 0x10000;

private:
	using transaction_event = CpoStatus (*)(
		CpoSession *, const CpoPlace *, const CpoTransaction *) noexcept;

	bool event(CpoXid xid, transaction_event what) { return event(xid, what, facts(xid).end_lsn); }
	bool event(CpoXid xid, transaction_event what, CpoLsn at)
	{
		const CpoPlace where{at, xid, xid};
		const CpoTransaction known = facts(xid);
		return driver_.drain(what(get(), &where, &known));
	}

	memory_hooks memory_;
	core_driver driver_;
};

// The error of opening a session; fails the test where there is none.
inline CpoError refused(const options &given, const CpoServer &server = session::default_server())
{
	session s(given, server);
	EXPECT_FALSE(s.opened());
	return s.error();
}

} // namespace cpp_output::harness
