// Options: how they are read, what is said of bad ones, and the table of them.
#include "core_harness.h"
#include "error.h"
#include "format/format.h"
#include "options.h"

#include <algorithm>
#include <set>

namespace cpp_output
{
namespace
{

using namespace harness;

settings read(const options &given, const CpoServer &server = session::default_server())
{
	settings result(std::pmr::new_delete_resource());
	std::vector<CpoOption> list;
	for (const auto &[name, value] : given)
		list.push_back({span(name), span(value)});
	read_options(result, server, list);
	return result;
}

TEST(options, defaults)
{
	const settings result = read({});
	EXPECT_STREQ(result.format->name, "json");
	EXPECT_EQ(result.streaming, CPO_STREAMING_REORDER);
	EXPECT_EQ(result.reorder_work_mem, std::size_t{64} << 20);
	EXPECT_EQ(result.two_phase, CPO_TWO_PHASE_SLOT);
	EXPECT_EQ(result.acts, all_acts);
	EXPECT_TRUE(result.messages);
	EXPECT_TRUE(result.tables.empty());
}

TEST(options, both_spellings)
{
	EXPECT_TRUE(read({{"include-xids", "on"}}).json.include_xids);
	EXPECT_TRUE(read({{"include_xids", "on"}}).json.include_xids);
	EXPECT_EQ(read({{"numbers_as-string", "all"}}).json.numbers, numbers_as_string::all);
}

TEST(options, the_last_one_counts)
{
	EXPECT_FALSE(read({{"include-xids", "on"}, {"include_xids", "off"}}).json.include_xids);
	EXPECT_STREQ(read({{"format", "wal2json"}, {"format", "json"}}).format->name, "json");
}

TEST(options, the_order_does_not_matter)
{
	EXPECT_TRUE(read({{"skip-empty-xacts", "on"}, {"format", "test_decoding"}})
					.test_decoding.skip_empty_xacts);
}

TEST(options, the_plugin_name_selects_the_format)
{
	CpoServer server = session::default_server();
	for (const char *name : {"test_decoding", "wal2json"}) {
		server.plugin_name = span(name);
		EXPECT_STREQ(read({}, server).format->name, name);
		EXPECT_EQ(read({}, server).streaming, CPO_STREAMING_OFF);
		EXPECT_STREQ(read({{"format", "json"}}, server).format->name, "json") << "the option wins";
	}
}

TEST(options, the_setting_is_the_default_of_streaming)
{
	CpoServer server = session::default_server();
	server.streaming_setting = span("off");
	EXPECT_EQ(read({}, server).streaming, CPO_STREAMING_OFF);
	EXPECT_EQ(read({{"streaming", "on"}}, server).streaming, CPO_STREAMING_ON);
	server.streaming_setting = span("");
	EXPECT_EQ(read({}, server).streaming, CPO_STREAMING_REORDER);
	server.streaming_setting = span("sideways");
	EXPECT_NE(std::string_view(refused({}, server).message).find("cpp_output.streaming"),
		std::string_view::npos);
}

TEST(options, booleans)
{
	for (const char *yes : {"on", "true", "TRUE", "t", "tr", "yes", "y", "1", "On"}) {
		bool result = false;
		EXPECT_TRUE(parse_boolean(yes, result) && result) << yes;
	}
	for (const char *no : {"off", "of", "false", "F", "no", "n", "0", "OFF"}) {
		bool result = true;
		EXPECT_TRUE(parse_boolean(no, result) && !result) << no;
	}
	for (const char *neither : {"", "o", "2", "truely", "onn", "yess", " on", "on "}) {
		bool result = false;
		EXPECT_FALSE(parse_boolean(neither, result)) << neither;
	}
}

TEST(options, a_bare_option)
{
	const CpoServer server = session::default_server();
	settings result(std::pmr::new_delete_resource());
	const CpoOption bare{span("include-xids"), {nullptr, 0}};
	read_options(result, server, {&bare, 1});
	EXPECT_TRUE(result.json.include_xids);
	const CpoOption needs_value{span("tables"), {nullptr, 0}};
	EXPECT_THROW(read_options(result, server, {&needs_value, 1}), core_error);
}

TEST(options, sizes)
{
	const auto size = [](const char *text) {
		return read({{"reorder-work-mem", text}}).reorder_work_mem;
	};
	EXPECT_EQ(size("64kB"), 65536U);
	EXPECT_EQ(size("3MB"), std::size_t{3} << 20);
	EXPECT_EQ(size("2 GB"), std::size_t{2} << 30);
	EXPECT_EQ(size("1024TB"), std::size_t{1} << 50);
	for (const char *bad : {"", "kB", "63kB", "64", "64kb", "64 k", "-64kB", "+64kB", "64kB ",
			 " 64kB", "1025TB", "18446744073709551616kB", "0x40kB", "6.4MB", "64kBkB"})
		EXPECT_THROW(size(bad), core_error) << bad;
}

TEST(options, actions)
{
	const auto acts = [](const char *text) { return read({{"actions", text}}).acts; };
	EXPECT_EQ(acts("insert"), act_bit(CPO_INSERT));
	EXPECT_EQ(acts(" Update , DELETE"), act_bit(CPO_UPDATE) | act_bit(CPO_DELETE));
	EXPECT_EQ(acts("truncate,truncate"), act_bit(CPO_TRUNCATE));
	for (const char *bad : {"", ",", "insert,", "upsert", "insert update", "insert;update"})
		EXPECT_THROW(acts(bad), core_error) << bad;
}

TEST(options, errors_name_the_option_and_what_is_allowed)
{
	struct wrong {
		const char *name, *value, *message, *hint;
	};
	const wrong all[] = {
		wrong{"format", "avro", "invalid value for option \"format\": \"avro\"",
			"Allowed: json, test_decoding, wal2json."},
		wrong{"include_xids", "maybe", "invalid value for option \"include-xids\": \"maybe\"",
			"Allowed: on, off."},
		wrong{"streaming", "", "invalid value for option \"streaming\": \"\"",
			"Allowed: off, on, reorder."},
		wrong{"include-xid", "on", "option \"include-xid\" = \"on\" is unknown",
			"Perhaps you meant the option \"include-xids\"."},
		wrong{"exclude_table", "a.b", "option \"exclude_table\" = \"a.b\" is unknown",
			"Perhaps you meant the option \"exclude-tables\"."},
		wrong{"nonsense", "1", "option \"nonsense\" = \"1\" is unknown",
			"SELECT * FROM cpp_output_options() lists all options."},
	};
	for (const wrong &w : all) {
		const CpoError error = refused(options{{w.name, w.value}});
		EXPECT_STREQ(error.sqlstate, "22023");
		EXPECT_STREQ(error.message, w.message);
		EXPECT_STREQ(error.hint, w.hint);
	}
}

TEST(options, an_option_of_another_format_is_known)
{
	const CpoError error = refused(options{{"only-local", "1"}});
	EXPECT_STREQ(error.detail, "Format test_decoding has this option, format json does not.");
	const CpoError shared = refused(options{{"format", "test_decoding"}, {"include-lsn", "1"}});
	EXPECT_STREQ(shared.detail,
		"Formats json and wal2json have this option, format test_decoding does not.");
}

TEST(options, texts_of_any_length_and_bytes)
{
	const std::string long_name(100'000, 'n');
	const std::string long_value(100'000, 'v');
	std::string odd;
	for (int c = 1; c < 256; ++c)
		odd += static_cast<char>(c);
	const std::vector<options> all{options{{long_name, long_value}},
		options{{"format", long_value}}, options{{"tables", long_value}}, options{{odd, odd}},
		options{{"streaming", odd}}, options{{"", ""}}, options{{"-", "_"}},
		options{{"streaming", std::string("on\0", 3)}}};
	for (const options &given : all) {
		const CpoError error = refused(given);
		EXPECT_STREQ(error.sqlstate, "22023");
		EXPECT_LT(std::string_view(error.message).size(), sizeof(error.message));
	}
}

TEST(options, shown_text_ends_with_a_whole_character)
{
	const std::string ascii(300, 'x');
	EXPECT_EQ(shown(ascii), ascii.substr(0, 200));
	const std::string text = std::string(199, 'x') + "é";
	EXPECT_EQ(shown(text), text.substr(0, 199));
	EXPECT_EQ(shown("é"), "é");
	std::string wide;
	for (int i = 0; i < 100; ++i)
		wide += "日";
	EXPECT_EQ(shown(wide), wide.substr(0, 198));
	// another encoding of two bytes a character, where nobody knows which byte is which
	EXPECT_EQ(shown("ab" + std::string(300, '\xa4')), "ab");
}

TEST(options, the_table_is_in_order_and_complete)
{
	CpoOptionInfo info{};
	std::vector<std::pair<std::string, std::string>> all;
	for (std::size_t i = 0; cpo_option_info(i, &info); ++i) {
		all.emplace_back(info.name, info.formats);
		EXPECT_NE(info.type, nullptr);
		EXPECT_NE(info.allowed, nullptr);
		EXPECT_TRUE(std::string_view(info.description).ends_with('.')) << info.name;
		EXPECT_EQ(std::string_view(info.name).find('_'), std::string_view::npos) << info.name;
	}
	EXPECT_TRUE(std::is_sorted(
		all.begin(), all.end(), [](const auto &a, const auto &b) { return a.first < b.first; }));
	EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
	std::size_t expected = common_options().size();
	for (const format_entry &format : formats())
		expected += format.options.size();
	EXPECT_EQ(all.size(), expected);
	EXPECT_FALSE(cpo_option_info(all.size(), &info));
	EXPECT_FALSE(cpo_option_info(SIZE_MAX, &info));
}

// The default that the table names is the one that is in force.
TEST(options, named_defaults_hold)
{
	for (const format_entry &format : formats())
		for (std::span<const option> table : {common_options(), format.options})
			for (const option &o : table) {
				bool on = false;
				if (o.default_value == nullptr || std::string_view(o.type) != "boolean" ||
					!parse_boolean(o.default_value, on))
					continue;
				const auto probe = [&](const options &more) {
					options given{{"format", format.name}};
					given.insert(given.end(), more.begin(), more.end());
					session s(given);
					EXPECT_TRUE(s.opened()) << format.name << " " << o.name;
					return s.config();
				};
				const CpoConfig without = probe({});
				const CpoConfig with = probe(options{{o.name, o.default_value}});
				EXPECT_EQ(without.streaming, with.streaming) << o.name;
				EXPECT_EQ(without.wants, with.wants) << format.name << " " << o.name;
				EXPECT_EQ(without.binary_output, with.binary_output) << o.name;
				EXPECT_EQ(without.receive_rewrites, with.receive_rewrites) << o.name;
			}
}

TEST(options, config_says_what_the_shell_has_to_do)
{
	session json;
	EXPECT_TRUE(json.config().utf8_text && json.config().native_values);
	EXPECT_TRUE(json.config().raw_arrays && json.config().skip_matviews);
	EXPECT_EQ(json.config().wants, unsigned{CPO_WANT_TYPE_TREES});
	EXPECT_FALSE(json.config().want_origin_names);
	session more(options{{"include-relations", "on"}, {"include-origin", "on"},
		{"exclude-origins", "a"}, {"two-phase", "off"}});
	EXPECT_EQ(more.config().wants, unsigned{CPO_WANT_TYPE_TREES | CPO_WANT_TYPE_NAMES});
	EXPECT_TRUE(more.config().want_origin_names && more.config().filter_origin_names);
	EXPECT_EQ(more.config().two_phase, CPO_TWO_PHASE_OFF);
	session peer(options{{"format", "test_decoding"}, {"force-binary", "on"},
		{"include-rewrites", "on"}, {"stream-changes", "on"}});
	EXPECT_TRUE(peer.config().binary_output && peer.config().receive_rewrites);
	EXPECT_TRUE(peer.config().opaque_stream && peer.config().skip_nodecode_gids);
	EXPECT_EQ(peer.config().streaming, CPO_STREAMING_ON);
	session filtered(
		options{{"format", "test_decoding"}, {"stream-changes", "on"}, {"tables", "a.b"}});
	EXPECT_FALSE(filtered.config().opaque_stream) << "a filter has to see the relation";
}

TEST(options, origins)
{
	session any;
	EXPECT_TRUE(cpo_wants_origin(any.get(), 0, {}) && cpo_wants_origin(any.get(), 7, {}));
	session none(options{{"origin", "none"}});
	EXPECT_TRUE(cpo_wants_origin(none.get(), 0, {}));
	EXPECT_FALSE(cpo_wants_origin(none.get(), 7, span("x")));
	session some(options{{"exclude-origins", "pg_*, node.b"}});
	EXPECT_FALSE(cpo_wants_origin(some.get(), 7, span("pg_16400")));
	EXPECT_FALSE(cpo_wants_origin(some.get(), 7, span("node.b")));
	EXPECT_TRUE(cpo_wants_origin(some.get(), 7, span("node.c")));
	EXPECT_TRUE(cpo_wants_origin(some.get(), 0, {}));
	session local(options{{"format", "test_decoding"}, {"only-local", "on"}});
	EXPECT_FALSE(cpo_wants_origin(local.get(), 7, span("x")));
}

} // namespace
} // namespace cpp_output
