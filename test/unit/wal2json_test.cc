// Format wal2json through the contract: what a session sends for events.
#include "core.h"
#include "format/wal2json_filter.h"
#include "format/wal2json_value.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

using namespace cpp_output;

namespace
{

using option = std::pair<const char *, const char *>;

struct options {
	options(std::initializer_list<option> given) : list(given) {}

	options with(std::initializer_list<option> more) const
	{
		options all(*this);
		all.list.insert(all.list.end(), more);
		return all;
	}

	std::vector<option> list;
};

CpoSpan span(std::string_view text)
{
	return {text.data(), text.size()};
}

CpoValue null_value()
{
	return {};
}

CpoValue unchanged()
{
	CpoValue value{};
	value.form = CPO_UNCHANGED;
	return value;
}

CpoValue raw(std::int64_t number)
{
	CpoValue value{};
	value.integer = number;
	value.form = CPO_RAW;
	return value;
}

CpoValue bytes(std::string_view data, CpoForm form)
{
	CpoValue value{};
	value.data = data.data();
	value.len = static_cast<std::uint32_t>(data.size());
	value.form = static_cast<std::uint8_t>(form);
	return value;
}

CpoValue text(std::string_view data)
{
	return bytes(data, CPO_TEXT);
}

constexpr CpoType type_of(CpoOid oid, CpoKind kind)
{
	return {oid, kind, 0, 'i', ',', nullptr, 0, nullptr};
}
constexpr CpoType int4 = type_of(23, CPO_INTEGER);
constexpr CpoType string = type_of(25, CPO_STRING);
constexpr CpoType bytea = type_of(17, CPO_BYTEA);

CpoColumn column(
	std::string_view name, int position, const CpoType &type, std::string_view type_name)
{
	CpoColumn made{};
	made.name = span(name);
	made.position = position;
	made.type_oid = made.base_oid = type.oid;
	made.typmod = -1;
	made.type_name = made.typmod_name = made.base_typmod_name = span(type_name);
	made.catalog_name = made.base_catalog_name = span("typname");
	made.type = &type;
	return made;
}

// A table of its own with a primary key, a text and a bytea.
struct table {
	table()
	{
		columns = {column("id", 1, int4, "integer"), column("t", 2, string, "text"),
			column("b", 4, bytea, "bytea")};
		columns[0].in_identity = columns[0].in_primary_key = columns[0].not_null = true;
		info.oid = 16384;
		info.schema = span("public");
		info.name = span("t");
		info.replica_identity = 'd';
		info.has_primary_key = true;
	}

	const CpoRelationInfo &described()
	{
		info.ncolumns = columns.size();
		info.columns = columns.data();
		return info;
	}

	std::vector<CpoColumn> columns;
	CpoRelationInfo info{};
};

class session
{
public:
	explicit session(const options &given, std::uint64_t message_limit = 0, int version = 150000,
		bool ascii_only = false)
	{
		std::vector<CpoOption> list{{span("format"), span("wal2json")}};
		for (const auto &[name, value] : given.list)
			list.push_back({span(name), value == nullptr ? CpoSpan{nullptr, 0} : span(value)});
		CpoServer server{};
		server.version_num = version;
		server.plugin_name = span("cpp_output");
		server.message_limit = message_limit;
		server.ascii_only = ascii_only;
		cpo_open(&memory_, &server, list.data(), list.size(), &session_, &error);
		transaction.xid = 700;
		transaction.first_lsn = 0x1000;
		transaction.final_lsn = 0x2000;
		transaction.end_lsn = 0x2030;
	}
	~session() { cpo_close(&memory_, session_); }

	CpoSession *get() { return session_; }

	CpoRelation *define(const CpoRelationInfo &info)
	{
		CpoRelation *relation = nullptr;
		EXPECT_EQ(cpo_relation_define(session_, &info, &relation), CPO_OK);
		return relation;
	}

	void begin() { done(cpo_begin(session_, &place, &transaction)); }
	void commit() { done(cpo_commit(session_, &place, &transaction)); }
	void stream_start()
	{
		CpoTransaction known{};
		known.xid = transaction.xid;
		known.first_lsn = transaction.first_lsn;
		done(cpo_stream_start(session_, &place, &known));
	}
	void stream_stop() { done(cpo_stream_stop(session_, &place)); }
	void stream_commit() { done(cpo_stream_commit(session_, &place, &transaction)); }
	void roll_back_to(CpoLsn lsn)
	{
		done(cpo_stream_abort(session_, &place, transaction.xid, transaction.xid + 1, lsn));
	}

