// Values of the native JSON format: every kind, raw and as the server's text.
#include "core_harness.h"
#include "format/json_value.h"
#include "text_support.h"

namespace cpp_output
{
namespace
{

using harness::array_of;
using harness::out;
using harness::raw;
using harness::type;

std::string written(const CpoType &of, const CpoValue &value, const json_settings &how = {},
	text_mode mode = text_mode::utf8)
{
	byte_buffer text(std::pmr::new_delete_resource());
	json_value_writer(std::pmr::new_delete_resource(), how, mode).append(text, of, value);
	return std::string(text.view());
}

json_settings numbers(numbers_as_string how)
{
	json_settings settings;
	settings.numbers = how;
	return settings;
}

constexpr CpoType boolean = type(16, CPO_BOOL, 1, 'c');
constexpr CpoType bytea = type(17, CPO_BYTEA);
constexpr CpoType character = type(18, CPO_CHAR, 1, 'c');
constexpr CpoType int8 = type(20, CPO_BIGINT, 8, 'd');
constexpr CpoType int2 = type(21, CPO_INTEGER, 2, 's');
constexpr CpoType int4 = type(23, CPO_INTEGER, 4);
constexpr CpoType text = type(25, CPO_STRING);
constexpr CpoType oid = type(26, CPO_OIDS, 4);
constexpr CpoType json = type(114, CPO_JSON);
constexpr CpoType box = {603, CPO_OTHER, 32, 'd', ';', nullptr, 0, nullptr};
constexpr CpoType float8 = type(701, CPO_FLOAT, 8, 'd');
constexpr CpoType date = type(1082, CPO_DATE, 4);
constexpr CpoType time_of_day = type(1083, CPO_TIME, 8, 'd');
constexpr CpoType timestamp = type(1114, CPO_TIMESTAMP, 8, 'd');
constexpr CpoType timestamptz = type(1184, CPO_TIMESTAMPTZ, 8, 'd');
constexpr CpoType bits = type(1560, CPO_BIT);
constexpr CpoType numeric = type(1700, CPO_NUMERIC);
constexpr CpoType uuid = type(2950, CPO_UUID, 16, 'c');
constexpr CpoType range = type(3904, CPO_OTHER);

TEST(json_value, null)
{
	for (const CpoType &of : {boolean, int4, text, json, uuid, array_of(1007, int4)})
		EXPECT_EQ(written(of, harness::null), "null");
}

// What is raw and what the server's text says are the same value.
TEST(json_value, raw_and_text_agree)
{
	struct pair {
		const CpoType &of;
		CpoValue raw_form;
		const char *text_form;
		const char *expected;
	};
	const std::string one_and_a_half = test::from_hex("808001008813"); // scale 1; 1, 5000
	const std::string not_a_number = test::from_hex("00c0");
	const std::string id = test::from_hex("a0eebc999c0b4ef8bb6d6bb9bd380a11");
	const std::string some_bytes("\x00\xff", 2);
	const pair pairs[] = {
		{boolean, raw(1), "t", "true"},
		{boolean, raw(0), "f", "false"},
		{int2, raw(-32768), "-32768", "-32768"},
		{int4, raw(0), "0", "0"},
		{int8, raw(INT64_MIN), "-9223372036854775808", "-9223372036854775808"},
		{oid, raw(4294967295), "4294967295", "4294967295"},
		{numeric, raw(one_and_a_half), "1.5", "1.5"},
		{numeric, raw(not_a_number), "NaN", R"("NaN")"},
		{text, raw("a\"b\n"), "a\"b\n", R"("a\"b\n")"},
		{bytea, raw(some_bytes), "\\x00ff", R"("AP8=")"},
		{bytea, raw(std::string_view()), "\\x", R"("")"},
		{date, raw(0), "2000-01-01", R"("2000-01-01")"},
		{date, raw(INT32_MAX), "infinity", R"("infinity")"},
		{time_of_day, raw(86'400'000'000), "24:00:00", R"("24:00:00")"},
		{timestamp, raw(0), "2000-01-01 00:00:00", R"("2000-01-01T00:00:00")"},
		{timestamp, raw(500'000), "2000-01-01 00:00:00.5", R"("2000-01-01T00:00:00.5")"},
		{timestamp, raw(INT64_MIN), "-infinity", R"("-infinity")"},
		{timestamptz, raw(0), "2000-01-01 00:00:00+00", R"("2000-01-01T00:00:00Z")"},
		{timestamptz, raw(INT64_MAX), "infinity", R"("infinity")"},
		{uuid, raw(id), "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
			R"("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")"},
	};
	for (const pair &one : pairs) {
		EXPECT_EQ(written(one.of, one.raw_form), one.expected);
		EXPECT_EQ(written(one.of, out(one.text_form)), one.expected);
	}
}

// The two ways of the writers that know a calendar, over many times.
TEST(json_value, times_agree_with_the_servers_text)
{
	test::random_source random(3);
	for (int round = 0; round < 20'000; ++round) {
		const std::int64_t us = random.integer() % 200'000'000'000'000'000;
		const std::string from_raw = written(timestamp, raw(us));
		// "2000-01-01T00:00:00 BC" to the server's "2000-01-01 00:00:00 BC"
		std::string server = from_raw.substr(1, from_raw.size() - 2);
		if (server.ends_with("infinity"))
			continue;
		server[server.find('T')] = ' ';
		EXPECT_EQ(written(timestamp, out(server)), from_raw);
		std::string zoned = server;
		const std::size_t bc = zoned.find(" BC");
		zoned.insert(bc == std::string::npos ? zoned.size() : bc, "+00");
		EXPECT_EQ(written(timestamptz, out(zoned)), written(timestamptz, raw(us)));
	}
}

TEST(json_value, numbers_that_json_has_not)
{
	for (const char *odd : {"NaN", "Infinity", "-Infinity"}) {
		const std::string expected = '"' + std::string(odd) + '"';
		EXPECT_EQ(written(float8, out(odd)), expected);
		EXPECT_EQ(written(numeric, out(odd)), expected);
	}
	EXPECT_EQ(written(float8, out("1e+15")), "1e+15");
	EXPECT_EQ(written(float8, out("-0")), "-0");
	EXPECT_EQ(written(numeric, out("100.00")), "100.00");
}

TEST(json_value, numbers_as_string)
{
	struct expected {
		const CpoType &of;
		CpoValue value;
		bool wide, all;
	};
	const expected table[] = {{int4, raw(7), false, true}, {int8, raw(7), true, true},
		{oid, raw(7), false, true}, {float8, out("7"), false, true},
		{numeric, out("7"), true, true}};
	for (const expected &e : table) {
		EXPECT_EQ(written(e.of, e.value), "7");
		EXPECT_EQ(written(e.of, e.value, numbers(numbers_as_string::wide)), e.wide ? "\"7\"" : "7");
		EXPECT_EQ(written(e.of, e.value, numbers(numbers_as_string::all)), e.all ? "\"7\"" : "7");
	}
	EXPECT_EQ(written(json, out("7"), numbers(numbers_as_string::all)), "7") << "a document's own";
	EXPECT_EQ(written(boolean, raw(1), numbers(numbers_as_string::all)), "true");
	EXPECT_EQ(written(array_of(1016, int8), out("{7,NULL}"), numbers(numbers_as_string::wide)),
		R"(["7",null])");
}

TEST(json_value, bytea_as_hex)
{
	json_settings hex;
	hex.bytea = bytea_style::hex;
	EXPECT_EQ(written(bytea, raw("\x0a\xff"), hex), R"("0aff")");
	EXPECT_EQ(written(bytea, out("\\x0aff"), hex), R"("0aff")");
}

TEST(json_value, bytea_that_is_no_hex_stays_text)
{
	for (const char *odd : {"", "x", "\\x0", "\\xgg", "\\X00", "\\\\x00", "plain"})
		EXPECT_EQ(written(bytea, out(odd)), written(text, out(odd))) << odd;
}

TEST(json_value, documents_are_embedded_on_one_line)
{
	EXPECT_EQ(written(json, out("{\"a\":\n\t[1,\r\n2.50e3], \"a\": \"\\n\"}")),
		R"({"a":  [1,  2.50e3], "a": "\n"})");
	EXPECT_EQ(written(json, out("null")), "null");
	EXPECT_EQ(written(json, out("\"é\""), {}, text_mode::ascii), R"("\u00e9")");
}

TEST(json_value, the_rest_is_text)
{
	EXPECT_EQ(written(bits, out("101")), R"("101")");
	EXPECT_EQ(written(range, out("[\"a\",b)")), R"-("[\"a\",b)")-");
	EXPECT_EQ(written(box, out("(1,1),(0,0)")), R"-("(1,1),(0,0)")-");
}

TEST(json_value, a_char_may_be_half_a_character)
{
	EXPECT_EQ(written(character, out("a")), R"("a")");
	EXPECT_EQ(written(character, out("\xc3")), "\"\xef\xbf\xbd\"");
	EXPECT_EQ(written(character, out("\xc3"), {}, text_mode::ascii), R"("\ufffd")");
}

TEST(json_value, ascii_for_other_encodings)
{
	EXPECT_EQ(written(text, raw("é日🐘"), {}, text_mode::ascii), R"("\u00e9\u65e5\ud83d\udc18")");
}

// --- arrays ---

TEST(json_value, arrays_of_text)
{
	const CpoType of_text = array_of(1009, text);
	const auto from = [&](const char *array) { return written(of_text, out(array)); };
	EXPECT_EQ(from("{}"), "[]");
	EXPECT_EQ(from("{a,NULL,\"NULL\",\"\",\"quo\\\"te\",\"back\\\\slash\",\"com,ma\"}"),
		R"(["a",null,"NULL","","quo\"te","back\\slash","com,ma"])");
	EXPECT_EQ(from("{{a,b},{c,NULL}}"), R"([["a","b"],["c",null]])");
	EXPECT_EQ(from("[0:1][-1:0]={{a,b},{c,d}}"), R"([["a","b"],["c","d"]])");
	EXPECT_EQ(from("{{{{{{x}}}}}}"), R"([[[[[["x"]]]]]])");
	EXPECT_EQ(written(array_of(1020, box), out("{(1,1),(0,0);(2,2),(1,1)}")),
		R"-(["(1,1),(0,0)","(2,2),(1,1)"])-");
}

// An array of int4 as the server stores it; `nulls` are left out of the values.
std::string int4_array(const std::vector<std::int32_t> &dims, const std::vector<bool> &nulls,
	const std::vector<std::int32_t> &values)
{
	std::string bytes;
	const auto put = [&](std::int32_t n) {
		bytes.append(reinterpret_cast<const char *>(&n), sizeof(n));
	};
	const std::size_t header = 16 + 8 * dims.size();
	const std::size_t bitmap = nulls.empty() ? 0 : (nulls.size() + 7) / 8;
	const std::size_t data = (header + bitmap + 7) / 8 * 8;
	put(static_cast<std::int32_t>((data + 4 * values.size()) << 2));
	put(static_cast<std::int32_t>(dims.size()));
	put(bitmap == 0 ? 0 : static_cast<std::int32_t>(data));
	put(23);
	for (const std::int32_t n : dims)
		put(n);
	for (std::size_t i = 0; i < dims.size(); ++i)
		put(1);
	if (bitmap != 0) {
		std::string map(bitmap, '\0');
		for (std::size_t i = 0; i < nulls.size(); ++i)
			if (!nulls[i])
				map[i / 8] = static_cast<char>(map[i / 8] | 1 << i % 8);
		bytes += map;
		bytes.resize(data);
	}
	for (const std::int32_t n : values)
		put(n);
	return bytes;
}

TEST(json_value, arrays_raw_and_text_agree)
{
	const CpoType of_int = array_of(1007, int4);
	struct pair {
		std::string binary;
		const char *text_form, *expected;
	};
	const pair pairs[] = {
		{int4_array({}, {}, {}), "{}", "[]"},
		{int4_array({3}, {}, {1, -2, 3}), "{1,-2,3}", "[1,-2,3]"},
		{int4_array({3}, {false, true, false}, {1, 3}), "{1,NULL,3}", "[1,null,3]"},
		{int4_array({2, 2}, {}, {1, 2, 3, 4}), "{{1,2},{3,4}}", "[[1,2],[3,4]]"},
		{int4_array({2, 1, 2}, {false, false, false, true}, {1, 2, 3}), "{{{1,2}},{{3,NULL}}}",
			"[[[1,2]],[[3,null]]]"},
	};
	for (const pair &one : pairs) {
		EXPECT_EQ(written(of_int, raw(one.binary)), one.expected);
		EXPECT_EQ(written(of_int, out(one.text_form)), one.expected);
	}
}

// The brackets that a broken array opened are taken back.
TEST(json_value, malformed_arrays_are_strings)
{
	const CpoType of_int = array_of(1007, int4);
	for (const char *odd : {"", "{", "{1", "{1,", "{1,}", "1", "{1}x", "{{1},{2}", "{\"1",
			 "[1:2]{1}", "{1}}", "{1 {2}}"}) {
		const std::string got = written(of_int, out(odd));
		EXPECT_EQ(got, written(text, out(odd))) << odd;
	}
	byte_buffer buffer(std::pmr::new_delete_resource());
	buffer.append("before");
	const json_value_writer writer(std::pmr::new_delete_resource(), {}, text_mode::utf8);
	writer.append(buffer, of_int, out("{1,2"));
	EXPECT_EQ(buffer.view(), R"(before"{1,2")");
}

TEST(json_value, malformed_binary_arrays_are_errors)
{
	const CpoType of_int = array_of(1007, int4);
	const std::string fine = int4_array({3}, {}, {1, 2, 3});
	for (std::size_t length = 0; length < fine.size(); ++length) {
		const test::exact_copy cut(std::string_view(fine).substr(0, length));
		EXPECT_ANY_THROW(written(of_int, raw(cut.view()))) << length;
	}
}

// --- composites ---

TEST(json_value, composites)
{
	const CpoField fields[] = {{driver::span("a"), &int4}, {driver::span("B \"b\""), &text}};
	const CpoType pair = {20000, CPO_COMPOSITE, -1, 'd', ',', nullptr, 2, fields};
	EXPECT_EQ(written(pair, out("(1,x)")), R"({"a":1,"B \"b\"":"x"})");
	EXPECT_EQ(written(pair, out("(,)")), R"({"a":null,"B \"b\"":null})");
	EXPECT_EQ(written(pair, out("(1,\"\")")), R"({"a":1,"B \"b\"":""})");
	EXPECT_EQ(written(pair, out("(1,\"say \"\"hi\"\" \\\\ (a,b)\")")),
		R"-({"a":1,"B \"b\"":"say \"hi\" \\ (a,b)"})-");
	EXPECT_EQ(written(array_of(20001, pair), out("{\"(1,x)\",NULL,\"(,)\"}")),
		R"([{"a":1,"B \"b\"":"x"},null,{"a":null,"B \"b\"":null}])");

