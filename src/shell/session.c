/*
 * session.c
 *	  Opening and releasing a decoding session.
 *
 * Everything hangs on one memory context below the decoding context.  Its reset
 * callback releases what is not memory, so that an ERROR in the SQL functions,
 * after which the server calls no shutdown callback, leaves nothing behind.
 */
#include "shell.h"

#include "access/xact.h"
#include "mb/pg_wchar.h"
#include "replication/slot.h"
#include "replication/walsender.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "output_settings.h"
#include "relation.h"
#include "text.h"
#include "tied_message.h"

static void *
allocate(void *arg, size_t bytes)
{
	return MemoryContextAllocExtended(arg, bytes, MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE);
}

static void
release(void *arg, void *chunk, size_t bytes)
{
	pfree(chunk);
}

/* Raises the core's error under its own SQLSTATE; its texts may be in UTF-8. */
void
raise_core_error(const CpoError *error, bool utf8)
{
	const char *state = error->sqlstate;
	const char *message = utf8 ? text_from_utf8(error->message) : error->message;
	const char *detail = utf8 ? text_from_utf8(error->detail) : error->detail;
	const char *hint = utf8 ? text_from_utf8(error->hint) : error->hint;

	ereport(ERROR,
			(errcode(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4])),
			 errmsg_internal("%s", message), detail[0] ? errdetail_internal("%s", detail) : 0,
			 hint[0] ? errhint("%s", hint) : 0));
}

/* Runs when the context goes away, whatever the reason. */
static void
release_state(void *arg)
{
	DecodingState	  *state = arg;
	const CpoCounters *counters;

	relation_cache_detach(state->relations);
	if (state->spill)
		spill_close(state->spill);
	if (state->session == NULL)
		return;
	counters = cpo_counters(state->session);
	elog(DEBUG1,
		 "cpp_output: sent " UINT64_FORMAT " transactions, " UINT64_FORMAT
		 " changes, " UINT64_FORMAT " messages, " UINT64_FORMAT " bytes; skipped " UINT64_FORMAT
		 " transactions; streamed " UINT64_FORMAT " transactions in " UINT64_FORMAT
		 " blocks, " UINT64_FORMAT " bytes; spilled " UINT64_FORMAT
		 " transactions in " UINT64_FORMAT " writes, " UINT64_FORMAT
		 " bytes; discarded " UINT64_FORMAT " transactions, " UINT64_FORMAT " subtransactions",
		 counters->transactions, counters->changes, counters->messages_out, counters->bytes_out,
		 counters->skipped_transactions, counters->streamed_transactions, counters->streamed_blocks,
		 counters->streamed_bytes, counters->spilled_transactions, counters->spill_writes,
		 counters->spilled_bytes, counters->discarded_transactions,
		 counters->discarded_subtransactions);
	cpo_close(&state->memory, state->session);
	state->session = NULL;
}

/* The options as the core takes them; in UTF-8 if `convert`. */
static CpoOption *
collect_options(List *given, bool convert)
{
	CpoOption *options = palloc(sizeof(CpoOption) * (list_length(given) + 1));
	CpoOption *next = options;
	ListCell  *cell;

	foreach (cell, given)
	{
		DefElem *element = lfirst(cell);

		next->name = span_of(element->defname);
		next->value = span_of(element->arg ? strVal(element->arg) : NULL);
		if (convert)
			next->value = text_to_utf8(next->value);
		next++;
	}
	return options;
}

static void
open_core(DecodingState *state, List *given)
{
	int		  encoding = GetDatabaseEncoding();
	CpoServer server = {.version_num = PG_VERSION_NUM,
						.plugin_name = span_of(NameStr(state->ctx->slot->data.plugin)),
						.ascii_only = encoding != PG_UTF8,
						.unchecked_text = encoding == PG_SQL_ASCII,
						.streaming_setting =
							span_of(GetConfigOption("cpp_output.streaming", true, false))};
	CpoError  error;
	bool	  convert = false;

	for (;;)
	{
		CpoStatus status = cpo_open(&state->memory, &server, collect_options(given, convert),
									list_length(given), &state->session, &error);

		if (status != CPO_OK)
			raise_core_error(&error, convert);
		state->config = cpo_config(state->session);
		/* which encoding the options have to be in is known only now */
		if (convert || !server.ascii_only || !state->config->utf8_text)
			return;
		convert = true;
		cpo_close(&state->memory, state->session);
		state->session = NULL;
	}
}

DecodingState *
state_open(LogicalDecodingContext *ctx, OutputPluginOptions *options)
{
	MemoryContext context =
		AllocSetContextCreate(ctx->context, "cpp_output", ALLOCSET_DEFAULT_SIZES);
	DecodingState *state = MemoryContextAllocZero(context, sizeof(DecodingState));
	MemoryContext  old_context;

	state->ctx = ctx;
	state->context = context;
	state->memory = (CpoMemory){context, allocate, release};
	state->release.func = release_state;
	state->release.arg = state;
	MemoryContextRegisterResetCallback(context, &state->release);
	state->change_context =
		AllocSetContextCreate(context, "cpp_output change", ALLOCSET_DEFAULT_SIZES);

	old_context = MemoryContextSwitchTo(state->change_context);
	open_core(state, ctx->output_plugin_options);
	MemoryContextSwitchTo(old_context);
	MemoryContextReset(state->change_context);

	state->origins = origin_cache_open(context);
	state->spill = spill_open(context);
	state->messages = tied_messages_open(context);
	state->relations = relation_cache_open(state);
	native_settings_register();

	/*
	 * A walsender can run the SQL functions too: there the progress function is
	 * missing.
	 */
	state->wire.walsender = am_walsender && ctx->update_progress != NULL;

	options->output_type =
		state->config->binary_output ? OUTPUT_PLUGIN_BINARY_OUTPUT : OUTPUT_PLUGIN_TEXTUAL_OUTPUT;
	options->receive_rewrites = state->config->receive_rewrites;
	ctx->streaming &= state->config->streaming != CPO_STREAMING_OFF;
	if (state->config->two_phase == CPO_TWO_PHASE_OFF)
		ctx->twophase = false;
	else if (state->config->two_phase == CPO_TWO_PHASE_ON)
		ctx->twophase_opt_given = true;
	ctx->output_plugin_private = state;
	return state;
}

void
state_release(DecodingState *state)
{
	state->ctx->output_plugin_private = NULL;
	MemoryContextDelete(state->context);
}
