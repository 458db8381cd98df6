// Patterns for names, against a plain reference on random input.
#include "error.h"
#include "name_pattern.h"

#include <gtest/gtest.h>

#include <vector>

#include "text_support.h"

namespace cpp_output
{
namespace
{

name_patterns parsed(std::string_view text, std::size_t parts, bool fold = true)
{
	name_patterns patterns(std::pmr::new_delete_resource());
	patterns.parse(text, parts, fold, "tables");
	return patterns;
}

bool one(std::string_view pattern, std::string_view name, bool fold = true)
{
	return parsed(pattern, 1, fold).match(name);
}

std::string problem(std::string_view text, std::size_t parts)
{
	try {
		(void)parsed(text, parts);
	} catch (const core_error &error) {
		EXPECT_STREQ(error.record().sqlstate, "22023");
		EXPECT_NE(
			std::string_view(error.record().message).find("\"tables\""), std::string_view::npos);
		return error.record().detail;
	}
	return "none";
}

TEST(name_pattern, plain_names_are_folded)
{
	EXPECT_TRUE(one("Orders", "orders"));
	EXPECT_FALSE(one("Orders", "Orders"));
	EXPECT_TRUE(one("Orders", "Orders", false));
	EXPECT_TRUE(one("\"Orders\"", "Orders"));
	EXPECT_TRUE(one("ÄRGER", "Ärger")) << "ASCII letters only, as the server does in UTF-8";
	EXPECT_FALSE(one("order", "orders"));
	EXPECT_FALSE(one("orders", "order"));
}

TEST(name_pattern, wildcards)
{
	EXPECT_TRUE(one("*", ""));
	EXPECT_TRUE(one("*", "anything at all"));
	EXPECT_TRUE(one("o*s", "orders"));
	EXPECT_TRUE(one("o*s", "os"));
	EXPECT_TRUE(one("**s*", "orders"));
	EXPECT_TRUE(one("?rder?", "orders"));
	EXPECT_FALSE(one("?", ""));
	EXPECT_FALSE(one("?", "ab"));
	EXPECT_TRUE(one("?", "é")) << "one character, whatever its bytes";
	EXPECT_TRUE(one("?*?", "日本"));
	EXPECT_FALSE(one("?*?", "日"));
	EXPECT_TRUE(one("*ab", "aab"));
	EXPECT_TRUE(one("a*b*c", "a__b__b__c"));
}

TEST(name_pattern, quotes_keep_a_name_as_it_is)
{
	EXPECT_TRUE(one("\"*\"", "*"));
	EXPECT_FALSE(one("\"*\"", "x"));
	EXPECT_TRUE(one("\"a.b, c\"", "a.b, c"));
	EXPECT_TRUE(one("\"say \"\"hi\"\"\"", "say \"hi\""));
	EXPECT_TRUE(one("\"O\"*", "Orders"));
	EXPECT_TRUE(one("x\"Y\"z", "xYz"));
}

TEST(name_pattern, parts)
{
	EXPECT_TRUE(parsed("a.b", 2).match("a", "b"));
	EXPECT_TRUE(parsed(" a . b ", 2).match("a", "b"));
	EXPECT_FALSE(parsed("a.b", 2).match("b", "a"));
	EXPECT_TRUE(parsed("x.y,a.*", 2).match("a", "b"));
	EXPECT_TRUE(parsed("*.*.c?", 3).match("a", "b", "c1"));
	EXPECT_FALSE(parsed("*.*.c?", 3).match("a", "b", "c"));
	EXPECT_TRUE(parsed("a.b", 1).match("a.b")) << "a single part may have dots";
}

TEST(name_pattern, problems)
{
	EXPECT_EQ(problem("a", 2), "In element 1 of the list a name has too few parts.");
	EXPECT_EQ(problem("a.b,c.d.e", 2), "In element 2 of the list a name has too many parts.");
	EXPECT_EQ(problem("", 2), "In element 1 of the list a name is empty.");
	EXPECT_EQ(problem("a.b,", 2), "In element 2 of the list a name is empty.");
	EXPECT_EQ(problem("a.", 2), "In element 1 of the list a name is empty.");
	EXPECT_EQ(problem("a.\"\"", 2), "In element 1 of the list a name is empty.");
	EXPECT_EQ(problem("a.\"b", 2), "In element 1 of the list a quoted name does not end.");
	EXPECT_EQ(problem("a.b c.d", 2), "In element 1 of the list a comma is missing between two "
									 "names.");
	EXPECT_EQ(problem("a.b", 2), "none");
}

TEST(name_pattern, a_failed_parse_changes_nothing)
{
	name_patterns patterns = parsed("a.b", 2);
	EXPECT_THROW(patterns.parse("c.d,e", 2, true, "tables"), core_error);
	EXPECT_TRUE(patterns.match("a", "b"));
	EXPECT_FALSE(patterns.match("c", "d"));
}

TEST(name_pattern, long_lists_and_names)
{
	std::string list = "a.b";
	for (int i = 0; i < 2000; ++i)
		list += ",x" + std::to_string(i) + ".y";
	EXPECT_TRUE(parsed(list, 2).match("x1999", "y"));
	EXPECT_FALSE(parsed(list, 2).match("x2000", "y"));
	// many stars against a name that almost matches
	std::string stars;
	for (int i = 0; i < 30; ++i)
		stars += "*a";
	EXPECT_FALSE(one(stars + "b", std::string(5000, 'a')));
	EXPECT_TRUE(one(stars, std::string(5000, 'a')));
}

// --- against a plain reference ---

struct token {
	enum { character, any, run } kind;
	std::string bytes; // of a character
};

std::vector<std::string> characters(std::string_view text)
{
	std::vector<std::string> all;
	for (const char c : text) {
		if (all.empty() || (static_cast<unsigned char>(c) & 0xC0U) != 0x80U)
			all.emplace_back();
		all.back() += c;
	}
	return all;
}

bool reference(const std::vector<token> &pattern, std::size_t p,
	const std::vector<std::string> &name, std::size_t n)
{
	if (p == pattern.size())
		return n == name.size();
	if (pattern[p].kind == token::run)
		return reference(pattern, p + 1, name, n) ||
			   (n < name.size() && reference(pattern, p, name, n + 1));
	return n < name.size() && (pattern[p].kind == token::any || pattern[p].bytes == name[n]) &&
		   reference(pattern, p + 1, name, n + 1);
}

// The reference's pattern in the spelling of the option; any character may be quoted.
std::string spelled(const std::vector<token> &pattern, test::random_source &random)
{
	std::string text;
	bool quoted = false;
	for (const token &t : pattern) {
		const bool letter = t.bytes.size() == 1 && t.bytes[0] >= 'a' && t.bytes[0] <= 'z';
		const bool quote = t.kind == token::character && (!letter || random.one_in(3));
		if (quote != quoted)
			text += '"';
		quoted = quote;
		if (t.kind != token::character)
			text += t.kind == token::any ? '?' : '*';
		else if (!quote)
			text += static_cast<char>(random.one_in(2) ? t.bytes[0] : t.bytes[0] - 'a' + 'A');
		else
			text += t.bytes == "\"" ? "\"\"" : t.bytes;
	}
	return quoted ? text + '"' : text;
}

TEST(name_pattern, random_patterns_match_as_the_reference)
{
	static constexpr std::string_view alphabet[] = {
		"a", "b", "A", "é", "日", "*", "?", "\"", ".", ",", " ", "🐘"};
	test::random_source random(1);
	int matched = 0;
	for (int round = 0; round < 20'000; ++round) {
		std::vector<token> pattern;
		for (std::uint64_t i = 0, n = 1 + random.below(6); i < n; ++i)
			switch (random.below(4)) {
			case 0:
				pattern.push_back({token::run, ""});
				break;
			case 1:
				pattern.push_back({token::any, ""});
				break;
			default:
				pattern.push_back({token::character,
					std::string(alphabet[random.below(random.one_in(2) ? 2 : 12)])});
			}
		std::string name;
		for (std::uint64_t i = 0, n = random.below(7); i < n; ++i)
			name += alphabet[random.below(random.one_in(2) ? 2 : 12)];
		const std::string text = spelled(pattern, random);
		const bool expected = reference(pattern, 0, characters(name), 0);
		matched += expected ? 1 : 0;
		EXPECT_EQ(one(text, name), expected) << text << " against " << name;
	}
	EXPECT_GT(matched, 2000);
}

TEST(name_pattern, any_text_is_parsed_or_refused)
{
	test::random_source random(2);
	int fine = 0;
	for (int round = 0; round < 20'000; ++round) {
		std::string text;
		for (std::uint64_t i = 0, n = random.below(12); i < n; ++i)
			text += random.one_in(3) ? random.random_character()
									 : std::string(1, "ab*?\"., \t"[random.below(9)]);
		name_patterns patterns(std::pmr::new_delete_resource());
		try {
			const test::exact_copy exact(text);
			patterns.parse(exact.view(), 1 + random.below(3), random.one_in(2), "tables");
			++fine;
			(void)patterns.match("a");
		} catch (const core_error &) {
			EXPECT_TRUE(patterns.empty());
		}
	}
	EXPECT_GT(fine, 1000);
}

} // namespace
} // namespace cpp_output
