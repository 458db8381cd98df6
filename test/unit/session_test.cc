// A session through the contract: which actions come of which events.
#include "core_harness.h"

namespace cpp_output
{
namespace
{

using namespace harness;

const options plain{{"include-transaction", "off"}};

options with(const options &some, const options &more)
{
	options all = some;
	all.insert(all.end(), more.begin(), more.end());
	return all;
}

std::string inserted(int id)
{
	return R"({"op":"insert","schema":"public","table":"t","new":{"id":)" + std::to_string(id) +
		   R"(,"v":null}})";
}

// --- complete transactions ---

TEST(session, complete_transaction)
{
	session s;
	table t;
	CpoRelation *relation = s.define(t);
	EXPECT_TRUE(s.begin(700));
	EXPECT_EQ(s.sent(), texts{}) << "the opening waits for a change";
	EXPECT_TRUE(s.insert(700, relation, {raw(1), out("a")}));
	EXPECT_TRUE(s.update(700, relation, {raw(1), out("b")}));
	EXPECT_TRUE(s.update(700, relation, {raw(1), null}, {raw(2), unchanged()}));
	EXPECT_TRUE(s.remove(700, relation, {raw(2), null}));
	EXPECT_TRUE(s.truncate(700, {relation}));
	EXPECT_TRUE(s.message(700, "p", "content"));
	EXPECT_TRUE(s.commit(700));
	EXPECT_EQ(s.sent(),
		(texts{R"({"op":"begin","xid":700,"lsn":"0/12BC","ts":"2000-01-01T00:11:40Z"})",
			R"({"op":"insert","schema":"public","table":"t","new":{"id":1,"v":"a"}})",
			R"({"op":"update","schema":"public","table":"t","key":{"id":1},"new":{"id":1,"v":"b"}})",
			R"({"op":"update","schema":"public","table":"t","key":{"id":1},"new":{"id":2},)"
			R"("unchanged":["v"]})",
			R"({"op":"delete","schema":"public","table":"t","key":{"id":2}})",
			R"({"op":"truncate","tables":[["public","t"]],"cascade":false,)"
			R"("restart_identity":false})",
			R"({"op":"message","prefix":"p","transactional":true,"content":"content"})",
			R"({"op":"commit","xid":700,"lsn":"1/2BC00","end_lsn":"1/2BC30",)"
			R"("ts":"2000-01-01T00:11:40Z"})"}));
	EXPECT_EQ(s.counters().transactions, 1U);
	EXPECT_EQ(s.counters().changes, 6U);
	EXPECT_EQ(s.counters().messages_out, 8U);
}

TEST(session, messages_say_where_they_belong)
{
	session s;
	table t;
	CpoRelation *relation = s.define(t);
	s.begin(700);
	s.insert(700, relation, {raw(1), null});
	const CpoLsn of_insert = s.lsn;
	s.commit(700);
	const auto messages = s.sent_messages();
	ASSERT_EQ(messages.size(), 3U);
	for (const sent_message &message : messages)
		EXPECT_EQ(message.xid, 700U);
	EXPECT_EQ(messages[0].lsn, of_insert)
		<< "a late opening has the LSN of the change it opens for";
	EXPECT_EQ(messages[1].lsn, of_insert);
	EXPECT_EQ(messages[2].lsn, session::facts(700).end_lsn);
}

TEST(session, empty_transactions_are_skipped)
{
	session s(options{{"exclude-tables", "public.t"}, {"message-prefixes", "wanted"}});
	table t;
	CpoRelation *relation = s.define(t);
	for (const CpoAct act : {CPO_INSERT, CPO_UPDATE, CPO_DELETE, CPO_TRUNCATE})
		EXPECT_FALSE(cpo_relation_wants(relation, act));
	s.begin(700);
	s.insert(700, relation, {raw(1), null});
	s.message(700, "unwanted", "x");
	const CpoPlace where = s.place(700);
	const CpoTransaction known = session::facts(700);
	ASSERT_EQ(cpo_commit(s.get(), &where, &known), CPO_OK);
	CpoAction action{};
	ASSERT_EQ(cpo_next(s.get(), &action), CPO_OK);
	EXPECT_EQ(action.kind, CPO_SKIPPED);
	ASSERT_EQ(cpo_next(s.get(), &action), CPO_OK);
	EXPECT_EQ(action.kind, CPO_DONE);
	EXPECT_EQ(s.counters().skipped_transactions, 1U);
	EXPECT_EQ(s.counters().transactions, 0U);

	s.begin(701);
	s.message(701, "wanted", "x");
	s.commit(701);
	EXPECT_EQ(s.sent().size(), 3U);
}

TEST(session, message_outside_of_transactions)
{
	session s(options{{"include-lsn", "on"}});
	s.message(0, "p", "x");
	EXPECT_EQ(s.sent(), (texts{R"({"op":"message","lsn":"0/10010","prefix":"p","transactional":)"
							   R"(false,"content":"x"})"}));
}

TEST(session, only_the_last_message_of_an_event_that_ends_a_transaction_is_flushed)
{
	session s;
	table t;
	CpoRelation *relation = s.define(t);
	s.begin(700);
	const row values{raw(1), null};
	ASSERT_EQ(s.raw_change(700, relation, CPO_INSERT, nullptr, &values), CPO_OK);
	CpoAction action{};
	int sends = 0;
	while (cpo_next(s.get(), &action) == CPO_OK && action.kind != CPO_DONE) {
		EXPECT_FALSE(action.flush);
		EXPECT_EQ(action.last, sends++ != 0) << "the opening is not the last write of its event";
	}
	EXPECT_EQ(sends, 2);
	const CpoPlace where = s.place(700);
	const CpoTransaction known = session::facts(700);
	ASSERT_EQ(cpo_commit(s.get(), &where, &known), CPO_OK);
	ASSERT_EQ(cpo_next(s.get(), &action), CPO_OK);
	EXPECT_TRUE(action.kind == CPO_SEND && action.flush && action.last);
}

TEST(session, one_warning_for_a_table_without_identity)
{
	session s(plain);
	table t;
	t.columns[0].in_identity = false;
	CpoRelation *relation = s.define(t);
	s.begin(700);
	s.insert(700, relation, {raw(1), null});
	EXPECT_TRUE(s.warnings().empty());
	s.update(700, relation, {raw(1), null});
	s.change(700, relation, CPO_DELETE, nullptr, nullptr);
	ASSERT_EQ(s.warnings().size(), 1U);
	EXPECT_NE(s.warnings()[0].find("public.t"), std::string::npos);
	relation = s.define(t); // DDL does not bring it back
	s.change(700, relation, CPO_DELETE, nullptr, nullptr);
	EXPECT_EQ(s.warnings().size(), 1U);
	s.commit(700);
	EXPECT_EQ(
		s.sent().back(), R"({"op":"delete","schema":"public","table":"t","no_identity":true})");
}

TEST(session, a_relation_is_described_again_after_ddl)
{
	session s(plain);
	table t;
	CpoRelation *relation = s.define(t);
	s.begin(700);
	s.insert(700, relation, {raw(1), null});
	t.columns[1].name = span("renamed");
	t.add("more", int4);
	EXPECT_EQ(s.define(t), relation) << "one handle for one oid";
	s.insert(700, relation, {raw(2), null, raw(3)});
	s.commit(700);
	EXPECT_EQ(s.sent(),
		(texts{inserted(1), R"({"op":"insert","schema":"public","table":"t","new":{"id":2,)"
							R"("renamed":null,"more":3}})"}));
	cpo_relation_drop(s.get(), relation);
	EXPECT_NE(s.define(t), nullptr);
}

TEST(session, excluded_columns_are_not_needed)
{
	session s(with(plain, {{"exclude-columns", "*.*.v"}}));
	table t;
	CpoRelation *relation = s.define(t);
	EXPECT_TRUE(cpo_relation_columns(relation)[0]);
	EXPECT_FALSE(cpo_relation_columns(relation)[1]);
	s.begin(700);
	s.insert(700, relation, {raw(1), out("secret")});
	EXPECT_EQ(s.sent(), (texts{R"({"op":"insert","schema":"public","table":"t","new":{"id":1}})"}));
}

TEST(session, unchanged_values_come_from_a_whole_old_row)
{
	session s(plain);
	table t;
	t.info.replica_identity = 'f';
	t.columns[0].in_identity = false;
	CpoRelation *relation = s.define(t);
	s.begin(700);
	s.update(700, relation, {raw(1), out("long")}, {raw(2), unchanged()});
	s.update(700, relation, {raw(1), unchanged()}, {raw(2), unchanged()});
	EXPECT_EQ(s.sent(),
		(texts{R"({"op":"update","schema":"public","table":"t","old":{"id":1,"v":"long"},)"
			   R"("new":{"id":2,"v":"long"}})",
			R"({"op":"update","schema":"public","table":"t","old":{"id":1},"new":{"id":2},)"
			R"("unchanged":["v"]})"}));
}

// --- prepared transactions ---

TEST(session, prepared_transaction)
{
	session s;
	table t;
	CpoRelation *relation = s.define(t);
	s.begin_prepare(700);
	s.insert(700, relation, {raw(1), null});
	s.prepare(700);
	s.commit_prepared(700);
	s.rollback_prepared(701);
	EXPECT_EQ(s.sent(),
		(texts{R"({"op":"begin","xid":700,"gid":"gid","lsn":"0/12BC","ts":"2000-01-01T00:11:40Z"})",
			inserted(1),
			R"({"op":"prepare","xid":700,"gid":"gid","lsn":"1/2BC00","end_lsn":"1/2BC30",)"
			R"("ts":"2000-01-01T00:11:40Z"})",
			R"({"op":"commit_prepared","xid":700,"gid":"gid","lsn":"1/2BC00","end_lsn":"1/2BC30",)"
			R"("ts":"2000-01-01T00:11:40Z"})",
			R"({"op":"rollback_prepared","xid":701,"gid":"gid","prepare_end_lsn":"0/0",)"
			R"("end_lsn":"1/2BD30","prepare_ts":"2000-01-01T00:00:00Z",)"
			R"("ts":"2000-01-01T00:11:41Z"})"}));
}

// What a COMMIT PREPARED is about was announced, however empty, in each way of streaming.
TEST(session, an_empty_prepared_transaction_is_announced)
{
	for (const char *streaming : {"off", "on", "reorder"}) {
		session s(options{{"streaming", streaming}});
		if (std::string_view(streaming) == "off") {
			s.begin_prepare(700);
			s.prepare(700);
		} else {
			s.stream_start(700);
			s.stream_stop(700);
			s.stream_prepare(700);
		}
		const texts sent = s.sent();
		ASSERT_FALSE(sent.empty()) << streaming;
		EXPECT_NE(sent.back().find("prepare\",\"xid\":700,\"gid\":\"gid\""), std::string::npos)
			<< streaming;
		EXPECT_EQ(s.counters().skipped_transactions, 0U);
	}
}

// --- streaming=on ---

TEST(session, streamed_transaction)
{
	session s(options{{"streaming", "on"}});
	table t;
	CpoRelation *relation = s.define(t);
	s.stream_start(700);
	s.insert(700, relation, {raw(1), null});
	s.stream_stop(700);
	s.stream_start(700);
	s.insert(700, relation, {raw(2), null}, 701);
	s.message(700, "p", "x");
	s.stream_stop(700);
	s.stream_abort(700, 701, 0x10040);
	s.stream_start(700); // nothing in it
	s.stream_stop(700);
	s.stream_commit(700);
	EXPECT_EQ(s.sent(),
		(texts{R"({"op":"stream_start","xid":700,"first":true})",
			R"({"op":"insert","xid":700,"schema":"public","table":"t","new":{"id":1,"v":null}})",
			R"({"op":"stream_stop","xid":700})", R"({"op":"stream_start","xid":700,"first":false})",
			R"({"op":"insert","xid":701,"schema":"public","table":"t","new":{"id":2,"v":null}})",
			R"({"op":"message","xid":700,"prefix":"p","transactional":true,"content":"x"})",
			R"({"op":"stream_stop","xid":700})", R"({"op":"stream_abort","xid":700,"subxid":701})",
			R"({"op":"stream_commit","xid":700,"lsn":"1/2BC00","end_lsn":"1/2BC30",)"
			R"("ts":"2000-01-01T00:11:40Z"})"}));
}

TEST(session, streamed_and_empty)
{
	session s(options{{"streaming", "on"}, {"tables", "x.y"}});
	table t;
	CpoRelation *relation = s.define(t);
	s.stream_start(700);
	s.insert(700, relation, {raw(1), null});
	s.stream_stop(700);
	s.stream_abort(700, 701, 0x10020);
	s.stream_commit(700);
	s.stream_start(702);
	s.stream_stop(702);
	s.stream_abort(702);
	EXPECT_EQ(s.sent(), texts{});
	EXPECT_EQ(s.counters().skipped_transactions, 1U);
}

TEST(session, interleaved_streams)
{
	session s(options{{"streaming", "on"}});
	table t;
	CpoRelation *relation = s.define(t);
	for (int block = 0; block < 2; ++block)
		for (const CpoXid xid : {700U, 800U}) {
			s.stream_start(xid);
			s.insert(xid, relation, {raw(block), null});
			s.stream_stop(xid);
		}
	s.begin(900);
	s.insert(900, relation, {raw(9), null});
	s.commit(900);
	s.stream_abort(700);
	s.stream_commit(800);
	std::string order;
	for (const sent_message &message : s.sent_messages()) {
		const std::size_t op = message.bytes.find("op\":\"") + 5;
		order += std::to_string(message.xid) + " " +
				 message.bytes.substr(op, message.bytes.find('"', op) - op) + "\n";
	}
	EXPECT_EQ(order, "700 stream_start\n700 insert\n700 stream_stop\n"
					 "800 stream_start\n800 insert\n800 stream_stop\n"
					 "700 stream_start\n700 insert\n700 stream_stop\n"
					 "800 stream_start\n800 insert\n800 stream_stop\n"
					 "900 begin\n900 insert\n900 commit\n"
					 "700 stream_abort\n800 stream_commit\n");
}

TEST(session, unknown_streams_end_quietly)
{
	for (const char *streaming : {"on", "reorder"}) {
		session s(options{{"streaming", streaming}});
		EXPECT_TRUE(s.stream_abort(700));
		EXPECT_TRUE(s.stream_abort(700, 701, 0x20000));
		EXPECT_TRUE(s.stream_stop(700));
		EXPECT_TRUE(s.stream_commit(700));
		EXPECT_TRUE(s.stream_prepare(700));
		EXPECT_EQ(s.sent(), texts{});
	}
}

// Under streaming=on and include-relations: what a rollback took back is described again.
TEST(session, relations_are_described_again_after_a_rollback)
{
	session s(options{{"streaming", "on"}, {"include-relations", "on"}});
	table t;
	CpoRelation *relation = s.define(t);
	const auto described = [&] {
		int count = 0;
		for (const std::string &one : s.sent())
			count += one.starts_with(R"({"op":"relation")") ? 1 : 0;
		return count;
	};
	s.stream_start(700);
	s.insert(700, relation, {raw(1), null}, 701);
	const CpoLsn first = s.lsn;
	s.insert(700, relation, {raw(2), null}, 701);
	s.stream_stop(700);
	EXPECT_EQ(described(), 1);
	s.stream_abort(700, 701, first);
	s.stream_start(700);
	s.insert(700, relation, {raw(3), null});
	s.insert(700, relation, {raw(4), null});
	s.stream_stop(700);
	s.stream_commit(700);
	EXPECT_EQ(described(), 1);
}

// --- streaming=reorder ---

// The same transaction sent in one piece and in several gives the same messages.
void play(session &s, bool streamed, int rows, std::size_t width)
{
	table t;
	CpoRelation *relation = s.define(t);
	const std::string long_text(width, 'x');
	const auto fill = [&](int from, int count, CpoXid subxid) {
		for (int i = 0; i < count; ++i)
			s.insert(700, relation, {raw(from + i), out(long_text)}, subxid);
	};
	const auto border = [&] {
		if (streamed) {
			s.stream_stop(700);
			s.stream_start(700);
		} else {
			s.lsn += 0x20;
		}
	};
	s.lsn = 0x10000;
	if (streamed) {
		s.stream_start(700);
	} else {
		s.begin(700);
		s.lsn += 0x10;
	}
	fill(0, rows, 700);
	border();
	s.message(700, "p", "ahead of a savepoint");
	const CpoLsn savepoint = s.lsn;
	if (streamed) {
		fill(1000, rows, 701);
		border();
		fill(2000, rows, 702); // nested, rolled back with 701
		s.stream_stop(700);
		s.stream_abort(700, 701, savepoint);
		s.stream_start(700);
	} else {
		s.lsn += CpoLsn{0x10} * static_cast<unsigned>(2 * rows + 5);
	}
	fill(3000, rows, 703);
	border();
	fill(4000, rows, 700);
	if (streamed) {
		s.stream_stop(700);
		s.stream_commit(700);
	} else {
		s.commit(700);
	}
}

class reordered : public testing::TestWithParam<options>
{
};

TEST_P(reordered, equals_complete)
{
	for (const auto &[rows, width] : {std::pair{1, 0}, {20, 10}, {60, 3000}, {3, 200'000}}) {
		session complete(with(GetParam(), {{"streaming", "off"}}));
		session in_pieces(with(GetParam(), {{"streaming", "reorder"}}));
		ASSERT_TRUE(complete.opened() && in_pieces.opened()) << in_pieces.error().message;
		play(complete, false, rows, static_cast<std::size_t>(width));
		play(in_pieces, true, rows, static_cast<std::size_t>(width));
		const auto expected = complete.sent_messages();
		const auto got = in_pieces.sent_messages();
		ASSERT_EQ(got.size(), expected.size());
		for (std::size_t i = 0; i < got.size(); ++i) {
			EXPECT_EQ(got[i].bytes, expected[i].bytes) << i;
			EXPECT_EQ(got[i].lsn, expected[i].lsn) << i;
			EXPECT_EQ(got[i].xid, expected[i].xid) << i;
		}
		EXPECT_TRUE(in_pieces.driver().files.empty()) << "no file is left";
		EXPECT_EQ(in_pieces.counters().logs, 0U);
		EXPECT_EQ(in_pieces.counters().memory_bytes, 0U);
		const bool large = rows * width > 100'000;
		EXPECT_EQ(in_pieces.counters().spilled_transactions != 0,
			large && GetParam().back().second == "64kB");
	}
}

INSTANTIATE_TEST_SUITE_P(session, reordered,
	testing::Values(options{{"reorder-work-mem", "64MB"}},
		options{{"spill-compression", "off"}, {"reorder-work-mem", "64kB"}},
		options{{"include-timestamp", "on"}, {"include-xids", "on"}, {"include-lsn", "on"},
			{"reorder-work-mem", "64kB"}},
		options{{"include-relations", "on"}, {"reorder-work-mem", "64kB"}},
		options{{"include-transaction", "off"}, {"reorder-work-mem", "64kB"}},
		options{{"format", "test_decoding"}, {"reorder-work-mem", "64kB"}},
		options{{"format", "test_decoding"}, {"skip-empty-xacts", "on"},
			{"include-timestamp", "on"}, {"reorder-work-mem", "64kB"}},
		options{{"format", "wal2json"}, {"include-timestamp", "on"}, {"include-lsn", "on"},
			{"reorder-work-mem", "64kB"}},
		options{{"format", "wal2json"}, {"format-version", "2"}, {"include-timestamp", "on"},
			{"include-lsn", "on"}, {"reorder-work-mem", "64kB"}}));

TEST(session, nothing_is_sent_before_the_commit)
{
	session s(options{{"streaming", "reorder"}});
	table t;
	CpoRelation *relation = s.define(t);
	s.stream_start(700);
	s.insert(700, relation, {raw(1), null});
	s.stream_stop(700);
	EXPECT_EQ(s.sent(), texts{});
	EXPECT_EQ(s.counters().logs, 1U);
	s.stream_commit(700);
	EXPECT_EQ(s.sent().size(), 3U);
}

TEST(session, an_aborted_log_is_gone_with_its_file)
{
	session s(options{{"streaming", "reorder"}, {"reorder-work-mem", "64kB"}});
	table t;
	CpoRelation *relation = s.define(t);
	const std::string long_text(100'000, 'x');
	s.stream_start(700);
	for (int i = 0; i < 5; ++i)
		s.insert(700, relation, {raw(i), out(long_text)});
	s.stream_stop(700);
	EXPECT_EQ(s.driver().files.size(), 1U);
	s.stream_abort(700);
	EXPECT_EQ(s.driver().files.size(), 0U);
	EXPECT_EQ(s.sent(), texts{});
	EXPECT_EQ(s.counters().discarded_transactions, 1U);
}

TEST(session, a_streamed_prepared_transaction_is_replayed_at_prepare)
{
	session s(options{{"streaming", "reorder"}});
	table t;
	CpoRelation *relation = s.define(t);
	s.stream_start(700);
	s.insert(700, relation, {raw(1), null});
	s.stream_stop(700);
	s.stream_prepare(700);
	const texts sent = s.sent();
	ASSERT_EQ(sent.size(), 3U);
	EXPECT_EQ(sent[1], inserted(1));
	EXPECT_TRUE(sent[0].starts_with(R"({"op":"begin","xid":700,"gid":"gid")")) << sent[0];
	EXPECT_TRUE(sent[2].starts_with(R"({"op":"prepare","xid":700,"gid":"gid")")) << sent[2];
	s.commit_prepared(700);
	EXPECT_EQ(s.sent().size(), 1U);
}

// What was prepared before a restart may be streamed again, and has no PREPARE any more.
TEST(session, a_log_is_gone_with_the_end_of_a_prepared_transaction)
{
	session s(options{{"streaming", "reorder"}, {"reorder-work-mem", "64kB"}});
	table t;
	CpoRelation *relation = s.define(t);
	const std::string long_text(100'000, 'x');
	for (const CpoXid xid : {700U, 701U}) {
		s.stream_start(xid);
		for (int i = 0; i < 5; ++i)
			s.insert(xid, relation, {raw(i), out(long_text)});
		s.stream_stop(xid);
	}
	EXPECT_EQ(s.driver().files.size(), 2U);
	s.commit_prepared(700);
	EXPECT_EQ(s.driver().files.size(), 1U);
	s.rollback_prepared(701);
	EXPECT_EQ(s.driver().files.size(), 0U);
	EXPECT_EQ(s.counters().logs, 0U);
	EXPECT_EQ(s.sent().size(), 2U);
}

TEST(session, interleaved_logs)
{
	session s(with(plain, {{"streaming", "reorder"}, {"reorder-work-mem", "64kB"}}));
	table t;
	CpoRelation *relation = s.define(t);
	const std::string long_text(5'000, 'x');
	for (int i = 0; i < 30; ++i)
		for (const CpoXid xid : {700U, 800U, 900U}) {
			s.stream_start(xid);
			s.insert(xid, relation, {raw(i), out(long_text)});
			s.stream_stop(xid);
		}
	EXPECT_GE(s.counters().spilled_transactions, 2U);
	EXPECT_LE(s.counters().memory_bytes, 64U << 10);
	s.stream_commit(800);
	EXPECT_EQ(s.sent().size(), 30U);
	s.stream_abort(900);
	s.stream_commit(700);
	EXPECT_EQ(s.sent().size(), 30U);
	EXPECT_TRUE(s.driver().files.empty());
}

TEST(session, the_commit_time_gets_into_each_message)
{
	session s(with(plain, {{"streaming", "reorder"}, {"include-timestamp", "on"}}));
	table t;
	CpoRelation *relation = s.define(t);
	s.stream_start(700);
	s.insert(700, relation, {raw(1), null});
	s.message(700, "p", "x");
	s.stream_stop(700);
	s.stream_commit(700);
	EXPECT_EQ(s.sent(),
		(texts{R"({"op":"insert","ts":"2000-01-01T00:11:40Z","schema":"public","table":"t",)"
			   R"("new":{"id":1,"v":null}})",
			R"({"op":"message","ts":"2000-01-01T00:11:40Z","prefix":"p","transactional":true,)"
			R"("content":"x"})"}));
}

// --- limits ---

CpoServer limited(std::uint64_t bytes)
{
	CpoServer server = session::default_server();
	server.message_limit = bytes;
	return server;
}

TEST(session, a_row_beyond_the_limit_is_an_error_that_names_it)
{
	for (const char *format : {"json", "test_decoding", "wal2json"})
		for (const char *streaming : {"off", "reorder"}) {
			const bool streamed = std::string_view(streaming) == "reorder";
			session s(options{{"format", format}, {"streaming", streaming}}, limited(1000));
			table t("some table");
			t.add("big", text);
			CpoRelation *relation = s.define(t);
			const std::string fits(100, 'x');
			const std::string too_long(1001, 'x');
			EXPECT_TRUE(streamed ? s.stream_start(700) : s.begin(700));
			EXPECT_TRUE(s.insert(700, relation, {raw(1), out(fits), out(fits)}));
			EXPECT_FALSE(s.insert(700, relation, {raw(2), out(fits), out(too_long)}));
			EXPECT_STREQ(s.error().sqlstate, "54000") << format;
			EXPECT_STREQ(s.error().message,
				"a row of table \"public.some table\" is too long for a "
				"message of logical decoding");
			EXPECT_STREQ(s.error().detail, "The message would pass 1000 bytes in column \"big\".")
				<< format;
			EXPECT_NE(
				std::string_view(s.error().hint).find("exclude-columns"), std::string_view::npos);
		}
}

TEST(session, a_message_beyond_the_limit_is_an_error)
{
	session s({}, limited(1000));
	s.begin(700);
	EXPECT_FALSE(s.message(700, "p", std::string(1001, 'x')));
	EXPECT_STREQ(s.error().sqlstate, "54000");
}

// Room that a writer asks for and then does not need counts, up to a piece of text.
TEST(session, just_within_the_limit)
{
	constexpr std::size_t slack = 16'000;
	table t;
	for (const std::size_t length : {100'000U, 300'000U}) {
		const std::string value(length, 'x');
		for (const bool enough : {true, false}) {
			session s(plain, limited(enough ? length + slack : length));
			CpoRelation *relation = s.define(t);
			s.begin(700);
			EXPECT_EQ(s.insert(700, relation, {raw(1), out(value)}), enough);
		}
	}
}

// A document of several pieces that grows beyond the limit goes on in another message.
TEST(session, a_document_beyond_the_limit_is_split)
{
	for (const char *streaming : {"off", "reorder"}) {
		const bool streamed = std::string_view(streaming) == "reorder";
		session s(options{{"format", "wal2json"}, {"streaming", streaming}}, limited(100'000));
		table t;
		CpoRelation *relation = s.define(t);
		const std::string value(30'000, 'x');
		streamed ? s.stream_start(700) : s.begin(700);
		for (int i = 0; i < 10; ++i)
			ASSERT_TRUE(s.insert(700, relation, {raw(i), out(value)}));
		if (streamed)
			s.stream_stop(700);
		streamed ? s.stream_commit(700) : s.commit(700);
		std::string all;
		const texts sent = s.sent();
		EXPECT_GT(sent.size(), 1U);
		for (const std::string &one : sent) {
			EXPECT_LE(one.size(), 100'000U);
			all += one;
		}
		session whole(options{{"format", "wal2json"}});
		relation = whole.define(t);
		whole.begin(700);
		for (int i = 0; i < 10; ++i)
			whole.insert(700, relation, {raw(i), out(value)});
		whole.commit(700);
		EXPECT_EQ(all, whole.sent().at(0)) << streaming;
	}
}

// --- actions that are left ---

// The shell leaves the loop by a longjmp, and the server goes on with another transaction.
TEST(session, abandoned_actions_are_dropped)
{
	session s;
	table t;
	CpoRelation *relation = s.define(t);
	const row values{raw(1), null};
	s.begin(700);
	CpoAction action{};
	ASSERT_EQ(s.raw_change(700, relation, CPO_INSERT, nullptr, &values), CPO_OK);
	ASSERT_EQ(cpo_next(s.get(), &action), CPO_OK); // the opening, which is not sent
	ASSERT_EQ(action.kind, CPO_SEND);
	s.begin(701);
	s.insert(701, relation, {raw(2), null});
	s.commit(701);
	const texts sent = s.sent();
	ASSERT_EQ(sent.size(), 3U);
	EXPECT_EQ(sent[1], inserted(2));
}

TEST(session, an_event_that_never_asked_for_actions_is_dropped)
{
	session s(plain);
	table t;
	CpoRelation *relation = s.define(t);
	const row values{raw(1), null};
	s.begin(700);
	ASSERT_EQ(s.raw_change(700, relation, CPO_INSERT, nullptr, &values), CPO_OK);
	s.insert(700, relation, {raw(2), null});
	EXPECT_EQ(s.sent(), (texts{inserted(2)}));
}

// In a block whose transaction turns out aborted, the next event may be anything.
TEST(session, a_block_may_end_anywhere)
{
	for (const char *streaming : {"on", "reorder"}) {
		session s(options{{"streaming", streaming}});
		table t;
		CpoRelation *relation = s.define(t);
		const row values{raw(1), null};
		s.stream_start(700);
		s.insert(700, relation, {raw(1), null});
		ASSERT_EQ(s.raw_change(700, relation, CPO_INSERT, nullptr, &values), CPO_OK);
		s.stream_stop(700);
		s.stream_abort(700);
		s.sent();
		s.begin(800);
		s.insert(800, relation, {raw(8), null});
		s.commit(800);
		const texts sent = s.sent();
		ASSERT_EQ(sent.size(), 3U) << streaming;
		EXPECT_EQ(sent[1], inserted(8));
	}
}

TEST(session, an_abandoned_replay_is_dropped)
{
	for (const bool spilled : {false, true}) {
		session s(with(
			plain, {{"streaming", "reorder"}, {"reorder-work-mem", spilled ? "64kB" : "64MB"}}));
		table t;
		CpoRelation *relation = s.define(t);
		const std::string long_text(50'000, 'x');
		for (int times = 0; times < 3; ++times) {
			s.stream_start(700);
			for (int i = 0; i < 10; ++i)
				s.insert(700, relation, {raw(i), out(long_text)});
			s.stream_stop(700);
			const CpoPlace where = s.place(700);
			const CpoTransaction known = session::facts(700);
			ASSERT_EQ(cpo_stream_commit(s.get(), &where, &known), CPO_OK);
			CpoAction action{};
			for (int i = 0; i < (spilled ? 1 : 1 + times); ++i)
				ASSERT_EQ(cpo_next(s.get(), &action), CPO_OK);
			EXPECT_EQ(action.kind, spilled ? CPO_SPILL_READ : CPO_SEND);
			s.begin(800);
			s.insert(800, relation, {raw(8), null});
			s.commit(800);
			EXPECT_EQ(s.sent(), (texts{inserted(8)}));
		}
		s.stream_start(900);
		s.insert(900, relation, {raw(9), null});
		s.stream_stop(900);
		s.stream_commit(900);
		EXPECT_EQ(s.sent(), (texts{inserted(9)}));
		EXPECT_EQ(s.counters().logs, 0U);
		EXPECT_TRUE(s.driver().files.empty());
	}
}

TEST(session, an_abandoned_piece_leaves_no_message_open)
{
	session s(options{{"format", "wal2json"}});
	table t;
	CpoRelation *relation = s.define(t);
	const row values{raw(1), null};
	s.begin(700);
	CpoAction action{};
	ASSERT_EQ(s.raw_change(700, relation, CPO_INSERT, nullptr, &values), CPO_OK);
	ASSERT_EQ(cpo_next(s.get(), &action), CPO_OK);
	ASSERT_TRUE(action.kind == CPO_SEND && action.more);
	const CpoPlace where = s.place(701);
	const CpoTransaction known = session::facts(701);
	ASSERT_EQ(cpo_begin(s.get(), &where, &known), CPO_OK);
	ASSERT_EQ(cpo_next(s.get(), &action), CPO_OK);
	EXPECT_TRUE(action.kind == CPO_SEND && !action.continues);
}

} // namespace
} // namespace cpp_output
