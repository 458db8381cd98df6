// json_string, json_document
#include "text/json_document.h"
#include "text/json_string.h"
#include "text/utf8.h"

#include <gtest/gtest.h>

#include "stride.h"
#include "text_support.h"

using namespace cpp_output;
using namespace cpp_output::test;

namespace
{

constexpr text_mode all_modes[] = {text_mode::utf8, text_mode::checked_utf8, text_mode::ascii};

std::string plain_unit(unsigned unit)
{
	char text[8];
	std::snprintf(text, sizeof text, "\\u%04x", unit);
	return text;
}

// What becomes of the character at the front, which is not ASCII.
std::string plain_beyond_ascii(std::string_view &text, text_mode mode)
{
	std::size_t length =
		mode == text_mode::utf8 ? 1 : utf8_sequence(text.data(), text.data() + text.size());
	std::string result;
	if (length == 0) {
		result = mode == text_mode::ascii ? "\\ufffd" : "\xef\xbf\xbd";
		length = 1;
	} else if (mode != text_mode::ascii) {
		result = text.substr(0, length);
	} else {
		const char32_t point = utf8_code_point(text.data(), length);
		if (point < 0x10000)
			result = plain_unit(point);
		else
			result = plain_unit(0xd800 + ((point - 0x10000) >> 10)) +
					 plain_unit(0xdc00 + ((point - 0x10000) & 0x3ff));
	}
	text.remove_prefix(length);
	return result;
}

std::string plain_escaped(std::string_view text, text_mode mode)
{
	std::string result;
	while (!text.empty()) {
		const char c = text.front();
		if (static_cast<unsigned char>(c) >= 0x80) {
			result += plain_beyond_ascii(text, mode);
			continue;
		}
		switch (c) {
		case '"':
			result += "\\\"";
			break;
		case '\\':
			result += "\\\\";
			break;
		case '\b':
			result += "\\b";
			break;
		case '\f':
			result += "\\f";
			break;
		case '\n':
			result += "\\n";
			break;
		case '\r':
			result += "\\r";
			break;
		case '\t':
			result += "\\t";
			break;
		default:
			if (c < 0x20)
				result += plain_unit(static_cast<unsigned>(c));
			else
				result += c;
		}
		text.remove_prefix(1);
	}
	return result;
}

std::string plain_document(std::string_view text, text_mode mode)
{
	std::string result;
	while (!text.empty()) {
		if (static_cast<unsigned char>(text.front()) >= 0x80) {
			result += plain_beyond_ascii(text, mode);
			continue;
		}
		result += text.front() < 0x20 ? ' ' : text.front();
		text.remove_prefix(1);
	}
	return result;
}

std::string fast_string(std::string_view text, text_mode mode)
{
	const exact_copy copy(text);
	return appended([&](byte_buffer &out) { append_json_string(out, copy.view(), mode); });
}

std::string fast_escaped(std::string_view text, text_mode mode)
{
	const exact_copy copy(text, text.size() % 7);
	return appended([&](byte_buffer &out) { append_json_escaped(out, copy.view(), mode); });
}

std::string fast_document(std::string_view text, text_mode mode)
{
	const exact_copy copy(text, text.size() % 7);
	return appended([&](byte_buffer &out) { append_json_document(out, copy.view(), mode); });
}

// Counts the bytes that a buffer holds at its largest.
class measuring_resource final : public std::pmr::memory_resource
{
public:
	std::size_t largest = 0;

private:
	void *do_allocate(std::size_t bytes, std::size_t alignment) override
	{
		largest = std::max(largest, bytes);
		return std::pmr::new_delete_resource()->allocate(bytes, alignment);
	}
	void do_deallocate(void *chunk, std::size_t bytes, std::size_t alignment) override
	{
		std::pmr::new_delete_resource()->deallocate(chunk, bytes, alignment);
	}
	bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
	{
		return this == &other;
	}
};

TEST(json_string, escapes_as_the_server_does)
{
	for (const text_mode mode : all_modes) {
		EXPECT_EQ(fast_string("", mode), "\"\"");
		EXPECT_EQ(fast_string("a", mode), "\"a\"");
		EXPECT_EQ(fast_string("a\"b", mode), "\"a\\\"b\"");
		EXPECT_EQ(fast_string("\b\f\n\r\t\"\\/", mode), R"("\b\f\n\r\t\"\\/")");
		EXPECT_EQ(fast_string("ab\x07\x7f", mode), "\"ab\\u0007\x7f\"");
		EXPECT_EQ(fast_string({"\0\x1f", 2}, mode), "\"\\u0000\\u001f\"");
		EXPECT_EQ(fast_escaped("", mode), "");
		EXPECT_EQ(fast_escaped("x\ny", mode), "x\\ny");
	}
	EXPECT_EQ(fast_string({}, text_mode::utf8), "\"\"");
}

TEST(json_string, beyond_ascii)
{
	const std::string text = "h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xff!";
	EXPECT_EQ(fast_escaped(text, text_mode::utf8), text);
	EXPECT_EQ(fast_escaped(text, text_mode::checked_utf8),
		"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xef\xbf\xbd!");
	EXPECT_EQ(fast_escaped(text, text_mode::ascii), "h\\u00e9 \\u20ac \\ud83d\\ude00 \\ufffd!");
	// each byte of what is cut off
	EXPECT_EQ(fast_escaped("\xe2\x82", text_mode::ascii), "\\ufffd\\ufffd");
	EXPECT_EQ(fast_escaped("\xf4\x8f\xbf\xbf", text_mode::ascii), "\\udbff\\udfff");
}

TEST(json_string, one_odd_byte_anywhere)
{
	for (const text_mode mode : all_modes) {
		for (std::size_t n = 1; n < 70; n++) {
			for (std::size_t i = 0; i < n; i++) {
				for (const char odd : {'"', '\\', '\n', '\x01', '\x1f', ' ', '!', '#', '\x7f',
						 '\x80', '\xa2', '\xdc', '\xff'}) {
					std::string text(n, 'x');
					text[i] = odd;
					ASSERT_EQ(fast_escaped(text, mode), plain_escaped(text, mode)) << n << ' ' << i;
					ASSERT_EQ(fast_document(text, mode), plain_document(text, mode));
				}
			}
		}
	}
}

TEST(json_string, every_pair_of_bytes)
{
	for (const text_mode mode : all_modes) {
		for (unsigned bits = 0; bits < 1 << 16; bits += stride()) {
			const std::string pair{static_cast<char>(bits >> 8), static_cast<char>(bits)};
			const std::string text = "123456789012345" + pair + pair + "12345";
			ASSERT_EQ(fast_escaped(text, mode), plain_escaped(text, mode)) << bits;
		}
	}
}

TEST(json_string, random_text)
{
	random_source random(9);
	for (int i = 0; i < 20000; i += stride()) {
		const std::string text = random.text(
			random.below(200), "\"\\\n\t\x01", static_cast<unsigned>(1 + random.below(30)));
		for (const text_mode mode : all_modes) {
			ASSERT_EQ(fast_string(text, mode), '"' + plain_escaped(text, mode) + '"');
			ASSERT_EQ(fast_document(text, mode), plain_document(text, mode));
		}
	}
}

TEST(json_string, stores_only_what_it_reserved)
{
	random_source random(10);
	for (std::size_t n = 0; n < 80; n += stride()) {
		for (const unsigned rarity : {1, 5}) {
			// controls only, and random text
			const std::string text =
				rarity == 1 ? std::string(n, '\x01') : random.text(n, "\x01", rarity);
			for (const text_mode mode : all_modes) {
				const exact_copy copy(text);
				EXPECT_EQ(appended_tightly([&](byte_buffer &out) {
					append_json_string(out, copy.view(), mode);
				}),
					'"' + plain_escaped(text, mode) + '"');
				EXPECT_EQ(appended_tightly([&](byte_buffer &out) {
					append_json_document(out, copy.view(), mode);
				}),
					plain_document(text, mode));
			}
		}
	}
}

TEST(json_string, long_text)
{
	random_source random(11);
	for (const std::size_t n :
		{1022, 1023, 1024, 1025, 1026, 1027, 2047, 2048, 2049, 5000, 70000}) {
		for (const unsigned rarity : {1, 2, 100, 100000}) {
			const std::string text = random.text(n, "\"\x01\xf0\x9f\x98\x80", rarity);
			for (const text_mode mode : all_modes) {
				ASSERT_EQ(fast_string(text, mode), '"' + plain_escaped(text, mode) + '"');
				ASSERT_EQ(fast_document(text, mode), plain_document(text, mode));
			}
		}
		// characters across the borders of pieces, and nothing but the worst case
		for (std::size_t shift = 0; shift < 4; shift++) {
			std::string text(shift, 'x');
			while (text.size() < n)
				text += "\xf0\x9f\x98\x80";
			const std::string controls(n + shift, '\x01');
			for (const text_mode mode : all_modes) {
				ASSERT_EQ(fast_escaped(text, mode), plain_escaped(text, mode));
				ASSERT_EQ(fast_document(text, mode), plain_document(text, mode));
				ASSERT_EQ(fast_escaped(controls, mode), plain_escaped(controls, mode));
			}
		}
	}
}

TEST(json_string, reserves_little_more_than_it_writes)
{
	const std::string text(std::size_t{10} << 20, 'x');
	for (const text_mode mode : all_modes) {
		measuring_resource memory;
		byte_buffer out(&memory);
		append_json_string(out, text, mode);
		EXPECT_LT(memory.largest, text.size() + 10000);
		out.shrink();
		memory.largest = 0;
		append_json_document(out, text, mode);
		EXPECT_LT(memory.largest, text.size() + 10000);
	}
}

TEST(json_document, on_one_line)
{
	for (const text_mode mode : all_modes) {
		EXPECT_EQ(fast_document("{\"a\":\r\n\t[1, \"x\\ny\"]}", mode), "{\"a\":   [1, \"x\\ny\"]}");
		EXPECT_EQ(fast_document("", mode), "");
	}
	const std::string text = "{\n\"k\": \"\xe2\x82\xac\xff\"}";
	EXPECT_EQ(fast_document(text, text_mode::utf8), "{ \"k\": \"\xe2\x82\xac\xff\"}");
	EXPECT_EQ(
		fast_document(text, text_mode::checked_utf8), "{ \"k\": \"\xe2\x82\xac\xef\xbf\xbd\"}");
	EXPECT_EQ(fast_document(text, text_mode::ascii), "{ \"k\": \"\\u20ac\\ufffd\"}");
}

} // namespace
