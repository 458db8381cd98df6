/*
 * Dates and times, byte for byte as the server prints them with DateStyle ISO.
 *
 * Days and microseconds count from 2000-01-01 00:00; the calendar is the
 * proleptic Gregorian one. A year before 1 AD is written as BC, at the end.
 * Trailing zeros of a fraction are left out, and so is a fraction of zero.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpp_output
{

// What each of these writers may need; they store nothing beyond it.
constexpr std::size_t datetime_max = 64;

/*
 * INT32_MIN and whatever is below it is "-infinity", INT32_MAX and above is
 * "infinity".
 */
char *write_date(char *out, std::int64_t days);

/*
 * 0 to 86400000000, which is "24:00:00". Nothing else is a time; it is
 * written as the time of day that it falls on.
 */
char *write_time(char *out, std::int64_t us);

/*
 * INT64_MIN and INT64_MAX are "-infinity" and "infinity"; everything between
 * is written, beyond the server's range too. The separator stands between
 * date and time: ' ' in the server's form.
 */
char *write_timestamp(char *out, std::int64_t us, char separator);

/*
 * us is in UTC; what is written is the local time at that offset, then the
 * offset with as many parts as it needs ("+01", "-03:30", "+00:19:32"), then
 * " BC" where it applies.
 */
char *write_timestamptz(
	char *out, std::int64_t us, std::int32_t offset_seconds_east, char separator);

// ISO 8601 in UTC: "2026-11-29T18:11:02.123456Z", "0044-03-15T12:00:00Z BC".
char *write_timestamp_utc(char *out, std::int64_t us);

} // namespace cpp_output