	void insert(CpoRelation *relation, const std::vector<CpoValue> &row)
	{
		change(relation, CPO_INSERT, nullptr, row.data());
	}
	void update(CpoRelation *relation, const std::vector<CpoValue> &row)
	{
		change(relation, CPO_UPDATE, nullptr, row.data());
	}
	void update(CpoRelation *relation, const std::vector<CpoValue> &old_row,
		const std::vector<CpoValue> &row)
	{
		change(relation, CPO_UPDATE, old_row.data(), row.data());
	}
	void remove(CpoRelation *relation, const std::vector<CpoValue> &row)
	{
		change(relation, CPO_DELETE, row.data(), nullptr);
	}
	void change(CpoRelation *relation, CpoAct act, const CpoValue *old_row, const CpoValue *new_row)
	{
		place.lsn += 0x10;
		CpoChange made{};
		made.place = place;
		made.relation = relation;
		made.act = act;
		made.old_row = old_row;
		made.new_row = new_row;
		if (cpo_relation_wants(relation, act))
			done(cpo_change(session_, &made));
	}
	void truncate(std::initializer_list<CpoRelation *> relations)
	{
		std::vector<CpoRelation *> wanted;
		for (CpoRelation *relation : relations)
			if (cpo_relation_wants(relation, CPO_TRUNCATE))
				wanted.push_back(relation);
		CpoTruncation made{};
		made.place = place;
		made.nrelations = wanted.size();
		made.relations = wanted.data();
		if (!wanted.empty())
			done(cpo_truncate(session_, &made));
	}
	void message(
		bool transactional, std::string_view prefix, std::string_view content, bool valid = true)
	{
		CpoMessage made{};
		made.place = place;
		made.message_lsn = 0xABCDEF01;
		made.transactional = transactional;
		made.valid_text = valid;
		made.prefix = span(prefix);
		made.content = span(content);
		done(cpo_message(session_, &made));
	}

	// The messages so far; what is one message is one string.
	std::vector<std::string> take() { return std::exchange(sent_, {}); }
	std::string line()
	{
		std::string all;
		for (const std::string &one : take())
			all += (all.empty() ? "" : "\n") + one;
		return all;
	}

	CpoError error{};
	CpoPlace place{0x1000, 700, 700};
	CpoTransaction transaction{};
	std::vector<std::string> warnings;

private:
	void done(CpoStatus status)
	{
		ASSERT_EQ(status, CPO_OK) << cpo_error(session_)->message;
		CpoAction action{};
		while (cpo_next(session_, &action) == CPO_OK && action.kind != CPO_DONE) {
			if (action.kind == CPO_WARN)
				warnings.emplace_back(action.data);
			if (action.kind != CPO_SEND)
				continue;
			if (!action.continues)
				sent_.emplace_back();
			sent_.back().append(action.data, action.len);
		}
	}

	CpoMemory memory_{nullptr, [](void *, size_t n) { return std::malloc(n); },
		[](void *, void *chunk, size_t) { std::free(chunk); }};
	CpoSession *session_ = nullptr;
	std::vector<std::string> sent_;
};

std::string insert_of(const options &given, table &&t, const std::vector<CpoValue> &row)
{
	session s(given);
	CpoRelation *relation = s.define(t.described());
	s.begin();
	s.insert(relation, row);
	s.commit();
	return s.line();
}

std::string type_name(std::string_view name)
{
	byte_buffer out(std::pmr::new_delete_resource());
	append_wal2json_type(out, name, text_mode::utf8);
	return std::string(out.view());
}

std::string value_of(CpoOid declared, CpoKind kind, const CpoValue &value, bool as_string = false)
{
	byte_buffer out(std::pmr::new_delete_resource());
	append_wal2json_value(
		out, wal2json_rule_for(declared, kind, as_string, text_mode::utf8), value);
	return std::string(out.view());
}

// --- version 1 ---

TEST(Wal2jsonV1, WritesOneDocumentATransaction)
{
	table t;
	session s({{"include-xids", "1"}, {"include-lsn", "1"}, {"include-origin", "1"}});
	CpoRelation *relation = s.define(t.described());
	s.begin();
	s.insert(relation, {raw(1), text("a\"b"), bytes("\x01\xff", CPO_RAW)});
	s.update(relation, {raw(1), unchanged(), null_value()});
	s.update(relation, {raw(1), null_value(), null_value()}, {raw(2), text("c"), null_value()});
	s.remove(relation, {raw(2), null_value(), null_value()});
	s.commit();
	EXPECT_EQ(s.take(),
		std::vector<std::string>{
			R"({"xid":700,"nextlsn":"0/2030","origin":0,"change":[)"
			R"({"kind":"insert","schema":"public","table":"t","columnnames":["id","t","b"],)"
			R"("columntypes":["integer","text","bytea"],"columnvalues":[1,"a\"b","01ff"]},)"
			R"({"kind":"update","schema":"public","table":"t","columnnames":["id","b"],)"
			R"("columntypes":["integer","bytea"],"columnvalues":[1,null],)"
			R"("oldkeys":{"keynames":["id"],"keytypes":["integer"],"keyvalues":[1]}},)"
			R"({"kind":"update","schema":"public","table":"t","columnnames":["id","t","b"],)"
			R"("columntypes":["integer","text","bytea"],"columnvalues":[2,"c",null],)"
			R"("oldkeys":{"keynames":["id"],"keytypes":["integer"],"keyvalues":[1]}},)"
			R"({"kind":"delete","schema":"public","table":"t",)"
			R"("oldkeys":{"keynames":["id"],"keytypes":["integer"],"keyvalues":[2]}}]})"});
}

