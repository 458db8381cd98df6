/*
 * plugin.c
 *	  The library's entry points, and the callbacks for sessions and for complete
 *	  and prepared transactions.
 */
#include "callbacks.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "output_settings.h"
#include "text.h"
#include "tied_message.h"

CPO_MODULE_MAGIC;

/* PG_FUNCTION_INFO_V1() exports the function itself since PostgreSQL 16 only */
extern PGDLLEXPORT Datum cpp_output_options(PG_FUNCTION_ARGS);
PG_FUNCTION_INFO_V1(cpp_output_options);

/* --- events with a transaction --------------------------------------------- */

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

void
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

/* Called for each record, those of COMMIT and PREPARE included. */
static bool
decode_filter_by_origin(LogicalDecodingContext *ctx, OriginId origin_id)
{
	DecodingState *state = ctx->output_plugin_private;
	bool		   wanted = origin_wanted(state, origin_id);

	tied_messages_note_record(state, wanted);
	if (!wanted && state->config->streaming == CPO_STREAMING_REORDER)
		drop_unwanted_stream(ctx);
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

	set_stream_callbacks(cb);
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
