#include "text/datetime.h"

#include <gtest/gtest.h>

#include "stride.h"
#include "text_support.h"

#include <chrono>

using namespace cpp_output;
using namespace cpp_output::test;

namespace
{

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t day = 86400 * second;

struct plain_moment {
	long long year;
	unsigned month, day_of_month;
	std::int64_t us; // of the day
};

std::int64_t floor_div(std::int64_t a, std::int64_t b)
{
	return a / b - (a % b < 0 ? 1 : 0);
}

// The library's calendar within one cycle of 400 years.
plain_moment plain_split(std::int64_t days, std::int64_t us)
{
	constexpr std::int64_t cycle = 146097;
	days += floor_div(us, day);
	us = (us % day + day) % day;
	const std::int64_t cycles = floor_div(days, cycle);
	const std::chrono::sys_days epoch{std::chrono::year{2000} / 1 / 1};
	const std::chrono::year_month_day date{epoch + std::chrono::days{days - cycles * cycle}};
	return {static_cast<int>(date.year()) + cycles * 400, static_cast<unsigned>(date.month()),
		static_cast<unsigned>(date.day()), us};
}

std::string plain_date(const plain_moment &at)
{
	char text[64];
	std::snprintf(text, sizeof text, "%04lld-%02u-%02u", at.year > 0 ? at.year : 1 - at.year,
		at.month, at.day_of_month);
	return text;
}

std::string plain_time(std::int64_t us)
{
	char text[64];
	std::snprintf(text, sizeof text, "%02d:%02d:%02d", static_cast<int>(us / (3600 * second)),
		static_cast<int>(us / (60 * second) % 60), static_cast<int>(us / second % 60));
	std::string result = text;
	if (us % second != 0) {
		std::snprintf(text, sizeof text, ".%06d", static_cast<int>(us % second));
		result += text;
		result.erase(result.find_last_not_of('0') + 1);
	}
	return result;
}

std::string plain_era(const plain_moment &at)
{
	return at.year > 0 ? "" : " BC";
}

std::string plain_timestamp(std::int64_t us, char separator)
{
	const plain_moment at = plain_split(0, us);
	return plain_date(at) + separator + plain_time(at.us) + plain_era(at);
}

std::string plain_timestamptz(std::int64_t us, std::int32_t offset, char separator)
{
	const plain_moment utc = plain_split(0, us);
	const plain_moment at = plain_split(floor_div(us, day), utc.us + std::int64_t{offset} * second);
	const long long seconds = offset < 0 ? -static_cast<long long>(offset) : offset;
	char zone[32];
	if (seconds % 60 != 0)
		std::snprintf(zone, sizeof zone, "%02lld:%02lld:%02lld", seconds / 3600, seconds / 60 % 60,
			seconds % 60);
	else if (seconds % 3600 != 0)
		std::snprintf(zone, sizeof zone, "%02lld:%02lld", seconds / 3600, seconds / 60 % 60);
	else
		std::snprintf(zone, sizeof zone, "%02lld", seconds / 3600);
	return plain_date(at) + separator + plain_time(at.us) + (offset < 0 ? '-' : '+') + zone +
		   plain_era(at);
}

std::string fast_date(std::int64_t days)
{
	return written(datetime_max, [=](char *out) { return write_date(out, days); });
}
std::string fast_time(std::int64_t us)
{
	return written(datetime_max, [=](char *out) { return write_time(out, us); });
}
std::string fast_timestamp(std::int64_t us, char separator = ' ')
{
	return written(datetime_max, [=](char *out) { return write_timestamp(out, us, separator); });
}
std::string fast_timestamptz(std::int64_t us, std::int32_t offset, char separator = ' ')
{
	return written(
		datetime_max, [=](char *out) { return write_timestamptz(out, us, offset, separator); });
}
std::string fast_utc(std::int64_t us)
{
	return written(datetime_max, [=](char *out) { return write_timestamp_utc(out, us); });
}

// From PostgreSQL 15.20.
TEST(datetime, dates_as_the_server_writes_them)
{
	static constexpr std::pair<std::int64_t, const char *> pairs[] = {
		{INT32_MIN, "-infinity"},
		{INT32_MAX, "infinity"},
		{0, "2000-01-01"},
		{-1, "1999-12-31"},
		{9829, "2026-11-29"},
		{-730119, "0001-01-01"},
		{-730120, "0001-12-31 BC"},
		{-746117, "0044-03-15 BC"},
		{-2451545, "4714-11-24 BC"},
		{2145031948, "5874897-12-31"},
		{2921939, "9999-12-31"},
		{2921940, "10000-01-01"},
		{59, "2000-02-29"},
		{-36466, "1900-02-28"},
		{-36465, "1900-03-01"},
		{-728965, "0004-02-29"},
		{-731888, "0005-02-28 BC"},
		{-730426, "0001-02-29 BC"},
		{-146038, "1600-02-29"},
		{3778591, "12345-06-07"},
	};
	for (const auto &[days, text] : pairs)
		EXPECT_EQ(fast_date(days), text);
}

TEST(datetime, times_as_the_server_writes_them)
{
	static constexpr std::pair<std::int64_t, const char *> pairs[] = {
		{0, "00:00:00"},
		{86400000000, "24:00:00"},
		{86399999999, "23:59:59.999999"},
		{45296500000, "12:34:56.5"},
		{1, "00:00:00.000001"},
		{3723120000, "01:02:03.12"},
		{65462123456, "18:11:02.123456"},
		{25200100000, "07:00:00.1"},
	};
	for (const auto &[us, text] : pairs)
		EXPECT_EQ(fast_time(us), text);
}

TEST(datetime, timestamps_as_the_server_writes_them)
{
	static constexpr std::pair<std::int64_t, const char *> pairs[] = {
		{INT64_MIN, "-infinity"},
		{INT64_MAX, "infinity"},
		{0, "2000-01-01 00:00:00"},
		{-1, "1999-12-31 23:59:59.999999"},
		{849291062123456, "2026-11-29 18:11:02.123456"},
		{-211813488000000000, "4714-11-24 00:00:00 BC"},
		{9223371331199999999, "294276-12-31 23:59:59.999999"},
		{-64464465599750000, "0044-03-15 12:00:00.25 BC"},
		{-63082281600000000, "0001-01-01 00:00:00"},
		{-63082281600100000, "0001-12-31 23:59:59.9 BC"},
		{252455616000000010, "10000-01-01 00:00:00.00001"},
	};
	for (const auto &[us, text] : pairs)
		EXPECT_EQ(fast_timestamp(us), text);
}

TEST(datetime, timestamps_with_offsets_as_the_server_writes_them)
{
	struct sample {
		std::int64_t us;
		std::int32_t offset;
		const char *text;
	};
	static constexpr sample samples[] = {
		{849291062123456, 0, "2026-11-29 18:11:02.123456+00"},
		{849287462000000, 3600, "2026-11-29 18:11:02+01"},
		{838656662500000, 7200, "2026-07-29 18:11:02.5+02"},
		{631164600000000, -12600, "2020-01-01 00:00:00-03:30"},
		{631131300000000, 20700, "2020-01-01 00:00:00+05:45"},
		{-2524609172000000, 1172, "1920-01-01 00:00:00+00:19:32"},
		{-6311286238000000, -17762, "1800-01-01 12:00:00-04:56:02"},
		{-64464447838000000, -17762, "0044-03-15 12:00:00-04:56:02 BC"},
		{-63082282772000000, 1172, "0001-01-01 00:00:00+00:19:32"},
		{-63082281601000000, 0, "0001-12-31 23:59:59+00 BC"},
		{INT64_MAX, 3600, "infinity"},
		{INT64_MIN, 3600, "-infinity"},
		{9223371298799999999, 32400, "294276-12-31 23:59:59.999999+09"},
		{-211813488000000000, 0, "4714-11-24 00:00:00+00 BC"},
		{-54000000000, 50400, "1999-12-31 23:00:00+14"},
	};
	for (const sample &s : samples)
		EXPECT_EQ(fast_timestamptz(s.us, s.offset), s.text);
}

TEST(datetime, utc)
{
	EXPECT_EQ(fast_utc(849291062123456), "2026-11-29T18:11:02.123456Z");
	EXPECT_EQ(fast_utc(0), "2000-01-01T00:00:00Z");
	EXPECT_EQ(fast_utc(-64464465599750000), "0044-03-15T12:00:00.25Z BC");
	EXPECT_EQ(fast_utc(INT64_MAX), "infinity");
	EXPECT_EQ(fast_utc(INT64_MIN), "-infinity");
	EXPECT_EQ(fast_timestamp(849291062000000, 'T'), "2026-11-29T18:11:02");
}

TEST(datetime, whatever_is_no_date_or_time)
{
	EXPECT_EQ(fast_date(INT64_MAX), "infinity");
	EXPECT_EQ(fast_date(INT64_MIN), "-infinity");
	EXPECT_EQ(fast_time(-1), "23:59:59.999999");
	EXPECT_EQ(fast_time(86400000001), "00:00:00.000001");
	EXPECT_EQ(fast_time(INT64_MIN), plain_time(plain_split(0, INT64_MIN).us));
	EXPECT_EQ(fast_timestamp(INT64_MAX - 1), plain_timestamp(INT64_MAX - 1, ' '));
	EXPECT_EQ(fast_timestamp(INT64_MIN + 1), plain_timestamp(INT64_MIN + 1, ' '));
	for (const std::int32_t offset : {INT32_MIN, INT32_MAX}) {
		for (const std::int64_t us : {INT64_MIN + 1, INT64_MAX - 1})
			EXPECT_EQ(fast_timestamptz(us, offset), plain_timestamptz(us, offset, ' '));
	}
}

TEST(datetime, every_day_of_some_cycles)
{
	for (std::int64_t days = -1000000; days < 500000; days += stride()) {
		const plain_moment at = plain_split(days, 0);
		ASSERT_EQ(fast_date(days), plain_date(at) + plain_era(at)) << days;
	}
	for (const std::int64_t start : {std::int64_t{INT32_MIN} + 1, std::int64_t{INT32_MAX} - 2000}) {
		for (std::int64_t days = start; days < start + 2000; days++) {
			const plain_moment at = plain_split(days, 0);
			ASSERT_EQ(fast_date(days), plain_date(at) + plain_era(at)) << days;
		}
	}
}

TEST(datetime, random_ones)
{
	random_source random(3);
	for (int i = 0; i < 100000; i += stride()) {
		const std::int64_t us = random.integer();
		if (us == INT64_MIN || us == INT64_MAX)
			continue;
		const auto offset = static_cast<std::int32_t>(random.below(2 * 604800)) - 604800;
		ASSERT_EQ(fast_timestamp(us), plain_timestamp(us, ' ')) << us;
		ASSERT_EQ(fast_timestamptz(us, offset, 'T'), plain_timestamptz(us, offset, 'T')) << us;
		const auto days = static_cast<std::int32_t>(us);
		if (days != INT32_MIN && days != INT32_MAX) {
			const plain_moment at = plain_split(days, 0);
			ASSERT_EQ(fast_date(days), plain_date(at) + plain_era(at)) << days;
		}
		const auto of_day = static_cast<std::int64_t>(random.below(86400000000));
		ASSERT_EQ(fast_time(of_day), plain_time(of_day)) << of_day;
	}
}

} // namespace