TEST(Wal2jsonV1, PrintsTheKeysThatAreNotNullWithIdentityFull)
{
	table t;
	t.info.replica_identity = 'f';
	t.columns[0].in_identity = false;
	session s({{"include-types", "0"}});
	CpoRelation *relation = s.define(t.described());
	s.begin();
	s.remove(relation, {raw(1), null_value(), bytes("", CPO_RAW)});
	s.commit();
	EXPECT_EQ(s.line(), R"({"change":[{"kind":"delete","schema":"public","table":"t",)"
						R"("oldkeys":{"keynames":["id","b"],"keyvalues":[1,""]}}]})");
}

TEST(Wal2jsonV1, PrettyPrint)
{
	table t;
	t.columns.pop_back();
	session s({{"pretty-print", "1"}, {"include-pk", "1"}});
	CpoRelation *relation = s.define(t.described());
	s.begin();
	s.insert(relation, {raw(1), null_value()});
	s.remove(relation, {raw(1), null_value()});
	s.message(true, "p", "m");
	s.commit();
	EXPECT_EQ(s.line(), R"({
	"change": [
		{
			"kind": "insert",
			"schema": "public",
			"table": "t",
			"columnnames": ["id", "t"],
			"columntypes": ["integer", "text"],
			"columnvalues": [1, null],
			"pk": {
				"pknames": ["id"],
				"pktypes": ["integer"]
			}
		}
		,{
			"kind": "delete",
			"schema": "public",
			"table": "t",
			"pk": {
				"pknames": ["id"],
				"pktypes": ["integer"]
			},
			"oldkeys": {
				"keynames": ["id"],
				"keytypes": ["integer"],
				"keyvalues": [1]
			}
		}
		,{
			"kind": "message",
			"transactional": true,
			"prefix": "p",
			"content": "m"
		}
	]
})");
}

TEST(Wal2jsonV1, ChunksAreMessagesOfTheirOwn)
{
	table t;
	t.columns.resize(1);
	session s({{"write-in-chunks", "1"}, {"include-types", "0"}});
	CpoRelation *relation = s.define(t.described());
	s.begin();
	s.insert(relation, {raw(1)});
	s.insert(relation, {raw(2)});
	s.commit();
	EXPECT_EQ(s.take(),
		(std::vector<std::string>{R"({"change":[)",
			R"({"kind":"insert","schema":"public","table":"t","columnnames":["id"],"columnvalues":[1]})",
			R"(,{"kind":"insert","schema":"public","table":"t","columnnames":["id"],"columnvalues":[2]})",
			R"(]})"}));
}

TEST(Wal2jsonV1, GoesOnInAnotherMessageBeyondTheLimit)
{
	table t;
	t.columns.resize(1);
	const options given{{"include-types", "0"}};
	session whole(given);
	session limited(given, 200);
	for (session *s : {&whole, &limited}) {
		CpoRelation *relation = s->define(t.described());
		s->begin();
		for (int i = 0; i < 10; ++i)
			s->insert(relation, {raw(i)});
		s->commit();
	}
	const std::vector<std::string> parts = limited.take();
	EXPECT_GT(parts.size(), 3U);
	std::string all;
	for (const std::string &part : parts) {
		EXPECT_LE(part.size(), 200U);
		all += part;
	}
	EXPECT_EQ(all, whole.line());
}

