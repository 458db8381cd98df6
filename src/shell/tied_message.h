/*
 * tied_message.h
 *	  Transactional messages whose LSN is that of the row behind them, too.
 */
#ifndef CPO_TIED_MESSAGE_H
#define CPO_TIED_MESSAGE_H

#include "shell.h"

#include "lib/ilist.h"

typedef struct TiedMessage
{
	dlist_node	  node;
	XLogRecPtr	  lsn; /* the end of its record */
	TransactionId xid; /* the subtransaction's, if it is in one */
	const char	 *prefix;
	const char	 *content;
	Size		  size;
} TiedMessage;

extern TiedMessages *tied_messages_open(MemoryContext context);

/* For each record that the server asks about: is its origin wanted? */
extern void tied_messages_note_record(DecodingState *state, bool wanted);

/* The message of that LSN was decoded. */
extern void tied_messages_forget(TiedMessages *messages, XLogRecPtr lsn);

/*
 * At the end of a block of the transaction: the first of its messages that the
 * block should have had, or NULL.  It stays until it is forgotten.
 */
extern const TiedMessage *tied_messages_lost(TiedMessages *messages, ReorderBufferTXN *txn);

#endif /* CPO_TIED_MESSAGE_H */
