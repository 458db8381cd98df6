/*
 * callbacks.h
 *	  What the files of callbacks share: plugin.c (sessions, complete and prepared
 *	  transactions), change.c (what transactions consist of), stream.c
 *	  (transactions in progress).
 */
#ifndef CPO_CALLBACKS_H
#define CPO_CALLBACKS_H

#include "shell.h"

#include "utils/memutils.h"

/*
 * Every callback but the simplest runs between these: memory that it needs is
 * in the change context, which is reset on entry, so that an ERROR leaves
 * nothing that the next callback would not clean up.
 */
static inline DecodingState *
enter(LogicalDecodingContext *ctx, MemoryContext *old_context)
{
	DecodingState *state = ctx->output_plugin_private;

	MemoryContextReset(state->change_context);
	*old_context = MemoryContextSwitchTo(state->change_context);
	return state;
}

static inline void
leave(MemoryContext old_context)
{
	MemoryContextSwitchTo(old_context);
}

static inline CpoPlace
place_of(const LogicalDecodingContext *ctx)
{
	return (CpoPlace){ctx->write_location, ctx->write_xid, ctx->write_xid};
}

/* --- plugin.c ------------------------------------------------------------- */

typedef CpoStatus (*TransactionEvent)(CpoSession *, const CpoPlace *, const CpoTransaction *);

/* Hands the core a transaction, and does what it asks for. */
extern void transaction_event(LogicalDecodingContext *ctx, const ReorderBufferTXN *txn,
							  OriginId origin_id, TransactionEvent event);

/* --- change.c ------------------------------------------------------------- */

extern void decode_change(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, Relation relation,
						  ReorderBufferChange *decoded);
extern void decode_truncate(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, int nrelations,
							Relation relations[], ReorderBufferChange *decoded);
extern void decode_message(LogicalDecodingContext *ctx, ReorderBufferTXN *txn,
						   XLogRecPtr message_lsn, bool transactional, const char *prefix,
						   Size size, const char *content);

/* Messages of the transaction that the server threw away; see tied_message.c. */
extern void decode_lost_messages(DecodingState *state, ReorderBufferTXN *txn);

/* To be called for each change, as PLUGIN_REPORTS_PROGRESS says. */
extern void report_progress(DecodingState *state);

/* --- stream.c ------------------------------------------------------------- */

extern void set_stream_callbacks(OutputPluginCallbacks *callbacks);

/*
 * To be called for each record of an unwanted origin: it may be the COMMIT of a
 * streamed transaction, which the server then forgets, since 16 without a word.
 */
extern void drop_unwanted_stream(LogicalDecodingContext *ctx);

#endif /* CPO_CALLBACKS_H */