TEST(Wal2jsonV1, EmptyTransactions)
{
	session s({});
	s.begin();
	s.commit();
	EXPECT_EQ(s.line(), R"({"change":[]})");

	session quiet({{"include-empty-transaction", "0"}});
	quiet.begin();
	quiet.commit();
	EXPECT_EQ(quiet.line(), "");
}

TEST(Wal2jsonV1, TruncationMakesNoTransactionWorthSending)
{
	table t;
	session s({{"include-empty-transaction", "0"}});
	CpoRelation *relation = s.define(t.described());
	s.begin();
	s.truncate({relation});
	s.commit();
	EXPECT_EQ(s.line(), "");
}

TEST(Wal2jsonV1, MessageOutsideATransactionIsADocument)
{
	table t;
	session s({{"include-xids", "1"}});
	CpoRelation *relation = s.define(t.described());
	s.begin();
	s.insert(relation, {raw(1), null_value(), null_value()});
	s.remove(relation, {raw(1), null_value(), null_value()});
	s.commit();
	s.take();
	s.message(false, "p\"", "c");
	EXPECT_EQ(s.line(),
		R"({"change":[{"kind":"message","transactional":false,"prefix":"p\"","content":"c"}]})");
}

TEST(Wal2jsonV1, NamesOfTypesInTheCatalog)
{
	table t;
	t.columns.resize(1);
	EXPECT_EQ(insert_of({{"include-typmod", "0"}}, std::move(t), {raw(1)}),
		R"({"change":[{"kind":"insert","schema":"public","table":"t","columnnames":["id"],)"
		R"("columntypes":["typname"],"columnvalues":[1]}]})");
}

TEST(Wal2jsonV1, ListsOfEverything)
{
	table t;
	t.columns[1].default_expr = span("'a\"b\\c'::text");
	EXPECT_EQ(
		insert_of({{"include-type-oids", "1"}, {"include-column-positions", "1"},
					  {"include-not-null", "1"}, {"include-default", "1"}, {"include-types", "0"}},
			std::move(t), {raw(1), text(""), null_value()}),
		R"({"change":[{"kind":"insert","schema":"public","table":"t","columnnames":["id","t","b"],)"
		R"("columntypeoids":[23,25,17],"columnpositions":[1,2,4],"columnoptionals":[false,true,true],)"
		R"("columndefaults":[null,"'a\"b\\c'::text",null],"columnvalues":[1,"",null]}]})");
}

TEST(Wal2jsonV1, DomainsAreStringsUnlessLookedThrough)
{
	table t;
	t.columns.resize(1);
	t.columns[0].type_oid = 99999;
	t.columns[0].typmod_name = span("positive");
	EXPECT_EQ(insert_of({{"include-type-oids", "1"}}, table(t), {raw(1)}),
		R"({"change":[{"kind":"insert","schema":"public","table":"t","columnnames":["id"],)"
		R"("columntypes":["positive"],"columntypeoids":[99999],"columnvalues":["1"]}]})");
	EXPECT_EQ(insert_of({{"include-type-oids", "1"}, {"include-domain-data-type", "1"}}, table(t),
				  {raw(1)}),
		R"({"change":[{"kind":"insert","schema":"public","table":"t","columnnames":["id"],)"
		R"("columntypes":["integer"],"columntypeoids":[23],"columnvalues":[1]}]})");
	// Version 2 looks through the name alone.
	EXPECT_EQ(insert_of({{"format-version", "2"}, {"include-transaction", "0"},
							{"include-type-oids", "1"}, {"include-domain-data-type", "1"}},
				  table(t), {raw(1)}),
		R"({"action":"I","schema":"public","table":"t",)"
		R"("columns":[{"name":"id","type":"integer","typeoid":99999,"value":"1"}]})");
}

TEST(Wal2jsonV1, ReorderLeavesNoStrayComma)
{
	table t;
	t.columns.resize(1);
	session s({{"streaming", "reorder"}, {"include-types", "0"}, {"include-schemas", "0"},
		{"include-lsn", "1"}});
	ASSERT_NE(s.get(), nullptr) << s.error.message;
	CpoRelation *relation = s.define(t.described());
	s.stream_start();
	const CpoLsn savepoint = s.place.lsn + 0x10;
	s.insert(relation, {raw(1)});
	s.stream_stop();
	s.roll_back_to(savepoint);
	s.stream_start();
	s.insert(relation, {raw(2)});
	s.insert(relation, {raw(3)});
	s.stream_stop();
	EXPECT_EQ(s.line(), "");
	s.stream_commit();
	EXPECT_EQ(s.take(),
		std::vector<std::string>{
			R"({"nextlsn":"0/2030","change":[)"
			R"({"kind":"insert","table":"t","columnnames":["id"],"columnvalues":[2]},)"
			R"({"kind":"insert","table":"t","columnnames":["id"],"columnvalues":[3]}]})"});
}

