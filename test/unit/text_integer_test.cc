#include "text/integer.h"

#include <gtest/gtest.h>

#include "text_support.h"

#include <cinttypes>
#include <limits>

using namespace cpp_output;
using namespace cpp_output::test;

namespace
{

std::string plain_integer(std::int64_t value)
{
	return std::to_string(value);
}

std::string plain_lsn(std::uint64_t lsn)
{
	char text[32];
	std::snprintf(
		text, sizeof text, "%X/%X", static_cast<unsigned>(lsn >> 32), static_cast<unsigned>(lsn));
	return text;
}

std::string fast_integer(std::int64_t value)
{
	return written(integer_max, [=](char *out) { return write_integer(out, value); });
}

std::string fast_unsigned(std::uint64_t value)
{
	return written(integer_max, [=](char *out) { return write_unsigned(out, value); });
}

std::string fast_lsn(std::uint64_t lsn)
{
	return written(lsn_max, [=](char *out) { return write_lsn(out, lsn); });
}

TEST(integer, limits)
{
	EXPECT_EQ(fast_integer(0), "0");
	EXPECT_EQ(fast_integer(INT64_MAX), "9223372036854775807");
	EXPECT_EQ(fast_integer(INT64_MIN), "-9223372036854775808");
	EXPECT_EQ(fast_unsigned(UINT64_MAX), "18446744073709551615");
}

TEST(integer, around_powers_of_ten_and_two)
{
	std::uint64_t power = 1;
	for (int i = 0; i < 20; i++, power *= 10) {
		for (const std::uint64_t value : {power - 1, power, power + 1}) {
			EXPECT_EQ(fast_unsigned(value), std::to_string(value));
			EXPECT_EQ(fast_integer(static_cast<std::int64_t>(value)),
				plain_integer(static_cast<std::int64_t>(value)));
		}
	}
	for (int i = 0; i < 64; i++) {
		const std::uint64_t value = std::uint64_t{1} << i;
		EXPECT_EQ(fast_unsigned(value), std::to_string(value));
		EXPECT_EQ(fast_unsigned(value - 1), std::to_string(value - 1));
	}
}

TEST(integer, small_ones)
{
	for (std::int64_t value = -11000; value <= 11000; value++)
		ASSERT_EQ(fast_integer(value), plain_integer(value));
}

TEST(integer, random_ones)
{
	random_source random(1);
	for (int i = 0; i < 100000; i++) {
		const std::int64_t value = random.integer();
		ASSERT_EQ(fast_integer(value), plain_integer(value));
		ASSERT_EQ(fast_unsigned(static_cast<std::uint64_t>(value)),
			std::to_string(static_cast<std::uint64_t>(value)));
	}
}

TEST(lsn, as_the_server_writes_it)
{
	EXPECT_EQ(fast_lsn(0), "0/0");
	EXPECT_EQ(fast_lsn(0x1a2b3c8), "0/1A2B3C8");
	EXPECT_EQ(fast_lsn(0x0000001600b374d8), "16/B374D8");
	EXPECT_EQ(fast_lsn(UINT64_MAX), "FFFFFFFF/FFFFFFFF");
	random_source random(2);
	for (int i = 0; i < 20000; i++) {
		const auto lsn = static_cast<std::uint64_t>(random.integer());
		ASSERT_EQ(fast_lsn(lsn), plain_lsn(lsn));
	}
}

} // namespace
