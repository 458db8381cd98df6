/*
 * output_settings.c
 *	  The session's settings that change what output functions print.
 *
 * The native formats don't depend on them.  Going through the server's
 * machinery for settings would cost microseconds for each row, so the variables
 * themselves are exchanged, around calls of output functions only.  Should one
 * of these raise an ERROR, the (sub)transaction that decoding always runs in is
 * aborted, and the callback for that puts the settings back, ahead of the
 * server's own work on settings.
 */
#include "output_settings.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "utils/bytea.h"
#include "utils/float.h"

typedef struct OutputSettings
{
	int	   date_style;
	int	   interval_style;
	int	   float_digits;
	int	   bytea_style;
	pg_tz *time_zone;
} OutputSettings;

/* nesting level of the (sub)transaction that began it; 0: not in force */
static int			  native_level = 0;
static OutputSettings saved;

/* A stretch of time in which a time zone's offset does not change. */
typedef struct OffsetRange
{
	const pg_tz *time_zone;
	pg_time_t	 from;
	pg_time_t	 until;
	int32		 offset;
} OffsetRange;

void
native_settings_begin(void)
{
	static pg_tz *utc = NULL;

	if (utc == NULL)
		utc = pg_tzset("GMT");
	saved = (OutputSettings){DateStyle, IntervalStyle, extra_float_digits, bytea_output,
							 session_timezone};
	native_level = GetCurrentTransactionNestLevel();
	DateStyle = USE_ISO_DATES;
	IntervalStyle = INTSTYLE_ISO_8601;
	extra_float_digits = 1;
	bytea_output = BYTEA_OUTPUT_HEX;
	session_timezone = utc;
}

void
native_settings_end(void)
{
	if (native_level == 0)
		return;
	native_level = 0;
	DateStyle = saved.date_style;
	IntervalStyle = saved.interval_style;
	extra_float_digits = saved.float_digits;
	bytea_output = saved.bytea_style;
	session_timezone = saved.time_zone;
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	native_settings_end();
}

static void
at_subtransaction_end(SubXactEvent event, SubTransactionId my_subid, SubTransactionId parent_subid,
					  void *arg)
{
	/* not for a subtransaction that an output function made for itself */
	if (event == SUBXACT_EVENT_ABORT_SUB && GetCurrentTransactionNestLevel() <= native_level)
		native_settings_end();
}

void
native_settings_register(void)
{
	static bool registered = false;

	if (registered)
		return;
	RegisterXactCallback(at_transaction_end, NULL);
	RegisterSubXactCallback(at_subtransaction_end, NULL);
	registered = true;
}

unsigned
session_settings(void)
{
	unsigned settings = 0;

	if (DateStyle != USE_ISO_DATES)
		settings |= SETTING_DATES;
	if (extra_float_digits <= 0)
		settings |= SETTING_FLOATS;
	if (bytea_output != BYTEA_OUTPUT_HEX)
		settings |= SETTING_BYTEA;
	return settings;
}

int32
session_utc_offset(TimestampTz time)
{
	static OffsetRange range = {NULL, 0, 0, 0};
	pg_time_t		   seconds;
	pg_time_t		   boundary;
	long int		   before_offset;
	long int		   after_offset;
	int				   before_is_dst;
	int				   after_is_dst;
	int				   found;

	if (TIMESTAMP_NOT_FINITE(time))
		return 0;
	/* round towards the past */
	seconds = time / USECS_PER_SEC - (time % USECS_PER_SEC < 0 ? 1 : 0) +
			  (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (pg_time_t) SECS_PER_DAY;
	if (range.time_zone == session_timezone && seconds >= range.from && seconds < range.until)
		return range.offset;

	found = pg_next_dst_boundary(&seconds, &before_offset, &before_is_dst, &boundary, &after_offset,
								 &after_is_dst, session_timezone);
	if (found < 0)
		return 0;
	range.time_zone = session_timezone;
	range.from = seconds;
	range.until = found > 0 ? boundary : PG_INT64_MAX;
	range.offset = (int32) before_offset;
	return range.offset;
}