// --- version 2 ---

TEST(Wal2jsonV2, WritesAnObjectAChange)
{
	table t;
	session s({{"format-version", "2"}, {"include-pk", "1"}});
	CpoRelation *relation = s.define(t.described());
	s.begin();
	s.insert(relation, {raw(1), text("x"), bytes("\x01", CPO_RAW)});
	s.update(relation, {raw(1), unchanged(), null_value()});
	s.update(relation, {raw(1), null_value(), null_value()}, {raw(2), unchanged(), unchanged()});
	s.remove(relation, {raw(2), null_value(), null_value()});
	s.truncate({relation, relation});
	s.commit();
	EXPECT_EQ(s.take(),
		(std::vector<std::string>{R"({"action":"B"})",
			R"({"action":"I","schema":"public","table":"t","columns":[{"name":"id","type":"integer","value":1},)"
			R"({"name":"t","type":"text","value":"x"},{"name":"b","type":"bytea","value":"01"}],)"
			R"("pk":[{"name":"id","type":"integer"}]})",
			R"({"action":"U","schema":"public","table":"t","columns":[{"name":"id","type":"integer","value":1},)"
			R"({"name":"b","type":"bytea","value":null}],"identity":[{"name":"id","type":"integer","value":1}],)"
			R"("pk":[{"name":"id","type":"integer"}]})",
			R"({"action":"U","schema":"public","table":"t","columns":[{"name":"id","type":"integer","value":2}],)"
			R"("identity":[{"name":"id","type":"integer","value":1}],"pk":[{"name":"id","type":"integer"}]})",
			R"({"action":"D","schema":"public","table":"t","identity":[{"name":"id","type":"integer","value":2}],)"
			R"("pk":[{"name":"id","type":"integer"}]})",
			R"({"action":"T","schema":"public","table":"t"})",
			R"({"action":"T","schema":"public","table":"t"})", R"({"action":"C"})"}));
}

TEST(Wal2jsonV2, FactsOnEveryObject)
{
	table t;
	t.columns.resize(1);
	session s({{"format-version", "2"}, {"include-xids", "1"}, {"include-timestamp", "1"},
		{"include-origin", "1"}, {"include-lsn", "1"}, {"include-schemas", "0"},
		{"include-types", "0"}});
	s.transaction.origin_id = 3;
	s.transaction.commit_offset = 3600;
	CpoRelation *relation = s.define(t.described());
	s.begin();
	s.insert(relation, {raw(1)});
	s.message(true, "p", "c");
	s.commit();
	s.message(false, "p", "c");
	const std::string facts = R"("xid":700,"timestamp":"2000-01-01 01:00:00+01","origin":3,"lsn":)";
	EXPECT_EQ(s.take(),
		(std::vector<std::string>{R"({"action":"B",)" + facts + R"("0/2000","nextlsn":"0/2030"})",
			R"({"action":"I",)" + facts +
				R"("0/1010","table":"t","columns":[{"name":"id","value":1}]})",
			R"({"action":"M",)" + facts +
				R"("0/ABCDEF01","transactional":true,"prefix":"p","content":"c"})",
			R"({"action":"C",)" + facts + R"("0/2000","nextlsn":"0/2030"})",
			R"({"action":"M","xid":null,"timestamp":null,"origin":null,"lsn":"0/ABCDEF01",)"
			R"("transactional":false,"prefix":"p","content":"c"})"}));
}

TEST(Wal2jsonV2, ReorderWritesTheFactsOfTheCommit)
{
	table t;
	t.columns.resize(1);
	const options given{{"format-version", "2"}, {"include-timestamp", "1"},
		{"include-origin", "1"}, {"include-lsn", "1"}, {"include-transaction", "0"}};
	const options reordered = given.with({{"streaming", "reorder"}});
	session plain(given);
	session streamed(reordered);
	for (session *s : {&plain, &streamed}) {
		s->transaction.origin_id = 7;
		CpoRelation *relation = s->define(t.described());
		s == &plain ? s->begin() : s->stream_start();
		s->insert(relation, {raw(1)});
		s->message(true, "p", "c");
		s == &plain ? s->commit() : s->stream_commit();
	}
	const std::string expected = plain.line();
	EXPECT_NE(expected.find(R"("origin":7)"), std::string::npos);
	EXPECT_EQ(streamed.line(), expected);
}