	const CpoType pairs = array_of(20001, pair);
	const CpoField outer[] = {{driver::span("p"), &pair}, {driver::span("ps"), &pairs}};
	const CpoType nested = {20002, CPO_COMPOSITE, -1, 'd', ',', nullptr, 2, outer};
	EXPECT_EQ(written(nested, out("(\"(1,x)\",\"{\"\"(2,y)\"\"}\")")),
		R"({"p":{"a":1,"B \"b\"":"x"},"ps":[{"a":2,"B \"b\"":"y"}]})");

	const CpoType empty = {20003, CPO_COMPOSITE, -1, 'd', ',', nullptr, 0, nullptr};
	EXPECT_EQ(written(empty, out("()")), "{}");
	const CpoType single = {20004, CPO_COMPOSITE, -1, 'd', ',', nullptr, 1, fields};
	EXPECT_EQ(written(single, out("()")), R"({"a":null})");
}

TEST(json_value, malformed_composites_are_strings)
{
	const CpoField fields[] = {{driver::span("a"), &int4}, {driver::span("b"), &text}};
	const CpoType pair = {20000, CPO_COMPOSITE, -1, 'd', ',', nullptr, 2, fields};
	for (const char *odd : {"", "(", "(1", "(1)", "(1,2,3)", "1,2", "(1,\"x)", "(1,x)y"})
		EXPECT_EQ(written(pair, out(odd)), written(text, out(odd))) << odd;
}

// Whatever an output function gives, what comes out is one line of valid strings.
TEST(json_value, any_text_of_any_type_is_one_line)
{
	const CpoField fields[] = {{driver::span("a"), &bytea}, {driver::span("b"), &text}};
	const CpoType pair = {20000, CPO_COMPOSITE, -1, 'd', ',', nullptr, 2, fields};
	const CpoType of_pairs = array_of(20001, pair);
	const CpoType of_text = array_of(1009, text);
	test::random_source random(4);
	for (int round = 0; round < 20'000; ++round) {
		const std::string odd = random.text(random.below(20), "{}(),\"\\\n:=[]0", 2);
		for (const CpoType *of : {&pair, &of_pairs, &of_text, &text, &bytea}) {
			const test::exact_copy exact(odd);
			const std::string got = written(*of, out(exact.view()), {}, text_mode::checked_utf8);
			EXPECT_EQ(got.find('\n'), std::string::npos);
			EXPECT_FALSE(got.empty());
		}
	}
}

} // namespace
} // namespace cpp_output
