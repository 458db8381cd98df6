/*
 * bench_nothing.c
 *	  An output plugin that does nothing: what is left is the server's own
 *	  cost of decoding, the floor that other plugins are measured from.
 *
 * Options, off by default:
 *	stream=on	take transactions in progress, and do nothing with them
 *	write=on	write one byte for each row
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "replication/logical.h"
#include "replication/output_plugin.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_output_plugin_init(OutputPluginCallbacks *callbacks);

typedef struct NothingState {
	bool stream;
	bool write;
} NothingState;

static void nothing_startup(LogicalDecodingContext *ctx, OutputPluginOptions *options, bool is_init)
{
	NothingState *state = palloc0(sizeof(NothingState));
	ListCell *cell;

	foreach (cell, ctx->output_plugin_options) {
		DefElem *option = (DefElem *)lfirst(cell);
		bool *target = NULL;

		if (strcmp(option->defname, "stream") == 0)
			target = &state->stream;
		else if (strcmp(option->defname, "write") == 0)
			target = &state->write;
		if (target == NULL || option->arg == NULL || !parse_bool(strVal(option->arg), target))
			ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("invalid option \"%s\" of bench_nothing", option->defname));
	}

	ctx->output_plugin_private = state;
	ctx->streaming &= state->stream;
	options->output_type = OUTPUT_PLUGIN_BINARY_OUTPUT;
}

static void nothing_begin(LogicalDecodingContext *ctx, ReorderBufferTXN *txn) {}

static void nothing_change(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, Relation relation,
	ReorderBufferChange *change)
{
	NothingState *state = ctx->output_plugin_private;

	if (!state->write)
		return;
	OutputPluginPrepareWrite(ctx, true);
	appendStringInfoChar(ctx->out, '.');
	OutputPluginWrite(ctx, true);
}

static void nothing_commit(LogicalDecodingContext *ctx, ReorderBufferTXN *txn, XLogRecPtr lsn) {}

static void nothing_stream(LogicalDecodingContext *ctx, ReorderBufferTXN *txn) {}

void _PG_output_plugin_init(OutputPluginCallbacks *callbacks)
{
	callbacks->startup_cb = nothing_startup;
	callbacks->begin_cb = nothing_begin;
	callbacks->change_cb = nothing_change;
	callbacks->commit_cb = nothing_commit;
	callbacks->stream_start_cb = nothing_stream;
	callbacks->stream_stop_cb = nothing_stream;
	callbacks->stream_change_cb = nothing_change;
	callbacks->stream_abort_cb = nothing_commit;
	callbacks->stream_commit_cb = nothing_commit;
}
