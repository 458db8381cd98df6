/*
 * spill.c
 *	  Temporary files for the logs of transactions in progress.
 *
 * Each outlives the server's transactions (decoding uses many), so the server
 * puts it into the database's own tablespace, whatever temp_tablespaces says.
 * It counts for temp_file_limit, and is removed by the server when the process
 * ends or, after a crash, when it starts.
 *
 * They are plain files, not BufFiles: blocks are large, so a buffer would be of
 * no use, and BufFileClose() would write it out first, which raises an ERROR
 * where the disk is full, in the middle of cleaning up after the same ERROR.
 * FileClose() does not raise.
 */
#include "shell.h"

#include "lib/ilist.h"
#include "storage/fd.h"
#include "utils/wait_event.h"

/* The server's functions take an int as length. */
#define MAX_IO_BYTES ((size_t) 1 << 30)

typedef struct SpillFile
{
	slist_node node;
	uint32	   number;
	File	   file;
} SpillFile;

/*
 * All of it is allocated in the session's own context, none in a child: the
 * files are closed by a callback that runs when the children are gone.  There
 * are as many files as large transactions in progress, so a list will do.
 */
struct SpillFiles
{
	MemoryContext context;
	slist_head	  files;
};

/* What the error context says. */
typedef struct SpillContext
{
	const char		  *what;
	const char		  *slot;
	const CpoAction	  *action;
	const CpoCounters *counters;
} SpillContext;

static void
spill_error_context(void *arg)
{
	SpillContext *spill = arg;

	errcontext("%s temporary file of transaction %u, slot \"%s\", " UINT64_FORMAT
			   " bytes at offset " UINT64_FORMAT " (transactions in progress hold " UINT64_FORMAT
			   " bytes in memory and " UINT64_FORMAT " in files)",
			   spill->what, spill->action->xid, spill->slot, (uint64) spill->action->len,
			   spill->action->offset, spill->counters->memory_bytes, spill->counters->file_bytes);
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
	slist_iter iter;

	slist_foreach(iter, &spill->files)
	{
		SpillFile *entry = slist_container(SpillFile, node, iter.cur);

		if (entry->number == number)
			return entry;
	}
	return NULL;
}

/* Runs one action with an error context around it. */
static void
with_context(DecodingState *state, const CpoAction *action, const char *what,
			 void (*run)(DecodingState *state, const CpoAction *action))
{
	SpillContext		 spill = {.what = what,
								  .slot = NameStr(state->ctx->slot->data.name),
								  .action = action,
								  .counters = cpo_counters(state->session)};
	ErrorContextCallback callback = {
		.previous = error_context_stack, .callback = spill_error_context, .arg = &spill};

	error_context_stack = &callback;
	run(state, action);
	error_context_stack = callback.previous;
}

static void
write_block(DecodingState *state, const CpoAction *action)
{
	SpillFiles *spill = state->spill;
	SpillFile  *entry = find_file(spill, action->file);
	size_t		done = 0;

	if (entry == NULL)
	{
		entry = MemoryContextAlloc(spill->context, sizeof(SpillFile));
		entry->number = action->file;
		/* of no resource owner: it is kept however many transactions go by */
		entry->file = OpenTemporaryFile(true);
		slist_push_head(&spill->files, &entry->node);
	}
	while (done < action->len)
	{
		int written =
			FileWrite(entry->file, action->data + done, (int) Min(action->len - done, MAX_IO_BYTES),
					  action->offset + done, WAIT_EVENT_BUFFILE_WRITE);

		if (written <= 0)
			ereport(ERROR, (errcode_for_file_access(),
							errmsg("could not write to temporary file \"%s\": %m",
								   FilePathName(entry->file))));
		done += written;
	}
}

static void
read_block(DecodingState *state, const CpoAction *action)
{
	SpillFile *entry = find_file(state->spill, action->file);
	size_t	   done = 0;

	if (entry == NULL)
		elog(ERROR, "temporary file %u does not exist", action->file);
	while (done < action->len)
	{
		int got =
			FileRead(entry->file, action->data + done, (int) Min(action->len - done, MAX_IO_BYTES),
					 action->offset + done, WAIT_EVENT_BUFFILE_READ);

		if (got < 0)
			ereport(ERROR, (errcode_for_file_access(),
							errmsg("could not read from temporary file \"%s\": %m",
								   FilePathName(entry->file))));
		if (got == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("temporary file \"%s\" ends too early", FilePathName(entry->file))));
		done += got;
	}
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
	SpillFile *entry = find_file(state->spill, action->file);

	/* a request that comes again after an ERROR finds nothing */
	if (entry == NULL)
		return;
	slist_delete(&state->spill->files, &entry->node);
	FileClose(entry->file);
	pfree(entry);
}

/* Removes all files.  Runs while memory is released, so it must not raise. */
void
spill_close(SpillFiles *spill)
{
	slist_iter iter;

	slist_foreach(iter, &spill->files) FileClose(slist_container(SpillFile, node, iter.cur)->file);
	slist_init(&spill->files);
}
