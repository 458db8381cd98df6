/*
 * plugin.c
 *	  The library's entry points and the output plugin's callbacks.
 */
#include "shell.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "fmgr.h"
#include "funcapi.h"
#include "storage/sinval.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "output_settings.h"
#include "relation.h"
#include "text.h"
#include "tied_message.h"

CPO_MODULE_MAGIC;

/* PG_FUNCTION_INFO_V1() exports the function itself since PostgreSQL 16 only */
extern PGDLLEXPORT Datum cpp_output_options(PG_FUNCTION_ARGS);
PG_FUNCTION_INFO_V1(cpp_output_options);

/* How many filtered changes may pass before progress is reported. */
#define PROGRESS_INTERVAL 100

/* --- what the callbacks tell the core ------------------------------------- */

static CpoSpan
span_of(const char *text)
{
	return (CpoSpan){text, text ? strlen(text) : 0};
}

static CpoPlace
place_of(const LogicalDecodingContext *ctx)
{
	return (CpoPlace){ctx->write_location, ctx->write_xid, ctx->write_xid};
}

static CpoTransaction
facts_of(const DecodingState *state, const ReorderBufferTXN *txn)
{
	CpoSpan gid = span_of(txn->gid);

	return (CpoTransaction){.xid = txn->xid,
							.first_lsn = txn->first_lsn,
							.final_lsn = txn->final_lsn,
							.end_lsn = txn->end_lsn,
							.commit_time = TXN_COMMIT_TIME(txn),
							.commit_offset = session_utc_offset(TXN_COMMIT_TIME(txn)),
							.origin_id = txn->origin_id,
							.origin_lsn = txn->origin_lsn,
							.gid = state->config->utf8_text ? text_to_utf8(gid) : gid};
}

/*
 * Every callback but the simplest runs between these: memory that it needs is
 * in the change context, which is reset on entry, so that an ERROR leaves
 * nothing that the next callback would not clean up.
 */
static DecodingState *
enter(LogicalDecodingContext *ctx, MemoryContext *old_context)
{
	DecodingState *state = ctx->output_plugin_private;

	MemoryContextReset(state->change_context);
	*old_context = MemoryContextSwitchTo(state->change_context);
	return state;
}

static void
leave(MemoryContext old_context)
{
	MemoryContextSwitchTo(old_context);
}

/* A callback that hands the core a transaction and does what it asks for. */
typedef CpoStatus (*TransactionEvent)(CpoSession *, const CpoPlace *, const CpoTransaction *);

static void
transaction_event(LogicalDecodingContext *ctx, const ReorderBufferTXN *txn, OriginId origin_id,
				  TransactionEvent event)
{
	MemoryContext  old_context;
	DecodingState *state = enter(ctx, &old_context);
	CpoPlace	   place = place_of(ctx);
	CpoTransaction facts = facts_of(state, txn);

	facts.origin_id = origin_id;
	if (origin_id != InvalidOriginId && state->config->want_origin_names)
		facts.origin_name = origin_name(state, origin_id);
	check_core(state, event(state->session, &place, &facts));
	perform_actions(state);
	leave(old_context);
}

/* --- the life of a session ------------------------------------------------ */

static void
decode_startup(LogicalDecodingContext *ctx, OutputPluginOptions *options, bool is_init)
{
	state_open(ctx, options);
}

static void
decode_shutdown(LogicalDecodingContext *ctx)
{
	if (ctx->output_plugin_private != NULL)
		state_release(ctx->output_plugin_private);
}

static bool
decode_filter_by_origin(LogicalDecodingContext *ctx, OriginId origin_id)
{
	DecodingState *state = ctx->output_plugin_private;

	bool wanted = origin_wanted(state, origin_id);

	tied_messages_note_record(state, wanted);
	return !wanted;
}

/* --- complete transactions ------------------------------------------------ */

static void
decode_begin(LogicalDecodingContext *ctx, ReorderBufferTXN *txn)
{
	transaction_event(ctx, txn, txn->origin_id, cpo_begin);
}

static void
decode_commit(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, XLogRecPtr commit_lsn)
{
	OutputPluginUpdateProgress(ctx, false);
	transaction_event(ctx, txn, txn->origin_id, cpo_commit);
}

/*
 * A report of progress, now and then: a long run of changes that are all
 * filtered out must not end in a timeout of the walsender.
 */
static void
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

