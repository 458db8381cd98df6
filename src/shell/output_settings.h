/*
 * output_settings.h
 *	  The session's settings that change what output functions print.
 */
#ifndef CPO_OUTPUT_SETTINGS_H
#define CPO_OUTPUT_SETTINGS_H

#include "postgres.h"

#include "datatype/timestamp.h"

/*
 * Between these two, output functions print for the native formats: ISO dates
 * in UTC, ISO 8601 intervals, shortest-precise floats, hex.  An ERROR in
 * between puts the settings back as well.
 */
extern void native_settings_begin(void);
extern void native_settings_end(void);

/* Once per backend, before the first of them. */
extern void native_settings_register(void);

/*
 * One bit for each setting that keeps the core from printing a type itself in
 * a format that follows the session's settings.
 */
#define SETTING_DATES 0x01	/* DateStyle is not ISO */
#define SETTING_FLOATS 0x02 /* extra_float_digits is not positive */
#define SETTING_BYTEA 0x04	/* bytea_output is not hex */
extern unsigned session_settings(void);

/* Offset of the session's time zone at that time, seconds east of UTC. */
extern int32 session_utc_offset(TimestampTz time);

#endif /* CPO_OUTPUT_SETTINGS_H */
