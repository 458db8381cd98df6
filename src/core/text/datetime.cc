#include "text/datetime.h"

#include "text/digits.h"
#include "text/integer.h"

#include <string_view>

namespace cpp_output
{

namespace
{

constexpr std::int64_t us_per_second = 1'000'000;
constexpr std::int64_t us_per_day = 86'400 * us_per_second;

struct calendar_date {
	std::int64_t year; // 0 is 1 BC
	unsigned month;
	unsigned day;
};

/*
 * Years begin in March here, so that the leap day is a year's last one, and
 * a multiple of 400 years is added to keep all values positive: enough for
 * every 32-bit number of days.
 *
 * The multiplications stand for divisions of a scaled number, after Neri and
 * Schneider, "Euclidean affine functions and their application to calendar
 * algorithms" (2022): quotient in the upper, remainder in the lower bits.
 */
calendar_date date_of_day(std::int64_t days)
{
	constexpr std::uint64_t days_in_400_years = 146097;
	constexpr std::uint64_t cycles = 14800;
	constexpr std::uint64_t days_before_2000 = 730425; // since 1 March of year 0

	const std::uint64_t day =
		static_cast<std::uint64_t>(days) + days_before_2000 + cycles * days_in_400_years;
	const std::uint64_t quarters = 4 * day + 3;
	const std::uint64_t century = quarters / days_in_400_years;
	const std::uint64_t day_of_century = quarters % days_in_400_years / 4;

	// 2939745 / 2^32 is 1 / 1461, the days of four years
	const std::uint64_t scaled = 2939745 * (4 * day_of_century + 3);
	const std::uint64_t year_of_century = scaled >> 32;
	const unsigned day_of_year = static_cast<std::uint32_t>(scaled) / 2939745 / 4;

	// 65536 / 2141 is the mean length of a month from March to January; the constant makes
	// March month 3
	const unsigned scaled_month = 2141 * day_of_year + 197913;
	const unsigned month = scaled_month >> 16;
	const bool next_year = month > 12;

	return {static_cast<std::int64_t>(100 * century + year_of_century) -
				static_cast<std::int64_t>(400 * cycles) + (next_year ? 1 : 0),
		next_year ? month - 12 : month, (scaled_month & 0xffff) / 2141 + 1};
}

char *write_word(char *out, std::string_view word)
{
	std::memcpy(out, word.data(), word.size());
	return out + word.size();
}

char *write_calendar_date(char *out, const calendar_date &date)
{
	const std::uint64_t year =
		static_cast<std::uint64_t>(date.year > 0 ? date.year : 1 - date.year);
	if (year < 10000)
		out = write_4_digits(out, static_cast<unsigned>(year));
	else
		out = write_unsigned(out, year);
	*out++ = '-';
	out = write_2_digits(out, date.month);
	*out++ = '-';
	return write_2_digits(out, date.day);
}

char *write_era(char *out, const calendar_date &date)
{
	return date.year > 0 ? out : write_word(out, " BC");
}

// us is from 0 to a whole day
char *write_time_of_day(char *out, std::int64_t us)
{
	const unsigned seconds = static_cast<unsigned>(us / us_per_second);
	const unsigned fraction = static_cast<unsigned>(us % us_per_second);
	out = write_2_digits(out, seconds / 3600);
	*out++ = ':';
	out = write_2_digits(out, seconds / 60 % 60);
	*out++ = ':';
	out = write_2_digits(out, seconds % 60);
	if (fraction != 0) {
		*out++ = '.';
		out = write_2_digits(out, fraction / 10000);
		out = write_4_digits(out, fraction % 10000);
		while (out[-1] == '0')
			out--;
	}
	return out;
}

char *write_offset(char *out, std::int32_t seconds_east)
{
	*out++ = seconds_east < 0 ? '-' : '+';
	const std::uint32_t seconds = seconds_east < 0 ? 0 - static_cast<std::uint32_t>(seconds_east)
												   : static_cast<std::uint32_t>(seconds_east);
	const std::uint32_t hours = seconds / 3600;
	if (hours < 100)
		out = write_2_digits(out, hours);
	else
		out = write_unsigned(out, hours);
	if (seconds % 3600 != 0) {
		*out++ = ':';
		out = write_2_digits(out, seconds / 60 % 60);
	}
	if (seconds % 60 != 0) {
		*out++ = ':';
		out = write_2_digits(out, seconds % 60);
	}
	return out;
}

struct moment {
	std::int64_t days;
	std::int64_t us; // of the day
};

moment normalized(std::int64_t days, std::int64_t us)
{
	days += us / us_per_day;
	us %= us_per_day;
	if (us < 0) {
		us += us_per_day;
		days--;
	}
	return {days, us};
}

bool is_infinite(std::int64_t us)
{
	return us == INT64_MIN || us == INT64_MAX;
}

char *write_infinity(char *out, bool negative)
{
	return write_word(out, negative ? "-infinity" : "infinity");
}

char *write_moment(char *out, const moment &at, const calendar_date &date, char separator)
{
	out = write_calendar_date(out, date);
	*out++ = separator;
	return write_time_of_day(out, at.us);
}

} // namespace

char *write_date(char *out, std::int64_t days)
{
	if (days <= INT32_MIN || days >= INT32_MAX)
		return write_infinity(out, days < 0);
	const calendar_date date = date_of_day(days);
	return write_era(write_calendar_date(out, date), date);
}

char *write_time(char *out, std::int64_t us)
{
	if (us != us_per_day)
		us = normalized(0, us).us;
	return write_time_of_day(out, us);
}

char *write_timestamp(char *out, std::int64_t us, char separator)
{
	if (is_infinite(us))
		return write_infinity(out, us < 0);
	const moment at = normalized(0, us);
	const calendar_date date = date_of_day(at.days);
	return write_era(write_moment(out, at, date, separator), date);
}

char *write_timestamptz(
	char *out, std::int64_t us, std::int32_t offset_seconds_east, char separator)
{
	if (is_infinite(us))
		return write_infinity(out, us < 0);
	const moment utc = normalized(0, us);
	const moment at = normalized(utc.days, utc.us + offset_seconds_east * us_per_second);
	const calendar_date date = date_of_day(at.days);
	out = write_moment(out, at, date, separator);
	return write_era(write_offset(out, offset_seconds_east), date);
}

char *write_timestamp_utc(char *out, std::int64_t us)
{
	if (is_infinite(us))
		return write_infinity(out, us < 0);
	const moment at = normalized(0, us);
	const calendar_date date = date_of_day(at.days);
	out = write_moment(out, at, date, 'T');
	*out++ = 'Z';
	return write_era(out, date);
}

} // namespace cpp_output