static void
decode_change(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, Relation relation,
			  ReorderBufferChange *decoded)
{
	DecodingState *state = ctx->output_plugin_private;
	MemoryContext  old_context;
	RelationPlan  *plan;
	HeapTuple	   old_tuple;
	HeapTuple	   new_tuple;
	CpoChange	   event = {.place = place_of(ctx), .origin_id = decoded->origin_id};

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

static void
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
message_event(DecodingState *state, const CpoPlace *place, OriginId origin_id, XLogRecPtr lsn,
			  bool transactional, const char *prefix, Size size, const char *content)
{
	CpoMessage event = {.place = *place,
						.message_lsn = lsn,
						.origin_id = origin_id,
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

static void
decode_message(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, XLogRecPtr message_lsn,
			   bool transactional, const char *prefix, Size size, const char *content)
{
	MemoryContext  old_context;
	DecodingState *state = enter(ctx, &old_context);
	CpoPlace	   place = place_of(ctx);

	/*
	 * In a transaction in progress this is the subtransaction whose change is
	 * being decoded, if it may still roll back; a message comes without it.
	 */
	if (transactional && TransactionIdIsValid(CheckXidAlive))
		place.subxid = CheckXidAlive;
	message_event(state, &place, txn != NULL ? txn->origin_id : InvalidOriginId, message_lsn,
				  transactional, prefix, size, content);
	if (transactional)
		tied_messages_forget(state->messages, message_lsn);
	leave(old_context);
}

/* Those that the server threw away; see tied_message.c. */
static void
decode_lost_messages(DecodingState *state, ReorderBufferTXN *txn)
{
	const TiedMessage *lost;

	while ((lost = tied_messages_lost(state->messages, txn)) != NULL)
	{
		XLogRecPtr lsn = lost->lsn;
		CpoPlace   place = {lsn, txn->xid, lost->xid};

		message_event(state, &place, txn->origin_id, lsn, true, lost->prefix, lost->size,
					  lost->content);
		tied_messages_forget(state->messages, lsn);
	}
}

/* --- prepared transactions ------------------------------------------------ */

static bool
decode_filter_prepare(LogicalDecodingContext *ctx, TransactionId xid, const char *gid)
{
	DecodingState *state = ctx->output_plugin_private;

	return state->config->skip_nodecode_gids && strstr(gid, "_nodecode") != NULL;
}

static void
decode_begin_prepare(LogicalDecodingContext *ctx, ReorderBufferTXN *txn)
{
	transaction_event(ctx, txn, txn->origin_id, cpo_begin_prepare);
}

static void
decode_prepare(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, XLogRecPtr prepare_lsn)
{
	OutputPluginUpdateProgress(ctx, false);
	transaction_event(ctx, txn, txn->origin_id, cpo_prepare);
}

static void
decode_commit_prepared(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, XLogRecPtr commit_lsn)
{
	OutputPluginUpdateProgress(ctx, false);
	transaction_event(ctx, txn, txn->origin_id, cpo_commit_prepared);
}

static void
decode_rollback_prepared(LogicalDecodingContext *ctx, ReorderBufferTXN *txn,
						 XLogRecPtr prepare_end_lsn, TimestampTz prepare_time)
{
	MemoryContext  old_context;
	DecodingState *state = enter(ctx, &old_context);
	CpoPlace	   place = place_of(ctx);
	CpoTransaction facts = facts_of(state, txn);

	facts.prepare_end_lsn = prepare_end_lsn;
	facts.prepare_time = prepare_time;
	OutputPluginUpdateProgress(ctx, false);
	check_core(state, cpo_rollback_prepared(state->session, &place, &facts));
	perform_actions(state);
	leave(old_context);
}

/* --- transactions in progress --------------------------------------------- */

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

static void
decode_stream_start(LogicalDecodingContext *ctx, ReorderBufferTXN *txn)
{
	const DecodingState *state = ctx->output_plugin_private;

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

/* --- entry points --------------------------------------------------------- */

void
_PG_output_plugin_init(OutputPluginCallbacks *cb)
{
	cb->startup_cb = decode_startup;
	cb->shutdown_cb = decode_shutdown;
	cb->filter_by_origin_cb = decode_filter_by_origin;

	cb->begin_cb = decode_begin;
	cb->change_cb = decode_change;
	cb->truncate_cb = decode_truncate;
	cb->message_cb = decode_message;
	cb->commit_cb = decode_commit;

	cb->filter_prepare_cb = decode_filter_prepare;
	cb->begin_prepare_cb = decode_begin_prepare;
	cb->prepare_cb = decode_prepare;
	cb->commit_prepared_cb = decode_commit_prepared;
	cb->rollback_prepared_cb = decode_rollback_prepared;

	cb->stream_start_cb = decode_stream_start;
	cb->stream_stop_cb = decode_stream_stop;
	cb->stream_abort_cb = decode_stream_abort;
	cb->stream_prepare_cb = decode_stream_prepare;
	cb->stream_commit_cb = decode_stream_commit;
	cb->stream_change_cb = decode_stream_change;
	cb->stream_message_cb = decode_message;
	cb->stream_truncate_cb = decode_truncate;
}

/*
 * The library may be loaded twice in one process, under two names: the setting
 * is made once, and always read by its name.
 */
void
_PG_init(void)
{
	static char		 *streaming = NULL;
	static const char name[] = "cpp_output.streaming";
	const char		 *present = GetConfigOption(name, true, false);

	if (present != NULL && (GetConfigOptionFlags(name, true) & GUC_CUSTOM_PLACEHOLDER) == 0)
		return;
	DefineCustomStringVariable(name,
							   "How slots that don't say so themselves treat transactions in "
							   "progress.",
							   "One of off, on, reorder; empty for the format's own default. It "
							   "is read when decoding starts.",
							   &streaming, "", PGC_USERSET, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("cpp_output");
}

/* cpp_output_options(): the table of options */
Datum
cpp_output_options(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	CpoOptionInfo  info;
	size_t		   i;

	InitMaterializedSRF(fcinfo, 0);
	for (i = 0; cpo_option_info(i, &info); i++)
	{
		const char *columns[] = {info.name,			 info.formats, info.type,
								 info.default_value, info.allowed, info.description};
		Datum		values[lengthof(columns)] = {0};
		bool		nulls[lengthof(columns)];
		int			j;

		for (j = 0; j < (int) lengthof(columns); j++)
		{
			nulls[j] = columns[j] == NULL;
			if (!nulls[j])
				values[j] = CStringGetTextDatum(columns[j]);
		}
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
