#include "text/sql_literal.h"

#include <gtest/gtest.h>

#include "text_support.h"

using namespace cpp_output;
using namespace cpp_output::test;

namespace
{

std::string plain_body(std::string_view text)
{
	std::string result;
	for (const char c : text)
		result.append(c == '\'' ? 2 : 1, c);
	return result;
}

std::string fast_body(std::string_view text)
{
	const exact_copy copy(text);
	return appended([&](byte_buffer &out) { append_sql_literal_body(out, copy.view()); });
}

TEST(sql_literal, quotes_only)
{
	EXPECT_EQ(fast_body(""), "");
	EXPECT_EQ(fast_body("it's"), "it''s");
	EXPECT_EQ(fast_body("''"), "''''");
	EXPECT_EQ(fast_body("a\\b\n\"c\"\xff"), "a\\b\n\"c\"\xff");
}

TEST(sql_literal, random_text)
{
	random_source random(12);
	for (int i = 0; i < 20000; i++) {
		const std::string text =
			random.text(random.below(100), "'\\", static_cast<unsigned>(1 + random.below(30)));
		ASSERT_EQ(fast_body(text), plain_body(text));
	}
	for (const std::size_t n : {1023, 1024, 1025, 4096, 100000}) {
		for (const unsigned rarity : {1, 2, 1000}) {
			const std::string text = random.text(n, "'", rarity);
			ASSERT_EQ(fast_body(text), plain_body(text));
		}
		ASSERT_EQ(fast_body(std::string(n, '\'')), std::string(2 * n, '\''));
	}
}

TEST(sql_literal, stores_only_what_it_reserved)
{
	for (std::size_t n = 0; n < 70; n++) {
		for (const char c : {'\'', 'x'}) {
			const exact_copy copy(std::string(n, c));
			EXPECT_EQ(appended_tightly(
						  [&](byte_buffer &out) { append_sql_literal_body(out, copy.view()); }),
				plain_body(copy.view()));
		}
	}
}

} // namespace
