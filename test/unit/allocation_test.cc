// Lets each allocation of the core fail in turn, over a workload that goes everywhere.
#include "core_driver.h"
#include "stride.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace cpp_output
{
namespace
{

using driver::core_driver;
using driver::memory_hooks;
using driver::span;
using options = std::vector<core_driver::option>;

// What a table of every kind of column looks like.
class table
{
public:
	explicit table(CpoOid oid, std::string_view name) : name_(name)
	{
		const CpoKind kinds[] = {CPO_INTEGER, CPO_STRING, CPO_NUMERIC, CPO_JSON, CPO_BYTEA,
			CPO_TIMESTAMPTZ, CPO_UUID, CPO_OTHER, CPO_ARRAY, CPO_COMPOSITE};
		integer_ = {23, CPO_INTEGER, 4, 'i', ',', nullptr, 0, nullptr};
		text_ = {25, CPO_STRING, -1, 'i', ',', nullptr, 0, nullptr};
		fields_ = {CpoField{span("left"), &integer_}, CpoField{span("right"), &text_}};
		for (std::size_t i = 0; i < std::size(kinds); ++i) {
			CpoType &type = types_[i];
			type = {static_cast<CpoOid>(100 + i), kinds[i], -1, 'i', ',', nullptr, 0, nullptr};
			if (kinds[i] == CPO_ARRAY)
				type.element = &text_;
			if (kinds[i] == CPO_COMPOSITE) {
				type.nfields = fields_.size();
				type.fields = fields_.data();
			}
			CpoColumn &column = columns_[i];
			column = {};
			column.name = column.quoted_name = span(names[i]);
			column.position = static_cast<int>(i) + 1;
			column.type_oid = column.base_oid = type.oid;
			column.typmod = -1;
			column.type_name = column.typmod_name = column.catalog_name = span("some_type");
			column.base_typmod_name = column.base_catalog_name = span("some_type");
			column.type = &type;
			column.default_expr = span("'x'::text");
			column.in_identity = column.in_primary_key = column.not_null = i == 0;
		}
		info_ = {};
		info_.oid = oid;
		info_.schema = span("public");
		info_.name = span(name_);
		info_.quoted_name = span("public.some_table");
		info_.replica_identity = 'd';
		info_.has_primary_key = true;
		info_.ncolumns = columns_.size();
		info_.columns = columns_.data();
	}

	CpoRelationInfo &info() { return info_; }
	void without_key()
	{
		columns_[0].in_identity = columns_[0].in_primary_key = info_.has_primary_key = false;
	}

private:
	static constexpr std::array<std::string_view, 10> names = {
		"id", "t", "n", "j", "b", "z", "u", "o", "a", "c"};
	std::string name_;
	CpoType integer_{};
	CpoType text_{};
	std::array<CpoField, 2> fields_{};
	std::array<CpoType, 10> types_{};
	std::array<CpoColumn, 10> columns_{};
	CpoRelationInfo info_{};
};

CpoValue text(std::string_view bytes)
{
	CpoValue value{};
	value.data = bytes.data();
	value.len = static_cast<std::uint32_t>(bytes.size());
	value.form = CPO_TEXT;
	return value;
}

CpoValue number(std::int64_t integer)
{
	CpoValue value{};
	value.integer = integer;
	value.form = CPO_RAW;
	return value;
}

// Makes the events of the workload, and stops at the first that fails.
class workload
{
public:
	explicit workload(core_driver &core) : core_(core) {}

	// Not for a format that knows no prepared transactions.
	void without_prepared() { with_prepared_ = false; }

	bool run()
	{
		return define() && complete() && streamed() && prepared() && bystanders() &&
			   many_relations();
	}

private:
	CpoPlace place(CpoXid xid) { return {++lsn_, xid, xid}; }

	CpoTransaction facts(CpoXid xid)
	{
		CpoTransaction txn{};
		txn.xid = xid;
		txn.first_lsn = lsn_;
		txn.final_lsn = txn.end_lsn = lsn_ + 1;
		txn.origin_id = 1;
		txn.origin_name = span("an origin with a name of more than a few bytes");
		txn.gid = span("a gid that is too long for a short string");
		return txn;
	}

	bool define()
	{
		for (table *one : {&first_, &second_}) {
			CpoRelation *relation = nullptr;
			if (cpo_relation_define(core_.session, &one->info(), &relation) != CPO_OK)
				return core_.drain(CPO_FAILED);
			relations_.push_back(relation);
		}
		// anew, as after an ALTER TABLE
		CpoRelation *again = nullptr;
		if (cpo_relation_define(core_.session, &first_.info(), &again) != CPO_OK)
			return core_.drain(CPO_FAILED);
		EXPECT_EQ(again, relations_[0]);
		return true;
	}

	bool change(CpoXid xid, CpoAct act, std::size_t relation = 0)
	{
		const std::array<CpoValue, 10> row = {number(lsn_ & 0xffff), text(large_), text("1.50"),
			text(R"({"k": [1]})"), text("\\x0a0b"), text("2026-11-29 12:00:00+00"),
			text("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), text("some text"),
			text(R"({a,"b\"c",NULL})"), text(R"((1,"x""y"))")};
		CpoChange event{};
		event.place = place(xid);
		event.relation = relations_[relation];
		event.act = act;
		event.new_row = act == CPO_DELETE ? nullptr : row.data();
		event.old_row = act == CPO_DELETE && relation == 0 ? row.data() : nullptr;
		return core_.drain(cpo_change(core_.session, &event));
	}

	bool message(CpoXid xid, bool transactional)
	{
		CpoMessage event{};
		event.place = place(transactional ? xid : 0);
		event.message_lsn = event.place.lsn;
		event.transactional = transactional;
		event.valid_text = true;
		event.prefix = span("prefix");
		event.content = span(large_);
		return core_.drain(cpo_message(core_.session, &event));
	}

	bool truncate(CpoXid xid)
	{
		CpoTruncation event{};
		event.place = place(xid);
		event.nrelations = relations_.size();
		event.relations = relations_.data();
		return core_.drain(cpo_truncate(core_.session, &event));
	}

	using transaction_call = CpoStatus (*)(CpoSession *, const CpoPlace *, const CpoTransaction *);
	bool transaction(transaction_call call, CpoXid xid)
	{
		const CpoPlace at = place(xid);
		const CpoTransaction txn = facts(xid);
		return core_.drain(call(core_.session, &at, &txn));
	}
	bool stop(CpoXid xid)
	{
		const CpoPlace at = place(xid);
		return core_.drain(cpo_stream_stop(core_.session, &at));
	}
	bool abort(CpoXid xid, CpoXid subxid, CpoLsn from)
	{
		const CpoPlace at = place(xid);
		return core_.drain(cpo_stream_abort(core_.session, &at, xid, subxid, from));
	}

	bool changes(CpoXid xid, int n)
	{
		for (int i = 0; i < n; ++i)
			if (!change(xid, i % 3 == 0 ? CPO_UPDATE : i % 3 == 1 ? CPO_INSERT : CPO_DELETE, i % 2))
				return false;
		return true;
	}

	bool complete()
	{
		return transaction(cpo_begin, 10) && changes(10, 7) && message(10, true) && truncate(10) &&
			   transaction(cpo_commit, 10) && message(0, false);
	}

	bool block(CpoXid xid, int n)
	{
		return transaction(cpo_stream_start, xid) && changes(xid, n) && message(xid, true) &&
			   truncate(xid) && stop(xid);
	}

	// More than memory holds, in two transactions at a time, with a subtransaction rolled back.
	bool streamed()
	{
		if (!block(20, 25) || !block(21, 25))
			return false;
		const CpoLsn sub = lsn_ + 1;
		return block(20, 25) && abort(20, 22, sub) && block(21, 25) && block(20, 3) &&
			   transaction(cpo_stream_commit, 20) && block(21, 1) && abort(21, 21, 1) &&
			   abort(99, 99, 1);
	}

	bool prepared()
	{
		return !with_prepared_ ||
			   (transaction(cpo_begin_prepare, 30) && changes(30, 3) &&
				   transaction(cpo_prepare, 30) && transaction(cpo_commit_prepared, 30) &&
				   block(31, 40) && transaction(cpo_stream_prepare, 31) &&
				   transaction(cpo_rollback_prepared, 31));
	}

	bool bystanders()
	{
		cpo_relation_drop(core_.session, relations_[1]);
		relations_.pop_back();
		second_.without_key();
		return define() && transaction(cpo_begin, 40) && change(40, CPO_DELETE, 2) &&
			   transaction(cpo_commit, 40);
	}

	bool many_relations()
	{
		for (CpoOid oid = 1000; oid < 1040; ++oid) {
			first_.info().oid = oid;
			CpoRelation *relation = nullptr;
			if (cpo_relation_define(core_.session, &first_.info(), &relation) != CPO_OK)
				return core_.drain(CPO_FAILED);
		}
		return true;
	}

	core_driver &core_;
	bool with_prepared_ = true;
	table first_{1, "first"};
	table second_{2, "second"};
	std::vector<CpoRelation *> relations_;
	std::string large_ = std::string(2000, 'x') + "\"\n\xc3\xa9";
	CpoLsn lsn_ = 1000;
};

CpoServer server_of(bool ascii_only)
{
	CpoServer server{};
	server.version_num = 150020;
	server.plugin_name = span("cpp_output");
	server.ascii_only = ascii_only;
	return server;
}

// The number of allocations of a run in which none fails.
std::uint64_t run(const options &given, bool ascii_only, memory_hooks &memory,
	std::vector<driver::sent_message> *messages = nullptr)
{
	core_driver core(memory);
	workload events(core);
	if (std::find(given.begin(), given.end(), core_driver::option{"format", "wal2json"}) !=
		given.end())
		events.without_prepared();
	if (core.open(server_of(ascii_only), given) && events.run()) {
		EXPECT_TRUE(core.files.empty());
		EXPECT_EQ(cpo_counters(core.session)->logs, 0u);
		if (messages != nullptr)
			*messages = core.messages;
		return memory.allocations;
	}
	EXPECT_STREQ(core.error.sqlstate, "53200") << core.error.message;
	return 0;
}

void fail_each(const options &given, bool ascii_only = false)
{
	std::vector<driver::sent_message> expected;
	memory_hooks free;
	const std::uint64_t all = run(given, ascii_only, free, &expected);
	ASSERT_GT(all, 10u) << "the workload fails without help";
	ASSERT_GT(expected.size(), 3u);
	ASSERT_EQ(free.in_use, 0u);
	std::uint64_t refused = 0;
	for (const bool ever_after : {false, true})
		for (std::uint64_t n = 1; n <= all; n += test::stride()) {
			memory_hooks memory;
			memory.fail_at = n;
			memory.fail_ever_after = ever_after;
			std::vector<driver::sent_message> got;
			if (run(given, ascii_only, memory, &got) == 0)
				++refused;
			else
				ASSERT_EQ(got, expected) << "allocation " << n << " was done without";
			ASSERT_EQ(memory.in_use, 0u) << "a leak after allocation " << n;
			ASSERT_FALSE(memory.mismatch) << "a wrong size was released after allocation " << n;
		}
	EXPECT_GT(refused * test::stride(), all);
}

const options reorder = {
	{"streaming", "reorder"}, {"reorder-work-mem", "64kB"}, {"spill-compression", "off"}};

options with(options first, const options &more)
{
	first.insert(first.end(), more.begin(), more.end());
	return first;
}

TEST(allocation, json)
{
	fail_each(with(reorder,
		{{"format", "json"}, {"include-relations", "on"}, {"include-timestamp", "on"},
			{"include-origin", "on"}, {"include-xids", "on"}, {"include-lsn", "on"},
			{"tables", R"(public.first, "public".sec*, "other""one".?)"},
			{"exclude-columns", "*.*.nothing, public.first.u"}, {"exclude-origins", "a,b*,c"},
			{"message-prefixes", "prefix, other"}, {"actions", "insert,update,delete,truncate"}}));
}

TEST(allocation, json_ascii)
{
	fail_each(with(reorder, {{"format", "json"}}), true);
}

TEST(allocation, json_compressed)
{
	fail_each({{"spill-compression", "lz4"}, {"reorder-work-mem", "64kB"}});
}

TEST(allocation, json_streamed)
{
	fail_each({{"format", "json"}, {"streaming", "on"}, {"include-relations", "on"}});
}

TEST(allocation, test_decoding)
{
	fail_each(with(reorder, {{"format", "test_decoding"}, {"include-timestamp", "on"}}));
}

TEST(allocation, wal2json)
{
	fail_each(
		with(reorder, {{"format", "wal2json"}, {"include-pk", "on"}, {"include-default", "on"}}));
	fail_each(
		with(reorder, {{"format", "wal2json"}, {"format-version", "2"}, {"include-timestamp", "on"},
						  {"add-tables", "public.first,public.second"}}));
}

// Files are used, and so the tests above have something to test.
TEST(allocation, workload_spills)
{
	memory_hooks memory;
	core_driver core(memory);
	ASSERT_TRUE(core.open(server_of(false), reorder));
	ASSERT_TRUE(workload(core).run()) << core.error.message;
	EXPECT_GT(cpo_counters(core.session)->spill_writes, 2u);
	EXPECT_GT(core.reads, 2u);
	EXPECT_EQ(core.warnings.size(), 1u);
	EXPECT_EQ(cpo_counters(core.session)->discarded_subtransactions, 1u);
}

TEST(allocation, wrong_options)
{
	for (const options &given : {options{{"tables", "a.b,c"}}, options{{"nosuch", "x"}},
			 options{{"tables", "a.b"}, {"format", "nosuch"}}}) {
		std::uint64_t refused = 0;
		for (std::uint64_t n = 0; n < 100; ++n) {
			memory_hooks memory;
			memory.fail_at = n;
			core_driver core(memory);
			ASSERT_FALSE(core.open(server_of(false), given));
			const std::string state = core.error.sqlstate;
			ASSERT_TRUE(state == "22023" || (n != 0 && state == "53200")) << core.error.message;
			refused += state == "53200" ? 1 : 0;
			ASSERT_EQ(memory.in_use, 0u);
		}
		EXPECT_GT(refused, 0u);
	}
}

} // namespace
} // namespace cpp_output
