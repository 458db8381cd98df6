/*
 * shell.h
 *	  What the files of the shell share: the state of a decoding session.
 *
 * The shell owns every call of the server.  A callback first gathers (server
 * calls, which may raise an ERROR), then has the core format (which can't),
 * then carries out the core's actions (server calls again).
 */
#ifndef CPO_SHELL_H
#define CPO_SHELL_H

#include "server.h"

#include "core.h"

typedef struct OriginCache	 OriginCache;
typedef struct RelationCache RelationCache;
typedef struct SpillFiles	 SpillFiles;
typedef struct TiedMessages	 TiedMessages;

/*
 * Messages that were queued behind the last flush of the socket; see wire.c.
 */
typedef struct Wire
{
	bool		walsender; /* messages may be queued */
	size_t		pending_bytes;
	int			pending_messages;
	TimestampTz batch_time; /* of the first message in the queue */
} Wire;

/* The output plugin's private data, in a memory context of its own. */
typedef struct DecodingState
{
	LogicalDecodingContext *ctx;
	MemoryContext			context;	  /* lives as long as the session: this state, the
										   * core's memory, caches */
	MemoryContext		  change_context; /* reset for every change */
	MemoryContextCallback release;

	CpoMemory		 memory;
	CpoSession		*session;
	const CpoConfig *config;

	RelationCache *relations;
	OriginCache	  *origins;
	SpillFiles	  *spill;
	TiedMessages  *messages;
	Wire		   wire;
	int			   unreported_changes; /* since the last report of progress */
	TransactionId  abort_checked_xid;  /* for the answer below, in this block */
	bool		   abort_found;
} DecodingState;

static inline CpoSpan
span_of(const char *text)
{
	return (CpoSpan){text, text ? strlen(text) : 0};
}

/* session.c: opening and releasing the state; ERROR on bad options */
extern DecodingState   *state_open(LogicalDecodingContext *ctx, OutputPluginOptions *options);
extern void				state_release(DecodingState *state);
pg_noreturn extern void raise_core_error(const CpoError *error, bool utf8);

/* Raises the core's error if there is one. */
static inline void
check_core(const DecodingState *state, CpoStatus status)
{
	if (unlikely(status != CPO_OK))
		raise_core_error(cpo_error(state->session), state->config->utf8_text);
}

/* origin.c: replication origins */
extern OriginCache *origin_cache_open(MemoryContext context);
extern bool			origin_wanted(DecodingState *state, OriginId id);
extern CpoSpan		origin_name(DecodingState *state, OriginId id);
extern OriginId		origin_of_record(const DecodingState *state);

/* wire.c: carries out the core's actions for the last event */
extern void perform_actions(DecodingState *state);

/* spill.c: temporary files of transactions in progress */
extern SpillFiles *spill_open(MemoryContext context);
extern void		   spill_write(DecodingState *state, const CpoAction *action);
extern void		   spill_read(DecodingState *state, const CpoAction *action);
extern void		   spill_drop(DecodingState *state, const CpoAction *action);
extern void		   spill_close(SpillFiles *files);

#endif /* CPO_SHELL_H */
