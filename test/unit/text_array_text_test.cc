#include "text/array_text.h"

#include <gtest/gtest.h>

#include "stride.h"
#include "text_support.h"

#include <optional>
#include <vector>

using namespace cpp_output;
using namespace cpp_output::test;

namespace
{

// The events in short: braces, <element>, null, and "." or "!" at the end.
template <typename Reader> std::string events(Reader &reader, std::string_view braces)
{
	byte_buffer scratch(std::pmr::new_delete_resource());
	std::string list;
	for (;;) {
		std::string_view element;
		switch (reader.next(element, scratch)) {
		case text_event::open:
			list += braces[0];
			break;
		case text_event::close:
			list += braces[1];
			break;
		case text_event::element:
			list += '<' + std::string(element) + '>';
			break;
		case text_event::null:
			EXPECT_TRUE(element.empty());
			list += "null";
			break;
		case text_event::end:
			EXPECT_EQ(reader.next(element, scratch), text_event::end);
			return list + '.';
		case text_event::malformed:
			EXPECT_EQ(reader.next(element, scratch), text_event::malformed);
			return list + '!';
		}
	}
}

std::string array_events(std::string_view text, char delimiter = ',')
{
	const exact_copy copy(text);
	array_text_reader reader(copy.view(), delimiter);
	return events(reader, "{}");
}

std::string record_events(std::string_view text)
{
	const exact_copy copy(text);
	record_text_reader reader(copy.view());
	return events(reader, "()");
}

// The rules of array_out and record_out in plain form.
std::string quoted(std::string_view text, bool array)
{
	std::string result = "\"";
	for (const char c : text) {
		if (c == '"' || c == '\\')
			result += array ? '\\' : c;
		result += c;
	}
	return result + '"';
}

bool is_word_null(std::string text)
{
	for (char &c : text)
		c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
	return text == "null";
}

std::string plain_array(const std::vector<std::optional<std::string>> &elements)
{
	std::string text = "{";
	for (const auto &element : elements) {
		if (text.size() > 1)
			text += ',';
		if (!element.has_value())
			text += "NULL";
		else if (element->empty() || is_word_null(*element) ||
				 element->find_first_of("{}\\\", \t\n\r\v\f") != std::string::npos)
			text += quoted(*element, true);
		else
			text += *element;
	}
	return text + '}';
}

std::string plain_record(const std::vector<std::optional<std::string>> &fields)
{
	std::string text;
	for (const auto &field : fields) {
		text += text.empty() ? '(' : ',';
		if (!field.has_value())
			continue;
		if (field->empty() || field->find_first_of("()\\\", \t\n\r\v\f") != std::string::npos)
			text += quoted(*field, false);
		else
			text += *field;
	}
	return text + ')';
}

std::string expected_events(
	const std::vector<std::optional<std::string>> &elements, std::string_view braces)
{
	std::string list(1, braces[0]);
	for (const auto &element : elements)
		list += element.has_value() ? '<' + *element + '>' : "null";
	return list + braces[1] + '.';
}

std::vector<std::optional<std::string>> random_elements(random_source &random, std::size_t least)
{
	std::vector<std::optional<std::string>> elements;
	for (std::size_t left = least + random.below(8); left > 0; left--) {
		if (random.one_in(5))
			elements.emplace_back();
		else if (random.one_in(20))
			elements.emplace_back("NulL");
		else
			elements.push_back(random.text(
				random.below(60), "\"\\{},() ", static_cast<unsigned>(1 + random.below(30))));
	}
	return elements;
}

// Texts from PostgreSQL 15.20.
TEST(array_text, of_the_server)
{
	EXPECT_EQ(array_events("{}"), "{}.");
	EXPECT_EQ(array_events(R"({a,"b c","","null","NULL",NULL,"x\"y\\z","{}","a,b"})"),
		R"({<a><b c><><null><NULL>null<x"y\z><{}><a,b>}.)");
	EXPECT_EQ(array_events("[0:1][2:3]={{1,2},{3,4}}"), "{{<1><2>}{<3><4>}}.");
	EXPECT_EQ(array_events("[-2:-1]={1,NULL}"), "{<1>null}.");
	EXPECT_EQ(array_events("{(1,1),(0,0);(2,2),(0,0)}", ';'), "{<(1,1),(0,0)><(2,2),(0,0)>}.");
	EXPECT_EQ(array_events(R"x({"(1,\"a\"\"b\")"})x"), R"x({<(1,"a""b")>}.)x");
	EXPECT_EQ(array_events("{{{1}},{{2}}}"), "{{{<1>}}{{<2>}}}.");
}