TEST(Wal2jsonV2, WideLsnSince19)
{
	session s({{"format-version", "2"}, {"include-lsn", "1"}}, 0, 190000);
	s.transaction.final_lsn = 0x1a0000002fULL;
	s.begin();
	EXPECT_EQ(s.line(), R"({"action":"B","lsn":"1A/0000002F","nextlsn":"0/00002030"})");
}

TEST(Wal2jsonV2, IdentityFullHasItsNulls)
{
	table t;
	t.columns.pop_back();
	t.info.replica_identity = 'f';
	session s({{"format-version", "2"}, {"include-transaction", "0"}, {"include-types", "0"}});
	CpoRelation *relation = s.define(t.described());
	s.begin();
	s.remove(relation, {raw(1), null_value()});
	s.commit();
	EXPECT_EQ(s.line(),
		R"({"action":"D","schema":"public","table":"t","identity":[{"name":"id","value":1},{"name":"t","value":null}]})");
}

TEST(Wal2jsonV2, PartitionsGoByTheNameOfTheRoot)
{
	table root;
	table leaf;
	leaf.columns.resize(1);
	leaf.info.oid = 16390;
	leaf.info.name = span("leaf");
	leaf.info.root_schema = span("top");
	leaf.info.root_name = span("t");
	root.info.schema = span("top");
	session s({{"format-version", "2"}, {"include-transaction", "0"}, {"partition-root", "1"},
		{"add-tables", "top.t"}, {"include-types", "0"}});
	CpoRelation *of_root = s.define(root.described());
	CpoRelation *of_leaf = s.define(leaf.described());
	s.begin();
	s.insert(of_leaf, {raw(1)});
	s.truncate({of_leaf}); // must not look like one of the whole table
	s.truncate({of_root, of_leaf});
	s.commit();
	EXPECT_EQ(s.take(),
		(std::vector<std::string>{
			R"({"action":"I","schema":"top","table":"t","columns":[{"name":"id","value":1}]})",
			R"({"action":"T","schema":"top","table":"t"})"}));
}

// --- both ---

TEST(Wal2json, ChangesWithoutIdentityAreLeftOutWithOneWarning)
{
	for (const char *version : {"1", "2"}) {
		table t;
		t.columns[0].in_identity = false;
		t.info.replica_identity = 'n';
		session s({{"format-version", version}, {"include-empty-transaction", "0"}});
		CpoRelation *relation = s.define(t.described());
		s.begin();
		s.update(relation, {raw(1), null_value(), null_value()});
		s.change(relation, CPO_DELETE, nullptr, nullptr);
		s.commit();
		EXPECT_EQ(s.line(), "");
		ASSERT_EQ(s.warnings.size(), 1U);
		EXPECT_NE(s.warnings[0].find("\"public.t\""), std::string::npos);
	}
}

TEST(Wal2json, ContentIsNeitherCutNorInvalid)
{
	session s({{"format-version", "2"}});
	s.message(false, "p", std::string_view("a\0b", 3));
	s.message(false, "p", "\xff", false);
	EXPECT_EQ(s.take(),
		(std::vector<std::string>{
			"{\"action\":\"M\",\"transactional\":false,\"prefix\":\"p\",\"content\":\"a\\u0000b\"}",
			"{\"action\":\"M\",\"transactional\":false,\"prefix\":\"p\",\"content\":"
			"\"\xef\xbf\xbd\"}"}));
}

TEST(Wal2json, OtherEncodingsAreEscaped)
{
	session s({{"format-version", "2"}}, 0, 150000, true);
	s.message(false, "\xc3\xa9", "\xe2\x82\xac");
	EXPECT_EQ(
		s.line(), R"({"action":"M","transactional":false,"prefix":"\u00e9","content":"\u20ac"})");
}

