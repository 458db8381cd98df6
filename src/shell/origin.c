/*
 * origin.c
 *	  Replication origins: their names, and whether their changes are wanted.
 *
 * The server asks for each record of WAL, so the answer for the last origin is
 * kept until some origin's catalog entry changes.
 */
#include "shell.h"

#include "access/xact.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "text.h"

struct OriginCache
{
	MemoryContext context;		 /* of the name */
	OriginId	  record_origin; /* of the record that is being decoded */
	OriginId	  id;			 /* the last one looked up; InvalidOriginId: none */
	uint64		  generation;	 /* of `invalidations` then */
	CpoSpan		  name;
	bool		  wanted;
};

/* Counts what happened to origins' catalog entries. */
static uint64 invalidations = 0;

static void
origin_invalidated(Datum arg, SysCacheId cacheid, uint32 hashvalue)
{
	invalidations++;
}

OriginCache *
origin_cache_open(MemoryContext context)
{
	static bool	 registered = false;
	OriginCache *cache = MemoryContextAllocZero(context, sizeof(OriginCache));

	if (!registered)
		CacheRegisterSyscacheCallback(REPLORIGIDENT, origin_invalidated, (Datum) 0);
	registered = true;
	cache->context = AllocSetContextCreate(context, "cpp_output origin", ALLOCSET_SMALL_SIZES);
	return cache;
}

/*
 * Between transactions a walsender has none, and needs one for the catalog.
 * The name is allocated in the caller's memory context.
 */
static char *
look_up_name(OriginId id)
{
	bool		  own_transaction = !IsTransactionState();
	MemoryContext context = CurrentMemoryContext;
	char		 *name = NULL;
	char		 *found;

	if (own_transaction)
		StartTransactionCommand();
	if (replorigin_by_oid(id, true, &found))
		name = MemoryContextStrdup(context, found);
	if (own_transaction)
		CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	return name;
}

static void
look_up(DecodingState *state, OriginId id)
{
	OriginCache	 *cache = state->origins;
	MemoryContext old_context;
	char		 *name;

	if (cache->id == id && cache->generation == invalidations)
		return;
	cache->id = InvalidOriginId;
	cache->generation = invalidations;
	MemoryContextReset(cache->context);
	old_context = MemoryContextSwitchTo(cache->context);
	name = look_up_name(id);
	cache->name = (CpoSpan){name ? name : "", name ? strlen(name) : 0};
	if (state->config->utf8_text)
		cache->name = text_to_utf8(cache->name);
	MemoryContextSwitchTo(old_context);
	cache->wanted = cpo_wants_origin(state->session, id, cache->name);
	cache->id = id;
}

/*
 * Are changes of this origin wanted?  Called by the server for each record,
 * the ones of COMMIT and PREPARE included.
 */
bool
origin_wanted(DecodingState *state, OriginId id)
{
	state->origins->record_origin = id;
	if (id == InvalidOriginId || !state->config->filter_origin_names)
		return cpo_wants_origin(state->session, id, (CpoSpan){"", 0});
	look_up(state, id);
	return state->origins->wanted;
}

/* The name of an origin, empty where it is gone; valid until the next call. */
CpoSpan
origin_name(DecodingState *state, OriginId id)
{
	look_up(state, id);
	return state->origins->name;
}

/*
 * The origin of the record that is being decoded.  For a streamed transaction
 * that is the way to know the origin of its COMMIT: the server puts the origin
 * of some change in its place.
 */
OriginId
origin_of_record(const DecodingState *state)
{
	return state->origins->record_origin;
}
