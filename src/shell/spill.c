/*
 * spill.c
 *	  Temporary files for the logs of transactions in progress.
 *
 * Each is one BufFile that outlives the server's transactions (decoding uses
 * many), in the temporary tablespaces, under temp_file_limit, removed by the
 * server when the process ends or, after a crash, when it starts.
 */
#include "shell.h"

#include "commands/tablespace.h"
#include "lib/ilist.h"
#include "utils/resowner.h"

typedef struct SpillFile
{
	slist_node	node;
	uint32		number;
	BufFile    *file;
} SpillFile;

/*
 * All of it is allocated in the session's own context, none in a child: the
 * files are closed by a callback that runs when the children are gone.  There
 * are as many files as large transactions in progress, so a list will do.
 */
struct SpillFiles
{
	MemoryContext context;
	slist_head	files;
};

/* What the error context says. */
typedef struct SpillContext
{
	const char *what;
	const char *slot;
	const CpoAction *action;
	const CpoCounters *counters;
} SpillContext;

static void
spill_error_context(void *arg)
{
	SpillContext *spill = arg;

	errcontext("%s temporary file of transaction %u, slot \"%s\", "
			   UINT64_FORMAT " bytes at offset " UINT64_FORMAT
			   " (transactions in progress hold " UINT64_FORMAT " bytes in memory and "
			   UINT64_FORMAT " in files)",
			   spill->what, spill->action->xid, spill->slot,
			   (uint64) spill->action->len, spill->action->offset,
			   spill->counters->memory_bytes, spill->counters->file_bytes);
}

SpillFiles *
spill_open(MemoryContext context)
{
	SpillFiles *spill = MemoryContextAlloc(context, sizeof(SpillFiles));

	spill->context = context;
	slist_init(&spill->files);
	return spill;
}

static SpillFile *
find_file(SpillFiles *spill, uint32 number)
{
	slist_iter	iter;

	slist_foreach(iter, &spill->files)
	{
		SpillFile  *entry = slist_container(SpillFile, node, iter.cur);

		if (entry->number == number)
			return entry;
	}
	return NULL;
}

/*
 * Makes a file that belongs to no resource owner: it is kept until it is
 * dropped or the session ends, however many transactions go by.
 */
static BufFile *
create_file(MemoryContext context)
{
	ResourceOwner saved_owner = CurrentResourceOwner;
	MemoryContext saved_context = MemoryContextSwitchTo(context);
	BufFile    *file;

	/* While the server still has an owner: this may read catalogs. */
	PrepareTempTablespaces();
	CurrentResourceOwner = NULL;
	file = BufFileCreateTemp(true);
	CurrentResourceOwner = saved_owner;
	MemoryContextSwitchTo(saved_context);
	return file;
}

static void
seek_to(BufFile *file, uint64 offset)
{
	if (BufFileSeek(file, 0, (off_t) offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file to offset " UINT64_FORMAT, offset)));
}

/* The callbacks of one action, with an error context around them. */
static void
with_context(DecodingState *state, const CpoAction *action, const char *what,
			 void (*run) (DecodingState *state, const CpoAction *action))
{
	SpillContext spill = {
		.what = what,
		.slot = NameStr(state->ctx->slot->data.name),
		.action = action,
		.counters = cpo_counters(state->session)
	};
	ErrorContextCallback callback = {
		.previous = error_context_stack,
		.callback = spill_error_context,
		.arg = &spill
	};

	error_context_stack = &callback;
	run(state, action);
	error_context_stack = callback.previous;
}

static void
write_block(DecodingState *state, const CpoAction *action)
{
	SpillFiles *spill = state->spill;
	SpillFile  *entry = find_file(spill, action->file);

	if (entry == NULL)
	{
		entry = MemoryContextAlloc(spill->context, sizeof(SpillFile));
		entry->number = action->file;
		entry->file = create_file(spill->context);
		slist_push_head(&spill->files, &entry->node);
	}
	seek_to(entry->file, action->offset);
	BufFileWrite(entry->file, action->data, action->len);
}

static void
read_block(DecodingState *state, const CpoAction *action)
{
	SpillFile  *entry = find_file(state->spill, action->file);

	if (entry == NULL)
		elog(ERROR, "temporary file %u does not exist", action->file);
	seek_to(entry->file, action->offset);
	read_file_exactly(entry->file, action->data, action->len);
}

void
spill_write(DecodingState *state, const CpoAction *action)
{
	with_context(state, action, "writing to", write_block);
}

void
spill_read(DecodingState *state, const CpoAction *action)
{
	with_context(state, action, "reading from", read_block);
}

void
spill_drop(DecodingState *state, const CpoAction *action)
{
	SpillFile  *entry = find_file(state->spill, action->file);

	/* a request that comes again after an ERROR finds nothing */
	if (entry == NULL)
		return;
	slist_delete(&state->spill->files, &entry->node);
	BufFileClose(entry->file);
	pfree(entry);
}

/* Removes all files.  Runs while memory is released, so it must not raise. */
void
spill_close(SpillFiles *spill)
{
	slist_iter	iter;

	slist_foreach(iter, &spill->files)
		BufFileClose(slist_container(SpillFile, node, iter.cur)->file);
	slist_init(&spill->files);
}
