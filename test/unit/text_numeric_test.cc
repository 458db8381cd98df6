#include "text/numeric.h"

#include <gtest/gtest.h>

#include "stride.h"
#include "text_support.h"

#include <bit>
#include <vector>

using namespace cpp_output;
using namespace cpp_output::test;

namespace
{

struct plain_numeric {
	bool negative;
	int weight;
	int scale;
	std::vector<std::uint16_t> digits;
};

std::string plain_text(const plain_numeric &n)
{
	const auto group = [&](int power) { // the digit that counts 10000^power
		const int i = n.weight - power;
		const bool stored = i >= 0 && i < static_cast<int>(n.digits.size());
		char four[8];
		std::snprintf(
			four, sizeof four, "%04d", stored ? n.digits[static_cast<std::size_t>(i)] % 10000 : 0);
		return std::string(four);
	};
	std::string whole;
	for (int power = n.weight; power >= 0; power--)
		whole += group(power);
	if (n.weight < 0)
		whole = "0";
	// only the first digit loses its zeros: digits on disk start with one that is not 0
	for (int i = 0; i < 3 && whole.size() > 1 && whole[0] == '0' && n.weight >= 0; i++)
		whole.erase(0, 1);
	std::string fraction;
	for (int power = -1; static_cast<int>(fraction.size()) < n.scale; power--)
		fraction += group(power);
	fraction.resize(static_cast<std::size_t>(n.scale));
	return (n.negative ? "-" : "") + whole + (n.scale > 0 ? "." + fraction : "");
}

void put_16(std::string &bytes, unsigned value)
{
	const auto word = static_cast<std::uint16_t>(value);
	bytes.append(reinterpret_cast<const char *>(&word), 2);
}

std::string packed(const plain_numeric &n, bool brief)
{
	std::string bytes;
	if (brief) {
		put_16(bytes, 0x8000u | (n.negative ? 0x2000u : 0u) | static_cast<unsigned>(n.scale) << 7 |
						  (static_cast<unsigned>(n.weight) & 0x7f));
	} else {
		put_16(bytes, (n.negative ? 0x4000u : 0u) | static_cast<unsigned>(n.scale));
		put_16(bytes, static_cast<unsigned>(n.weight));
	}
	for (const std::uint16_t digit : n.digits)
		put_16(bytes, digit);
	return bytes;
}

std::string fast_text(std::string_view bytes)
{
	const exact_copy data(bytes);
	return appended([&](byte_buffer &out) { append_numeric(out, data.data(), bytes.size()); });
}

// The server's bytes are little-endian.
std::string of_server(std::string_view hex)
{
	std::string bytes = from_hex(hex);
	if constexpr (std::endian::native == std::endian::big) {
		for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
			std::swap(bytes[i], bytes[i + 1]);
	}
	return bytes;
}

// From PostgreSQL 15.20.
TEST(numeric, as_the_server_writes_it)
{
	static constexpr std::pair<const char *, const char *> pairs[] = {
		{"0080", "0"},
		{"8080", "0.0"},
		{"0081", "0.00"},
		{"00800100", "1"},
		{"00a00100", "-1"},
		{"00800a00", "10"},
		{"00800f27", "9999"},
		{"01800100", "10000"},
		{"018001000100", "10001"},
		{"01a2010000000100", "-10000.0001"},
		{"ff80e803", "0.1"},
		{"7f820100", "0.0001"},
		{"fe82e803", "0.00001"},
		{"7d860100", "0.000000000001"},
		{"ffa08813", "-0.5"},
		{"008101008813", "1.50"},
		{"87840c00800dd21ed2042e163423800dd21ed2042e162823",
			"123456789012345678901234567890.123456789"},
		{"00c0", "NaN"},
		{"00d0", "Infinity"},
		{"00f0", "-Infinity"},
		{"01800f270f27", "99999999"},
		{"02800100", "100000000"},
		{"05800100", "100000000000000000000"},
		{"7b8a0100", "0.00000000000000000001"},
		{"018201002909851a", "12345.6789"},
		{"018164000000e803", "1000000.10"},
		{"ff82d2048813", "0.12345"},
		{"008201002909", "1.2345"},
		{"81a00c00800d581b", "-123456.7"},
		{"00806400", "100"},
		{"ff816400", "0.010"},
		{"0099030087053124050efc1e060f530af80e0e1f440bb3071b1b9f24e803",
			"3.14159265358979323846264338327950288419716939937510"},
	};
	for (const auto &[hex, text] : pairs)
		EXPECT_EQ(fast_text(of_server(hex)), text);
	EXPECT_EQ(fast_text(of_server("000041000100")), "1" + std::string(260, '0'));
	EXPECT_EQ(fast_text(of_server("3f80581b")), "7" + std::string(255, '0'));
	EXPECT_EQ(fast_text(of_server("f09f0a00")), "0." + std::string(62, '0') + "1");
}

TEST(numeric, special)
{
	for (const char *hex : {"00c0", "00d0", "00f0"})
		EXPECT_TRUE(numeric_is_special(of_server(hex).data(), 2));
	for (const char *hex : {"0080", "00a0", "0000", "0040"})
		EXPECT_FALSE(numeric_is_special(of_server(hex).data(), 2));
	EXPECT_FALSE(numeric_is_special(nullptr, 0));
}

TEST(numeric, truncated_or_corrupt)
{
	EXPECT_EQ(fast_text(""), "0");
	EXPECT_EQ(fast_text("x"), "0");
	EXPECT_EQ(fast_text(of_server("00800100").substr(0, 3)), "0");
	// a long header without its weight, a digit beyond 9999
	EXPECT_EQ(fast_text(of_server("0100")), "0.0");
	EXPECT_EQ(fast_text(of_server("0080ffff")), "5535");
	random_source random(4);
	for (int i = 0; i < 20000; i++) {
		const std::string bytes = random.bytes(random.below(40));
		EXPECT_FALSE(fast_text(bytes).empty());
	}
}

TEST(numeric, extremes_of_weight_and_scale)
{
	for (const int weight : {-32768, -4097, -4096, -4095, -2, -1, 0, 1, 32767}) {
		for (const int scale : {0, 1, 3, 4, 5, 16380, 16383}) {
			for (const std::size_t ndigits : {0, 1, 2, 9}) {
				const plain_numeric n{
					true, weight, scale, std::vector<std::uint16_t>(ndigits, 1234)};
				ASSERT_EQ(fast_text(packed(n, false)), plain_text(n)) << weight << ' ' << scale;
			}
		}
	}
}

TEST(numeric, random_ones)
{
	random_source random(5);
	for (int i = 0; i < 50000; i += stride()) {
		const bool brief = random.one_in(2);
		plain_numeric n{};
		n.negative = random.one_in(2);
		n.weight = brief ? static_cast<int>(random.below(128)) - 64
						 : static_cast<int>(random.below(300)) - 150;
		if (random.one_in(2))
			n.weight = static_cast<int>(random.below(6)) - 3;
		n.scale = static_cast<int>(random.below(brief ? 64 : 400));
		for (std::size_t left = random.below(12); left > 0; left--)
			n.digits.push_back(static_cast<std::uint16_t>(random.below(10000)));
		const std::string bytes = packed(n, brief);
		ASSERT_EQ(fast_text(bytes), plain_text(n));
		if (i % 500 == 0) {
			const exact_copy odd(bytes, 1);
			EXPECT_EQ(appended_tightly(
						  [&](byte_buffer &out) { append_numeric(out, odd.data(), bytes.size()); }),
				plain_text(n));
		}
	}
}

} // namespace
