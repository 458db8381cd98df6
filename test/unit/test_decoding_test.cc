// Format test_decoding through the contract, as the peer prints it.
#include "core_harness.h"

namespace cpp_output
{
namespace
{

using namespace harness;

options peer(const options &more = {})
{
	options all{{"format", "test_decoding"}};
	all.insert(all.end(), more.begin(), more.end());
	return all;
}

std::string inserted(const CpoType &type, std::string_view type_name, const CpoValue &value)
{
	session s(peer(options{{"skip-empty-xacts", "on"}}));
	table t;
	t.columns.clear();
	t.add("c", type, type_name);
	CpoRelation *relation = s.define(t);
	s.begin(700);
	s.insert(700, relation, {value});
	const std::string line = s.sent().at(1);
	const std::string prefix = "table public.t: INSERT: c[" + std::string(type_name) + "]:";
	EXPECT_TRUE(line.starts_with(prefix)) << line;
	return line.substr(prefix.size());
}

TEST(test_decoding, transaction)
{
	session s(peer());
	table t;
	CpoRelation *relation = s.define(t);
	s.begin(700);
	s.insert(700, relation, {raw(1), raw("it's")});
	s.update(700, relation, {raw(1), null});
	s.update(700, relation, {raw(1), null}, {raw(2), unchanged()});
	s.remove(700, relation, {raw(2), null});
	s.change(700, relation, CPO_DELETE, nullptr, nullptr);
	s.truncate(700, {relation});
	s.message(700, "p", "content");
	s.commit(700);
	EXPECT_EQ(s.sent(),
		(texts{"BEGIN 700", "table public.t: INSERT: id[integer]:1 v[text]:'it''s'",
			"table public.t: UPDATE: id[integer]:1 v[text]:null",
			"table public.t: UPDATE: old-key: id[integer]:1 new-tuple: id[integer]:2 "
			"v[text]:unchanged-toast-datum",
			"table public.t: DELETE: id[integer]:2", "table public.t: DELETE: (no-tuple-data)",
			"table public.t: TRUNCATE: (no-flags)",
			"message: transactional: 1 prefix: p, sz: 7 content:content", "COMMIT 700"}));
	EXPECT_TRUE(s.warnings().empty()) << "the peer has none";
}

TEST(test_decoding, values)
{
	const CpoType int8 = type(20, CPO_BIGINT, 8);
	const CpoType float8 = type(701, CPO_FLOAT, 8);
	const CpoType boolean = type(16, CPO_BOOL, 1);
	const CpoType bit = type(1560, CPO_BIT);
	const CpoType varbit = type(1562, CPO_BIT);
	const CpoType bytea = type(17, CPO_BYTEA);
	const CpoType timestamptz = type(1184, CPO_TIMESTAMPTZ, 8);
	const CpoType point = type(600, CPO_OTHER, 16);
	EXPECT_EQ(inserted(int4, "integer", raw(-1)), "-1");
	EXPECT_EQ(inserted(int8, "bigint", out("42")), "42");
	EXPECT_EQ(inserted(float8, "double precision", out("NaN")), "NaN") << "unquoted, as the peer";
	EXPECT_EQ(inserted(boolean, "boolean", raw(1)), "true");
	EXPECT_EQ(inserted(boolean, "boolean", out("f")), "false");
	EXPECT_EQ(inserted(bit, "bit", out("101")), "B'101'");
	EXPECT_EQ(inserted(varbit, "bit varying", out("")), "B''");
	EXPECT_EQ(inserted(text, "text", raw("a'b\\c")), "'a''b\\c'");
	EXPECT_EQ(inserted(text, "text", raw("")), "''");
	EXPECT_EQ(inserted(text, "text", null), "null");
	EXPECT_EQ(inserted(bytea, "bytea", raw("\x0a\xff")), "'\\x0aff'");
	EXPECT_EQ(inserted(point, "point", out("(1,2)")), "'(1,2)'");
	CpoValue moment = raw(0);
	moment.len = 3600;
	EXPECT_EQ(
		inserted(timestamptz, "timestamp with time zone", moment), "'2000-01-01 01:00:00+01'");
}

// A domain's own oid is none of the bare ones: the peer quotes it.
TEST(test_decoding, domains_are_quoted)
{
	session s(peer());
	table t;
	t.columns.clear();
	t.add("d", int4, "public.positive").type_oid = 20000;
	CpoRelation *relation = s.define(t);
	s.begin(700);
	s.insert(700, relation, {raw(7)});
	EXPECT_EQ(s.sent().at(1), "table public.t: INSERT: d[public.positive]:'7'");
}

TEST(test_decoding, nulls_of_old_rows_are_left_out)
{
	session s(peer());
	table t;
	t.info.replica_identity = 'f';
	CpoRelation *relation = s.define(t);
	s.begin(700);
	s.update(700, relation, {raw(1), null}, {raw(1), null});
	EXPECT_EQ(s.sent().at(1), "table public.t: UPDATE: old-key: id[integer]:1 new-tuple: "
							  "id[integer]:1 v[text]:null");
}

TEST(test_decoding, without_xids_and_with_timestamps)
{
	session s(peer(options{{"include-xids", "off"}, {"include-timestamp", "on"}}));
	s.begin(700);
	s.commit(700);
	s.begin_prepare(701);
	s.prepare(701);
	s.commit_prepared(701);
	s.rollback_prepared(702);
	EXPECT_EQ(s.sent(), (texts{"BEGIN", "COMMIT (at 2000-01-01 00:11:40+00)", "BEGIN",
							"PREPARE TRANSACTION 'gid' (at 2000-01-01 00:11:41+00)",
							"COMMIT PREPARED 'gid' (at 2000-01-01 00:11:41+00)",
							"ROLLBACK PREPARED 'gid' (at 2000-01-01 00:11:42+00)"}));
}

TEST(test_decoding, prepared)
{
	session s(peer());
	s.begin_prepare(700);
	s.prepare(700);
	s.commit_prepared(700);
	EXPECT_EQ(s.sent(), (texts{"BEGIN 700", "PREPARE TRANSACTION 'gid', txid 700",
							"COMMIT PREPARED 'gid', txid 700"}));
}

TEST(test_decoding, empty_transactions)
{
	session shown(peer());
	shown.begin(700);
	shown.commit(700);
	EXPECT_EQ(shown.sent(), (texts{"BEGIN 700", "COMMIT 700"}));
	session skipped(peer(options{{"skip-empty-xacts", "on"}}));
	skipped.begin(700);
	skipped.commit(700);
	skipped.begin_prepare(701);
	skipped.prepare(701);
	skipped.stream_start(702);
	skipped.stream_stop(702);
	EXPECT_EQ(skipped.sent(), texts{});
}

// Whether a message opens a transaction changed in PostgreSQL 17.
TEST(test_decoding, messages_and_empty_transactions)
{
	for (const int version : {150000, 160000, 170000, 180000}) {
		CpoServer server = session::default_server();
		server.version_num = version;
		session s(peer(options{{"skip-empty-xacts", "on"}}), server);
		s.begin(700);
		s.message(700, "p", "x");
		s.commit(700);
		const std::string message = "message: transactional: 1 prefix: p, sz: 1 content:x";
		EXPECT_EQ(s.sent(),
			version < 170000 ? (texts{message}) : (texts{"BEGIN 700", message, "COMMIT 700"}))
			<< version;
	}
}

TEST(test_decoding, streamed)
{
	session s(peer(options{{"stream-changes", "on"}}));
	table t;
	CpoRelation *relation = s.define(t);
	s.stream_start(700);
	s.insert(700, nullptr, {}); // as CpoConfig.opaque_stream allows
	s.insert(700, relation, {raw(1), null}, 701);
	s.message(700, "p", "x");
	s.truncate(700, {relation});
	s.stream_stop(700);
	s.stream_abort(700, 701, 0x10020);
	s.stream_commit(700);
	s.stream_start(800);
	s.stream_stop(800);
	s.stream_prepare(800);
	EXPECT_EQ(s.sent(),
		(texts{"opening a streamed block for transaction TXN 700", "streaming change for TXN 700",
			"streaming change for TXN 700", "streaming message: transactional: 1 prefix: p, sz: 1",
			"streaming truncate for TXN 700", "closing a streamed block for transaction TXN 700",
			"aborting streamed (sub)transaction TXN 701", "committing streamed transaction TXN 700",
			"opening a streamed block for transaction TXN 800",
			"closing a streamed block for transaction TXN 800",
			"preparing streamed transaction TXN 'gid', txid 800"}));
}

TEST(test_decoding, gids_are_literals)
{
	session s(peer(options{{"include-xids", "off"}}));
	CpoTransaction known = session::facts(700);
	known.gid = span("it's \\");
	const CpoPlace where{1, 700, 700};
	s.driver().drain(cpo_commit_prepared(s.get(), &where, &known));
	EXPECT_EQ(s.sent(), (texts{"COMMIT PREPARED E'it''s \\\\'"}));
}

} // namespace
} // namespace cpp_output