TEST(Wal2json, Filters)
{
	table t;
	const auto lines = [&](const options &given) {
		session s(given);
		CpoRelation *relation = s.define(t.described());
		s.begin();
		s.insert(relation, {raw(1), null_value(), null_value()});
		s.remove(relation, {raw(1), null_value(), null_value()});
		s.message(true, "keep", "");
		s.message(true, "drop", "");
		s.commit();
		return s.take().size();
	};
	const options plain{{"format-version", "2"}, {"include-transaction", "0"}};
	EXPECT_EQ(lines(plain.with({})), 4U);
	EXPECT_EQ(lines(plain.with({{"filter-tables", "public.t"}})), 2U);
	EXPECT_EQ(lines(plain.with({{"filter-tables", "public.t"}, {"filter-tables", nullptr}})), 4U);
	EXPECT_EQ(lines(plain.with({{"filter-tables", "a.b"}, {"filter-tables", "public.t"}})), 2U);
	EXPECT_EQ(lines(plain.with({{"add-tables", "other.*"}})), 2U);
	EXPECT_EQ(lines(plain.with({{"add-tables", ""}})), 2U);
	EXPECT_EQ(lines(plain.with({{"add-tables", "public.*"}})), 4U);
	EXPECT_EQ(lines(plain.with({{"add-tables", "public.*"}, {"filter-tables", "*.t"}})), 2U);
	EXPECT_EQ(lines(plain.with({{"actions", "delete"}})), 3U);
	EXPECT_EQ(lines(plain.with({{"actions", ""}})), 2U);
	EXPECT_EQ(lines(plain.with({{"actions", nullptr}})), 4U);
	EXPECT_EQ(lines(plain.with({{"filter-msg-prefixes", "drop"}})), 3U);
	EXPECT_EQ(lines(plain.with({{"add-msg-prefixes", "keep"}})), 3U);
	EXPECT_EQ(
		lines(plain.with({{"add-msg-prefixes", "drop"}, {"filter-msg-prefixes", "drop"}})), 2U);
}

TEST(Wal2json, FilterOrigins)
{
	session s({{"filter-origins", "3, 12 ,x"}});
	EXPECT_TRUE(cpo_wants_origin(s.get(), 0, span("name")));
	EXPECT_TRUE(cpo_wants_origin(s.get(), 1, span("name")));
	EXPECT_FALSE(cpo_wants_origin(s.get(), 3, span("name")));
	EXPECT_FALSE(cpo_wants_origin(s.get(), 12, span("name")));
}

TEST(Wal2json, ErrorsAreThePeers)
{
	struct expectation {
		options given;
		const char *sqlstate;
		const char *message;
	};
	const expectation all[] = {
		{{{"include-xids", "maybe"}}, "22023",
			"could not parse value \"maybe\" for parameter \"include-xids\""},
		{{{"format-version", "3"}}, "0A000",
			"client sent format_version=3 but we only support format 2 or lower"},
		{{{"format-version", "0"}}, "0A000",
			"client sent format_version=0 but we only support format 1 or higher"},
		{{{"format-version", "two"}}, "22023",
			"could not parse value \"two\" for parameter \"format-version\""},
		{{{"filter-tables", "t"}}, "42602",
			"could not parse value \"t\" for parameter \"filter-tables\""},
		{{{"filter-tables", "public.t\\"}}, "42602",
			"could not parse value \"public.t\\\" for parameter \"filter-tables\""},
		{{{"add-tables", "a.b,"}}, "42602",
			"could not parse value \"a.b,\" for parameter \"add-tables\""},
		{{{"actions", "insert merge"}}, "42602",
			"could not parse value \"insert merge\" for parameter \"actions\""},
		{{{"actions", "insert,merge"}}, "22023",
			"could not parse value \"merge\" for parameter \"actions\""},
		{{{"include-unchanged-toast", "1"}}, "42602",
			"parameter \"include-unchanged-toast\" was deprecated"},
		{{{"no-such-option", "1"}}, "22023", "option \"no-such-option\" = \"1\" is unknown"},
		{{{"streaming", "on"}}, "0A000",
			"format wal2json has no form for transactions in progress"},
		{{{"two-phase", "on"}}, "0A000", "format wal2json has no form for PREPARE TRANSACTION"},
	};
	for (const expectation &expected : all) {
		session s(expected.given);
		EXPECT_EQ(s.get(), nullptr) << expected.message;
		EXPECT_STREQ(s.error.sqlstate, expected.sqlstate);
		EXPECT_STREQ(s.error.message, expected.message);
	}
}

TEST(Wal2json, FormatVersionIsANumber)
{
	for (const char *version :
		{"2", " 2 ", "0x2", "2.2", "02", static_cast<const char *>(nullptr)}) {
		session s({{"format-version", version}});
		s.begin();
		EXPECT_EQ(s.line(), R"({"action":"B"})") << (version == nullptr ? "none" : version);
	}
}

