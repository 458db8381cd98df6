/*
 * wire.c
 *	  Carries out what the core asks for; above all, sends its messages.
 *
 * The server's OutputPluginWrite() flushes the socket after each message,
 * which costs more than formatting does.  In a walsender, messages are
 * therefore framed here exactly as WalSndPrepareWrite() and WalSndWriteData()
 * would, and queued in the server's send buffer.  The server's own function is
 * called for the last message of a batch, so replies, keepalives, timeouts and
 * slow readers are handled as ever.  A batch ends by size, by count, and where
 * the core says that nothing may follow for a while.
 */
#include "shell.h"

/*
 * libpq.h pulls in the headers of the libraries for encryption, for struct Port
 * alone, which is not used here: with these undefined the build doesn't need
 * those libraries' development packages.
 */
#undef ENABLE_GSS
#undef ENABLE_SSPI
#undef USE_OPENSSL
#include "libpq/libpq.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/timestamp.h"

#include "text.h"

#define BATCH_BYTES (64 * 1024)
#define BATCH_MESSAGES 512

static void raise_warning(DecodingState *state, const CpoAction *action);
static void send_message(DecodingState *state, const CpoAction *action);
static void queue_message(DecodingState *state, const CpoAction *action);
static void write_message(DecodingState *state, const CpoAction *action);

void
perform_actions(DecodingState *state)
{
	LogicalDecodingContext *ctx = state->ctx;
	XLogRecPtr				saved_location = ctx->write_location;
	TransactionId			saved_xid = ctx->write_xid;
	CpoAction				action;

	for (;;)
	{
		/* the replay of a large transaction is a single event */
		CHECK_FOR_INTERRUPTS();
		check_core(state, cpo_next(state->session, &action));
		switch (action.kind)
		{
			case CPO_SEND:
				send_message(state, &action);
				break;
			case CPO_WARN:
				raise_warning(state, &action);
				break;
			case CPO_SKIPPED:
				OutputPluginUpdateProgress(ctx, true);
				break;
			case CPO_SPILL_WRITE:
				spill_write(state, &action);
				break;
			case CPO_SPILL_READ:
				spill_read(state, &action);
				break;
			case CPO_SPILL_DROP:
				spill_drop(state, &action);
				break;
			case CPO_DONE:
				ctx->write_location = saved_location;
				ctx->write_xid = saved_xid;
				return;
		}
	}
}

static void
raise_warning(DecodingState *state, const CpoAction *action)
{
	bool		utf8 = state->config->utf8_text;
	const char *message = utf8 ? text_from_utf8(action->data) : action->data;
	const char *detail = utf8 ? text_from_utf8(action->detail) : action->detail;

	ereport(WARNING,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg_internal("%s", message),
			 detail[0] ? errdetail_internal("%s", detail) : 0,
			 action->hint[0] ? errhint("%s", action->hint) : 0));
}

static void
send_message(DecodingState *state, const CpoAction *action)
{
	Wire *wire = &state->wire;
	bool  batch_full;

	/* the walsender's own loop has flushed what was queued, so a new batch begins */
	if (wire->pending_messages > 0 && !pq_is_send_pending())
	{
		wire->pending_bytes = 0;
		wire->pending_messages = 0;
	}
	batch_full = wire->pending_bytes + action->len >= BATCH_BYTES ||
				 wire->pending_messages + 1 >= BATCH_MESSAGES;
	state->ctx->write_location = action->lsn;
	state->ctx->write_xid = action->xid;
	if (wire->walsender && !action->flush && !batch_full && !action->split && !action->continues &&
		!action->more)
		queue_message(state, action);
	else
		write_message(state, action);
}

/* Puts a whole message into the send buffer, without flushing it. */
static void
queue_message(DecodingState *state, const CpoAction *action)
{
	Wire *wire = &state->wire;
	char *frame = action->data - CPO_HEADROOM;
	/* as the server has it, for synchronous replication's sake */
	uint64 lsn = pg_hton64(action->last ? action->lsn : InvalidXLogRecPtr);
	uint64 sendtime;

	if (wire->pending_messages == 0)
		wire->batch_time = GetCurrentTimestamp();
	sendtime = pg_hton64((uint64) wire->batch_time);

	frame[0] = 'w';
	memcpy(frame + 1, &lsn, sizeof(lsn));
	memcpy(frame + 9, &lsn, sizeof(lsn));
	memcpy(frame + 17, &sendtime, sizeof(sendtime));
	pq_putmessage_noblock('d', frame, CPO_HEADROOM + action->len);
	wire->pending_bytes += action->len;
	wire->pending_messages++;
}

/* Sends a message, or a piece of one, through the server; flushes the queue. */
static void
write_message(DecodingState *state, const CpoAction *action)
{
	LogicalDecodingContext *ctx = state->ctx;

	if (action->split)
		OutputPluginWrite(ctx, true);
	if (!action->continues)
		OutputPluginPrepareWrite(ctx, action->last);
	appendBinaryStringInfo(ctx->out, action->data, (int) action->len);
	if (action->more)
		return;
	OutputPluginWrite(ctx, action->last);
	state->wire.pending_bytes = 0;
	state->wire.pending_messages = 0;
}
