/*
 * fault_type.c
 *	  For tests only: a type like text whose output function misbehaves.
 *
 * What it does is said by settings, which a walsender gets from its client's
 * options like any other process:
 *
 *	fault.action	none, error, sleep, subtransaction, settings
 *	fault.call		at which call of the output function; 0 means at each one.
 *					Setting it begins the count anew.
 *	fault.sqlstate	of the error
 *	fault.seconds	how long to sleep, interruptibly
 */
#include "postgres.h"

#include <limits.h>

#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/resowner.h"

PG_MODULE_MAGIC;

#if PG_VERSION_NUM < 160000
extern PGDLLEXPORT void _PG_init(void);
#endif

PG_FUNCTION_INFO_V1(fault_in);
PG_FUNCTION_INFO_V1(fault_out);
PG_FUNCTION_INFO_V1(fault_calls);

typedef enum FaultAction {
	FAULT_NONE,
	FAULT_ERROR,
	FAULT_SLEEP,
	FAULT_SUBTRANSACTION,
	FAULT_SETTINGS
} FaultAction;

static const struct config_enum_entry actions[] = {{"none", FAULT_NONE, false},
	{"error", FAULT_ERROR, false}, {"sleep", FAULT_SLEEP, false},
	{"subtransaction", FAULT_SUBTRANSACTION, false}, {"settings", FAULT_SETTINGS, false},
	{NULL, 0, false}};

static int fault_action = FAULT_NONE;
static int fault_call = 0;
static char *fault_sqlstate = NULL;
static double fault_seconds = 0;
static int calls = 0;

static void fail(const char *value)
{
	const char *state = fault_sqlstate;

	ereport(ERROR, (errcode(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4])),
					   errmsg("injected fault at call %d, value \"%s\"", calls, value)));
}

static void sleep_interruptibly(void)
{
	double left = fault_seconds;

	for (; left > 0; left -= 0.01) {
		CHECK_FOR_INTERRUPTS();
		pg_usleep(10000);
	}
}

/* As PL/pgSQL does for a block with EXCEPTION: the error stays in here. */
static void fail_in_subtransaction(const char *value)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		fail(value);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
}

Datum fault_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(PG_GETARG_CSTRING(0)));
}

Datum fault_out(PG_FUNCTION_ARGS)
{
	char *value = text_to_cstring(PG_GETARG_TEXT_PP(0));

	calls++;
	if (fault_call == 0 || calls == fault_call) {
		switch ((FaultAction)fault_action) {
		case FAULT_NONE:
			break;
		case FAULT_ERROR:
			fail(value);
			break;
		case FAULT_SLEEP:
			sleep_interruptibly();
			break;
		case FAULT_SUBTRANSACTION:
			fail_in_subtransaction(value);
			break;
		case FAULT_SETTINGS:
			/* what the caller's settings are */
			value = psprintf("%d %d %d", DateStyle, IntervalStyle, calls);
			break;
		}
	}
	PG_RETURN_CSTRING(value);
}

/* how often the output function ran since fault.call was set */
Datum fault_calls(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(calls);
}

static void begin_count(int newval, void *extra)
{
	calls = 0;
}

static bool check_sqlstate(char **newval, void **extra, GucSource source)
{
	return *newval != NULL && strlen(*newval) == 5;
}

void _PG_init(void)
{
	DefineCustomEnumVariable("fault.action", "What the output function of type fault does.", NULL,
		&fault_action, FAULT_NONE, actions, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("fault.call", "At which call; 0 means at each one.", NULL, &fault_call,
		0, 0, INT_MAX, PGC_USERSET, 0, NULL, begin_count, NULL);
	DefineCustomStringVariable("fault.sqlstate", "SQLSTATE of the error.", NULL, &fault_sqlstate,
		"22000", PGC_USERSET, 0, check_sqlstate, NULL, NULL);
	DefineCustomRealVariable("fault.seconds", "How long to sleep.", NULL, &fault_seconds, 0, 0,
		3600, PGC_USERSET, 0, NULL, NULL, NULL);
}