TEST(Wal2jsonTypes, QuotedNames)
{
	EXPECT_EQ(type_name("integer"), R"("integer")");
	EXPECT_EQ(type_name(R"("My Type")"), R"("My Type")");
	EXPECT_EQ(type_name(R"("char")"), R"("char")");
	EXPECT_EQ(type_name(R"("a""b")"), R"("\"a\"\"b\"")");
	EXPECT_EQ(type_name(R"("a\b")"), R"("a\\b")");
	EXPECT_EQ(type_name(R"("My Type"[])"), R"("\"My Type\"[]")");
	EXPECT_EQ(type_name(R"(s."My Type")"), R"("s.\"My Type\"")");
	EXPECT_EQ(type_name(R"("S"."T")"), R"("\"S\".\"T\"")");
	EXPECT_EQ(type_name("\"T\"(3)"), "\"\\\"T\\\"(3)\"");
}

TEST(Wal2jsonValues, Numbers)
{
	const CpoOid float8 = 701;
	const CpoOid int8 = 20;
	const CpoOid numeric = 1700;
	EXPECT_EQ(value_of(float8, CPO_FLOAT, text("-1.5e+300")), "-1.5e+300");
	for (const char *special : {"NaN", "Infinity", "-Infinity"}) {
		EXPECT_EQ(value_of(float8, CPO_FLOAT, text(special)), "null");
		EXPECT_EQ(
			value_of(float8, CPO_FLOAT, text(special), true), '"' + std::string(special) + '"');
	}
	EXPECT_EQ(value_of(int8, CPO_BIGINT, raw(INT64_MIN)), "-9223372036854775808");
	EXPECT_EQ(value_of(int8, CPO_BIGINT, raw(-1), true), R"("-1")");
	EXPECT_EQ(
		value_of(numeric, CPO_NUMERIC, bytes(std::string_view("\x00\xc0", 2), CPO_RAW)), "null");
	EXPECT_EQ(value_of(numeric, CPO_NUMERIC, bytes(std::string_view("\x00\xc0", 2), CPO_RAW), true),
		R"("NaN")");
	EXPECT_EQ(value_of(numeric, CPO_NUMERIC, text("1.50")), "1.50");
}

TEST(Wal2jsonValues, BytesAreHexWhateverTheSetting)
{
	const CpoOid type = 17;
	EXPECT_EQ(value_of(type, CPO_BYTEA, bytes("a\\", CPO_RAW)), R"("615c")");
	EXPECT_EQ(value_of(type, CPO_BYTEA, text("\\x615c")), R"("615c")");
	EXPECT_EQ(value_of(type, CPO_BYTEA, text("a\\\\")), R"("615c")");
	EXPECT_EQ(value_of(type, CPO_BYTEA, text("\\000\\377x")), R"("00ff78")");
	EXPECT_EQ(value_of(type, CPO_BYTEA, text("")), R"("")");
	EXPECT_EQ(value_of(type, CPO_BYTEA, text("\\\\x41")), R"("5c783431")");
	const CpoOid domain = 99999;
	EXPECT_EQ(value_of(domain, CPO_BYTEA, bytes("a", CPO_RAW)), R"("\\x61")");
	EXPECT_EQ(value_of(domain, CPO_BOOL, raw(1)), R"("t")");
}

TEST(Wal2jsonFilter, Tables)
{
	wal2json_tables tables(std::pmr::new_delete_resource());
	EXPECT_TRUE(tables.add(" public.Foo\\ bar , *.a\\,b\t,s\\.x.*,e\\\\.\\*"));
	EXPECT_TRUE(tables.match("public", "Foo bar"));
	EXPECT_FALSE(tables.match("public", "foo bar"));
	EXPECT_TRUE(tables.match("anything", "a,b"));
	EXPECT_TRUE(tables.match("s.x", "anything"));
	EXPECT_FALSE(tables.match("s", "x.anything"));
	EXPECT_TRUE(tables.match("e\\", "*"));
	EXPECT_FALSE(tables.match("e\\", "x"));
	EXPECT_TRUE(tables.add(""));
	EXPECT_TRUE(tables.add("a.b.c"));
	EXPECT_TRUE(tables.match("a", "b.c"));
	EXPECT_TRUE(tables.add("*.*"));
	EXPECT_TRUE(tables.match("x", "y"));
	for (const char *malformed :
		{"a", "a.b,", ",a.b", "a.b c.d", "a.b,,c.d", "a\\.b", "a.b\\", "\\"})
		EXPECT_FALSE(tables.add(malformed)) << malformed;
}

TEST(Wal2jsonFilter, Words)
{
	wal2json_words words(std::pmr::new_delete_resource());
	EXPECT_TRUE(words.add(" a , b\\,c"));
	EXPECT_TRUE(words.contain("a"));
	EXPECT_TRUE(words.contain("b\\,c"));
	EXPECT_FALSE(words.contain("b,c"));
	EXPECT_FALSE(words.add("a b"));
}

} // namespace
