/*
 * tied_message.c
 *	  Messages that the server may throw away while it streams.
 *
 * A transactional message has the end of its record as LSN.  Where a
 * subtransaction's first row is the next record, the two have the same LSN, and
 * the server may decode the row first.  If the subtransaction has rolled back
 * meanwhile, the row's first look-up in a catalog tells: then the server ends
 * the block and throws away what is left of it.  All of that is the
 * subtransaction's own, but for the message, which every plugin would lose.
 *
 * So such a message is copied as its record is read, and decoded from the copy
 * if a block of its transaction ends without it.
 */
#include "shell.h"

#include "access/rmgr.h"
#include "access/xlogreader.h"
#include "replication/message.h"
#include "utils/memutils.h"

#include "tied_message.h"

struct TiedMessages
{
	MemoryContext context;
	TiedMessage	 *latest; /* of the record before this one, or NULL */
	dlist_head	  tied;	  /* in the order of WAL */
};

TiedMessages *
tied_messages_open(MemoryContext context)
{
	TiedMessages *messages = MemoryContextAllocZero(context, sizeof(TiedMessages));

	messages->context = context;
	dlist_init(&messages->tied);
	return messages;
}

static void
copy_message(TiedMessages *messages, XLogReaderState *record)
{
	const xl_logical_message *source = (xl_logical_message *) XLogRecGetData(record);
	TiedMessage				 *copy;

	if (!source->transactional)
		return;
	copy = MemoryContextAllocExtended(
		messages->context, sizeof(TiedMessage) + source->prefix_size + source->message_size,
		MCXT_ALLOC_HUGE);
	copy->lsn = record->EndRecPtr;
	copy->xid = XLogRecGetXid(record);
	copy->prefix = (char *) (copy + 1);
	copy->content = copy->prefix + source->prefix_size;
	copy->size = source->message_size;
	memcpy(copy + 1, source->message, source->prefix_size + source->message_size);
	messages->latest = copy;
}

static void
forget(TiedMessage *message)
{
	dlist_delete(&message->node);
	pfree(message);
}

/*
 * The transactions of some never come to an end that is told: they rolled back
 * before anything was sent.
 */
static void
forget_those_before(TiedMessages *messages, XLogRecPtr lsn)
{
	while (!dlist_is_empty(&messages->tied) &&
		   dlist_head_element(TiedMessage, node, &messages->tied)->lsn < lsn)
		forget(dlist_head_element(TiedMessage, node, &messages->tied));
}

void
tied_messages_note_record(DecodingState *state, bool wanted)
{
	TiedMessages	*messages = state->messages;
	XLogReaderState *record = state->ctx->reader;
	TiedMessage		*latest = messages->latest;

	if (latest != NULL)
	{
		messages->latest = NULL;
		if (record->ReadRecPtr == latest->lsn && XLogRecGetXid(record) != latest->xid &&
			TransactionIdIsValid(XLogRecGetTopXid(record)))
		{
			ReorderBufferTXN *oldest = ReorderBufferGetOldestTXN(state->ctx->reorder);

			forget_those_before(messages, oldest ? oldest->first_lsn : latest->lsn);
			dlist_push_tail(&messages->tied, &latest->node);
		}
		else
			pfree(latest);
	}
	if (wanted && state->ctx->streaming && !state->config->opaque_stream &&
		XLogRecGetRmid(record) == RM_LOGICALMSG_ID)
		copy_message(messages, record);
}

void
tied_messages_forget(TiedMessages *messages, XLogRecPtr lsn)
{
	dlist_mutable_iter at;

	/* it may have been decoded at once, if it is long */
	if (messages->latest != NULL && messages->latest->lsn == lsn)
	{
		pfree(messages->latest);
		messages->latest = NULL;
	}
	dlist_foreach_modify(at, &messages->tied)
	{
		TiedMessage *message = dlist_container(TiedMessage, node, at.cur);

		if (message->lsn == lsn)
			forget(message);
	}
}

static bool
belongs_to(const TiedMessage *message, ReorderBufferTXN *txn)
{
	dlist_iter at;

	if (message->xid == txn->xid)
		return true;
	dlist_foreach(at, &txn->subtxns)
	{
		if (message->xid == dlist_container(ReorderBufferTXN, node, at.cur)->xid)
			return true;
	}
	return false;
}

const TiedMessage *
tied_messages_lost(TiedMessages *messages, ReorderBufferTXN *txn)
{
	dlist_iter at;

	dlist_foreach(at, &messages->tied)
	{
		TiedMessage *message = dlist_container(TiedMessage, node, at.cur);

		if (belongs_to(message, txn))
			return message;
	}
	return NULL;
}
