/*
 * stream.c
 *	  Transactions in progress, which the server streams in blocks.
 */
#include "callbacks.h"

#include "access/rmgr.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xlogreader.h"
#include "storage/procarray.h"
#include "storage/sinval.h"

#include "tied_message.h"

/*
 * The server calls stream_abort only for subtransactions that it has marked as
 * streamed.  It marks them when a block is over, by the changes that are still
 * in memory then.  There are none where it had spilled more of them than it
 * reads back at once (4096): the abort would go untold, and what was rolled back
 * would be sent at COMMIT.  So they are marked here, before the block: all of
 * their changes are part of it.
 */
static void
mark_streamed_subtransactions(ReorderBufferTXN *txn)
{
	dlist_iter at;

	dlist_foreach(at, &txn->subtxns)
	{
		ReorderBufferTXN *subtxn = dlist_container(ReorderBufferTXN, node, at.cur);

		if (subtxn->nentries != 0)
			subtxn->txn_flags |= RBTXN_IS_STREAMED;
	}
}

/*
 * Between two blocks other transactions are decoded, which see the catalogs
 * without what this one has changed, and the caches are left as they saw them.
 */
static void
forget_what_others_saw(const ReorderBufferTXN *txn)
{
	uint32 i;

	for (i = 0; i < txn->ninvalidations; i++)
		LocalExecuteInvalidationMessage(&txn->invalidations[i]);
}

/*
 * Has the transaction, or subtransaction, whose change is at hand been rolled back
 * already?  Then the change would only be cut off when its abort is read.  So it
 * is not formatted in vain; and a row that can't be formatted stops the slot as
 * long as it may still be committed, and no longer.  Not on a two-phase slot:
 * there a transaction is sent at PREPARE, even if it rolls back later.
 */
static bool
rolled_back(DecodingState *state, const ReorderBufferTXN *txn)
{
	if (state->config->streaming != CPO_STREAMING_REORDER || state->ctx->twophase)
		return false;
	if (state->abort_checked_xid != txn->xid)
	{
		/*
		 * In this order: while the COMMIT of a transaction is replayed on a
		 * standby, its subtransactions may look aborted.
		 */
		state->abort_found =
			!TransactionIdIsInProgress(txn->xid) && TransactionIdDidAbort(txn->xid);
		state->abort_checked_xid = txn->xid;
	}
	return state->abort_found;
}

static void
decode_stream_start(LogicalDecodingContext *ctx, ReorderBufferTXN *txn)
{
	DecodingState *state = ctx->output_plugin_private;

	state->abort_checked_xid = InvalidTransactionId;
	/* the peer's stream is as the server has it, and shows nothing of rows */
	if (!state->config->opaque_stream)
	{
		mark_streamed_subtransactions(txn);
		if ((txn->txn_flags & RBTXN_IS_STREAMED) != 0)
			forget_what_others_saw(txn);
	}
	transaction_event(ctx, txn, txn->origin_id, cpo_stream_start);
}

static void
decode_stream_stop(LogicalDecodingContext *ctx, ReorderBufferTXN *txn)
{
	MemoryContext  old_context;
	DecodingState *state = enter(ctx, &old_context);
	CpoPlace	   place = place_of(ctx);

	decode_lost_messages(state, txn);
	check_core(state, cpo_stream_stop(state->session, &place));
	perform_actions(state);
	leave(old_context);
}

static void
decode_stream_change(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, Relation relation,
					 ReorderBufferChange *decoded)
{
	DecodingState *state = ctx->output_plugin_private;
	MemoryContext  old_context;
	CpoChange	   event = {.place = place_of(ctx)};

	if (!state->config->opaque_stream)
	{
		if (rolled_back(state, decoded->txn))
			report_progress(state);
		else
			decode_change(ctx, txn, relation, decoded);
		return;
	}

	/*
	 * Not a look at any catalog: that is where an abort would be noticed, and
	 * the peer's stream doesn't end there.
	 */
	report_progress(state);
	enter(ctx, &old_context);
	check_core(state, cpo_change(state->session, &event));
	perform_actions(state);
	leave(old_context);
}

static void
decode_stream_message(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, XLogRecPtr message_lsn,
					  bool transactional, const char *prefix, Size size, const char *content)
{
	DecodingState *state = ctx->output_plugin_private;

	if (transactional && rolled_back(state, txn))
	{
		tied_messages_forget(state->messages, message_lsn);
		report_progress(state);
	}
	else
		decode_message(ctx, txn, message_lsn, transactional, prefix, size, content);
}

static void
decode_stream_truncate(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, int nrelations,
					   Relation relations[], ReorderBufferChange *decoded)
{
	DecodingState *state = ctx->output_plugin_private;

	if (rolled_back(state, decoded->txn))
		report_progress(state);
	else
		decode_truncate(ctx, txn, nrelations, relations, decoded);
}

static void
decode_stream_abort(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, XLogRecPtr abort_lsn)
{
	MemoryContext  old_context;
	DecodingState *state = enter(ctx, &old_context);
	CpoPlace	   place = place_of(ctx);

	check_core(state, cpo_stream_abort(state->session, &place, TXN_TOP(txn)->xid, txn->xid,
									   txn->first_lsn));
	perform_actions(state);
	leave(old_context);
}

static void
decode_stream_prepare(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, XLogRecPtr prepare_lsn)
{
	OutputPluginUpdateProgress(ctx, false);
	transaction_event(ctx, txn, origin_of_record(ctx->output_plugin_private), cpo_stream_prepare);
}

static void
decode_stream_commit(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, XLogRecPtr commit_lsn)
{
	OutputPluginUpdateProgress(ctx, false);
	transaction_event(ctx, txn, origin_of_record(ctx->output_plugin_private), cpo_stream_commit);
}

/* The transaction that the record commits, or InvalidTransactionId. */
static TransactionId
committed_by_record(XLogReaderState *record)
{
	xl_xact_parsed_commit parsed;

	if (XLogRecGetRmid(record) != RM_XACT_ID)
		return InvalidTransactionId;
	switch (XLogRecGetInfo(record) & XLOG_XACT_OPMASK)
	{
		case XLOG_XACT_COMMIT:
			return XLogRecGetXid(record);
		case XLOG_XACT_COMMIT_PREPARED:
			ParseCommitRecord(XLogRecGetInfo(record), (xl_xact_commit *) XLogRecGetData(record),
							  &parsed);
			return parsed.twophase_xid;
		default:
			return InvalidTransactionId;
	}
}

void
drop_unwanted_stream(LogicalDecodingContext *ctx)
{
	MemoryContext  old_context;
	DecodingState *state = enter(ctx, &old_context);
	TransactionId  xid = committed_by_record(ctx->reader);
	CpoPlace	   place = {.lsn = ctx->reader->EndRecPtr, .xid = xid};

	if (TransactionIdIsValid(xid))
	{
		check_core(state, cpo_stream_abort(state->session, &place, xid, xid, InvalidXLogRecPtr));
		perform_actions(state);
	}
	leave(old_context);
}

void
set_stream_callbacks(OutputPluginCallbacks *callbacks)
{
	callbacks->stream_start_cb = decode_stream_start;
	callbacks->stream_stop_cb = decode_stream_stop;
	callbacks->stream_abort_cb = decode_stream_abort;
	callbacks->stream_prepare_cb = decode_stream_prepare;
	callbacks->stream_commit_cb = decode_stream_commit;
	callbacks->stream_change_cb = decode_stream_change;
	callbacks->stream_message_cb = decode_stream_message;
	callbacks->stream_truncate_cb = decode_stream_truncate;
}
