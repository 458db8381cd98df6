/*
 * change.c
 *	  What transactions consist of: changes of rows, truncations, messages.
 */
#include "callbacks.h"

#include "access/xact.h"
#include "catalog/pg_class.h"

#include "relation.h"
#include "text.h"
#include "tied_message.h"

/* How many filtered changes may pass before progress is reported. */
#define PROGRESS_INTERVAL 100

/*
 * A report of progress, now and then: a long run of changes that are all
 * filtered out must not end in a timeout of the walsender.
 */
void
report_progress(DecodingState *state)
{
	if (!PLUGIN_REPORTS_PROGRESS || ++state->unreported_changes < PROGRESS_INTERVAL)
		return;
	OutputPluginUpdateProgress(state->ctx, false);
	state->unreported_changes = 0;
}

/* Does the format leave out all changes of such a relation? */
static bool
relation_skipped(const DecodingState *state, Relation relation)
{
	return state->config->skip_matviews && relation->rd_rel->relkind == RELKIND_MATVIEW;
}

void
decode_change(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, Relation relation,
			  ReorderBufferChange *decoded)
{
	DecodingState *state = ctx->output_plugin_private;
	MemoryContext  old_context;
	RelationPlan  *plan;
	HeapTuple	   old_tuple;
	HeapTuple	   new_tuple;
	CpoChange	   event = {.place = place_of(ctx)};

	report_progress(state);
	switch (decoded->action)
	{
		case REORDER_BUFFER_CHANGE_INSERT:
			event.act = CPO_INSERT;
			break;
		case REORDER_BUFFER_CHANGE_UPDATE:
			event.act = CPO_UPDATE;
			break;
		case REORDER_BUFFER_CHANGE_DELETE:
			event.act = CPO_DELETE;
			break;
		default:
			return;
	}
	if (relation_skipped(state, relation))
		return;

	enter(ctx, &old_context);
	relation_cache_sweep(state);
	plan = relation_plan(state, relation);
	if (cpo_relation_wants(plan->relation, event.act))
	{
		event.relation = plan->relation;
		if (decoded->txn != NULL)
			event.place.subxid = decoded->txn->xid;
		old_tuple = CHANGE_TUPLE(decoded->data.tp.oldtuple);
		new_tuple = CHANGE_TUPLE(decoded->data.tp.newtuple);
		if (old_tuple != NULL)
		{
			gather_row(state, plan, relation, old_tuple, plan->old_values);
			event.old_row = plan->old_values;
		}
		if (new_tuple != NULL)
		{
			gather_row(state, plan, relation, new_tuple, plan->new_values);
			event.new_row = plan->new_values;
		}
		check_core(state, cpo_change(state->session, &event));
		perform_actions(state);
	}
	leave(old_context);
}

void
decode_truncate(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, int nrelations,
				Relation relations[], ReorderBufferChange *decoded)
{
	MemoryContext  old_context;
	DecodingState *state = enter(ctx, &old_context);
	CpoRelation	 **wanted = palloc(sizeof(CpoRelation *) * nrelations);
	CpoTruncation  event = {.place = place_of(ctx),
							.relations = wanted,
							.cascade = decoded->data.truncate.cascade,
							.restart_identity = decoded->data.truncate.restart_seqs};
	int			   i;

	report_progress(state);
	relation_cache_sweep(state);
	if (decoded->txn != NULL)
		event.place.subxid = decoded->txn->xid;
	for (i = 0; i < nrelations; i++)
	{
		RelationPlan *plan = relation_plan(state, relations[i]);

		if (cpo_relation_wants(plan->relation, CPO_TRUNCATE))
			wanted[event.nrelations++] = plan->relation;
	}
	if (event.nrelations > 0)
	{
		check_core(state, cpo_truncate(state->session, &event));
		perform_actions(state);
	}
	leave(old_context);
}

static void
message_event(DecodingState *state, const CpoPlace *place, XLogRecPtr lsn, bool transactional,
			  const char *prefix, Size size, const char *content)
{
	CpoMessage event = {.place = *place,
						.message_lsn = lsn,
						.transactional = transactional,
						.valid_text = text_is_valid(content, size),
						.prefix = span_of(prefix),
						.content = {content, size}};

	if (state->config->utf8_text)
	{
		event.prefix = text_to_utf8(event.prefix);
		if (event.valid_text)
			event.content = text_to_utf8(event.content);
	}
	check_core(state, cpo_message(state->session, &event));
	perform_actions(state);
}

void
decode_message(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, XLogRecPtr message_lsn,
			   bool transactional, const char *prefix, Size size, const char *content)
{
	MemoryContext  old_context;
	DecodingState *state = enter(ctx, &old_context);
	CpoPlace	   place = place_of(ctx);

	if (transactional)
		report_progress(state);

	/*
	 * In a transaction in progress this is the subtransaction whose change is
	 * being decoded, if it may still roll back; a message comes without it.
	 */
	if (transactional && TransactionIdIsValid(CheckXidAlive))
		place.subxid = CheckXidAlive;
	message_event(state, &place, message_lsn, transactional, prefix, size, content);
	if (transactional)
		tied_messages_forget(state->messages, message_lsn);
	leave(old_context);
}

void
decode_lost_messages(DecodingState *state, ReorderBufferTXN *txn)
{
	const TiedMessage *lost;

	while ((lost = tied_messages_lost(state->messages, txn)) != NULL)
	{
		XLogRecPtr lsn = lost->lsn;
		CpoPlace   place = {lsn, txn->xid, lost->xid};

		message_event(state, &place, lsn, true, lost->prefix, lost->size, lost->content);
		tied_messages_forget(state->messages, lsn);
	}
}