TEST(array_text, only_unquoted_null_is_null)
{
	EXPECT_EQ(array_events("{NULL,null,NULLS,NUL,\"NULL\"}"), "{nullnull<NULLS><NUL><NULL>}.");
}

TEST(array_text, malformed)
{
	for (const char *text : {"", "x", "1", "[0:1", "[0:1]", "[0:1]{1}", "[a:b]={1}", "[0:1]="})
		EXPECT_EQ(array_events(text), "!") << text;
	for (const char *text : {"{", "{,}", "{,1}", "{\"a", "{\"a\\", "{a", "{a\"b}", "{\\}"})
		EXPECT_EQ(array_events(text), "{!") << text;
	EXPECT_EQ(array_events("{1"), "{!");
	EXPECT_EQ(array_events("{1,"), "{<1>!");
	EXPECT_EQ(array_events("{1,}"), "{<1>!");
	EXPECT_EQ(array_events("{1{2}}"), "{!");
	EXPECT_EQ(array_events("{\"1\"2}"), "{<1>!");
	EXPECT_EQ(array_events("{1}x"), "{<1>}!");
	EXPECT_EQ(array_events("{1}}"), "{<1>}!");
	EXPECT_EQ(array_events("{1}{2}"), "{<1>}!");
	EXPECT_EQ(array_events("{{1}{2}}"), "{{<1>}!");
	EXPECT_EQ(array_events("{{1}"), "{{<1>}!");
}

TEST(array_text, depth)
{
	byte_buffer scratch(std::pmr::new_delete_resource());
	std::string_view element;
	array_text_reader reader("{{1}}");
	std::vector<int> depths;
	while (reader.next(element, scratch) != text_event::end)
		depths.push_back(reader.depth());
	EXPECT_EQ(depths, (std::vector<int>{1, 2, 2, 1, 0}));
}

TEST(array_text, unescapes_into_scratch_only_where_it_must)
{
	byte_buffer scratch(std::pmr::new_delete_resource());
	scratch.append("mine");
	const std::string text = R"({"a b","c\"d","\\"})";
	array_text_reader reader(text);
	std::string_view element;
	reader.next(element, scratch);
	EXPECT_EQ(reader.next(element, scratch), text_event::element);
	EXPECT_EQ(element.data(), text.data() + 2);
	EXPECT_EQ(scratch.view(), "mine");
	reader.next(element, scratch);
	EXPECT_EQ(element, "c\"d");
	EXPECT_EQ(scratch.view(), "c\"d");
	reader.next(element, scratch);
	EXPECT_EQ(element, "\\");
}

TEST(array_text, random_ones)
{
	random_source random(15);
	for (int i = 0; i < 20000; i += stride()) {
		const auto elements = random_elements(random, 0);
		ASSERT_EQ(array_events(plain_array(elements)), expected_events(elements, "{}"));
	}
}

TEST(record_text, of_the_server)
{
	EXPECT_EQ(record_events(R"x((a,"b ""c",,"","x\\y","(z)","d,e","{""q\\""r"",s}"))x"),
		R"x((<a><b "c>null<><x\y><(z)><d,e><{"q\"r",s}>).)x");
	EXPECT_EQ(record_events("()"), "(null).");
	EXPECT_EQ(record_events("(,)"), "(nullnull).");
	EXPECT_EQ(record_events("(\"\")"), "(<>).");
	EXPECT_EQ(record_events("(NULL)"), "(<NULL>).");
}

TEST(record_text, malformed)
{
	for (const char *text : {"", "a", ")"})
		EXPECT_EQ(record_events(text), "!") << text;
	for (const char *text : {"(", "(a", "(\"a", "(\"a\"\"", "(\"a\\", "(a\"b\")", "((", "(\\"})
		EXPECT_EQ(record_events(text), "(!") << text;
	EXPECT_EQ(record_events("(a,"), "(<a>!");
	EXPECT_EQ(record_events("(\"a\"b)"), "(<a>!");
	EXPECT_EQ(record_events("(a)b"), "(<a>)!");
}

TEST(record_text, random_ones)
{
	random_source random(16);
	for (int i = 0; i < 20000; i += stride()) {
		const auto fields = random_elements(random, 1);
		ASSERT_EQ(record_events(plain_record(fields)), expected_events(fields, "()"));
	}
}

TEST(array_text, never_reads_beyond_its_end)
{
	random_source random(17);
	for (int i = 0; i < 50000; i += stride()) {
		std::string text;
		for (std::size_t left = random.below(30); left > 0; left--)
			text += "{}(),;\"\\[]=:01aNULL"[random.below(19)];
		array_events(text);
		record_events(text);
		array_events('{' + text + '}');
		record_events('(' + text + ')');
	}
}

} // namespace
