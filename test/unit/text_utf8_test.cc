#include "text/utf8.h"

#include <gtest/gtest.h>

#include "text_support.h"

using namespace cpp_output;
using namespace cpp_output::test;

namespace
{

// Decodes by arithmetic alone, then asks whether that was the shortest form.
std::size_t plain_sequence(std::string_view text)
{
	const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
	std::size_t length;
	char32_t point;
	if (byte(0) < 0x80)
		return 1;
	else if (byte(0) >> 5 == 0x6)
		length = 2, point = byte(0) & 0x1f;
	else if (byte(0) >> 4 == 0xe)
		length = 3, point = byte(0) & 0x0f;
	else if (byte(0) >> 3 == 0x1e)
		length = 4, point = byte(0) & 0x07;
	else
		return 0;
	if (text.size() < length)
		return 0;
	for (std::size_t i = 1; i < length; i++) {
		if (byte(i) >> 6 != 0x2)
			return 0;
		point = point << 6 | (byte(i) & 0x3f);
	}
	const std::size_t shortest = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
	const bool surrogate = point >= 0xd800 && point < 0xe000;
	return shortest == length && point <= 0x10ffff && !surrogate ? length : 0;
}

bool plain_is_utf8(std::string_view text)
{
	while (!text.empty()) {
		const std::size_t length = plain_sequence(text);
		if (length == 0)
			return false;
		text.remove_prefix(length);
	}
	return true;
}

std::string encoded(char32_t point)
{
	const auto byte = [](char32_t value) { return static_cast<char>(value); };
	const auto tail = [&](int shift) { return byte(0x80 | (point >> shift & 0x3f)); };
	if (point < 0x80)
		return {byte(point)};
	if (point < 0x800)
		return {byte(0xc0 | point >> 6), tail(0)};
	if (point < 0x10000)
		return {byte(0xe0 | point >> 12), tail(6), tail(0)};
	return {byte(0xf0 | point >> 18), tail(12), tail(6), tail(0)};
}

TEST(utf8, every_code_point)
{
	for (char32_t point = 0; point < 0x120000; point++) {
		const std::string text = encoded(point);
		const bool valid = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
		const std::size_t length = utf8_sequence(text.data(), text.data() + text.size());
		ASSERT_EQ(length, valid ? text.size() : 0) << std::uint32_t{point};
		if (valid) {
			ASSERT_TRUE(utf8_code_point(text.data(), length) == point);
		}
	}
}

TEST(utf8, every_beginning)
{
	for (unsigned bits = 0; bits < 1 << 16; bits++) {
		for (const char *tail : {"", "\x80", "\xbf\x80", "a"}) {
			const std::string text =
				std::string{static_cast<char>(bits >> 8), static_cast<char>(bits)} + tail;
			const exact_copy copy(text);
			ASSERT_EQ(utf8_sequence(copy.data(), copy.data() + text.size()), plain_sequence(text));
		}
	}
}

TEST(utf8, stops_at_the_end)
{
	const exact_copy euro("\xe2\x82\xac");
	EXPECT_EQ(utf8_sequence(euro.data(), euro.data() + 3), 3U);
	EXPECT_EQ(utf8_sequence(euro.data(), euro.data() + 2), 0U);
	EXPECT_EQ(utf8_sequence(euro.data(), euro.data() + 1), 0U);
}

TEST(utf8, one_bad_byte_anywhere)
{
	for (std::size_t n = 1; n < 70; n++) {
		std::string text(n, 'x');
		EXPECT_TRUE(is_utf8(exact_copy(text).view()));
		for (std::size_t i = 0; i < n; i++) {
			text[i] = '\x80';
			ASSERT_FALSE(is_utf8(exact_copy(text).view()));
			text[i] = '\0';
			ASSERT_TRUE(is_utf8(exact_copy(text).view()));
			ASSERT_FALSE(is_text_utf8(exact_copy(text).view()));
			text[i] = 'x';
		}
	}
	EXPECT_TRUE(is_utf8(""));
	EXPECT_TRUE(is_text_utf8(""));
	EXPECT_TRUE(is_text_utf8("\xf0\x9f\x98\x80"));
	EXPECT_FALSE(is_text_utf8("\xf0\x9f\x98"));
}

TEST(utf8, random_text)
{
	random_source random(8);
	int valid = 0;
	for (int i = 0; i < 20000; i++) {
		const exact_copy text(random.text(random.below(80), "\xc3\xa9", 100));
		valid += plain_is_utf8(text.view()) ? 1 : 0;
		ASSERT_EQ(is_utf8(text.view()), plain_is_utf8(text.view()));
	}
	EXPECT_GT(valid, 1000);
	EXPECT_LT(valid, 19000);
}

} // namespace
