/*
 * relation.c
 *	  The cache of plans of relations, and its invalidation.
 *
 * A plan is made at a relation's first change and thrown away when the server
 * says that something which it was made from has changed: the relation itself,
 * by its oid, or a type, schema or other object that it mentions.  The latter
 * are rare, so they cost one counter: whatever plan was made before is stale.
 * To know them from what concerns nobody (each new table brings a new type),
 * the cache keeps the set of all that its usable plans depend on.
 */
#include "relation.h"

#include "common/hashfn.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "describe.h"
#include "output_settings.h"

#define SH_PREFIX plans
#define SH_ELEMENT_TYPE RelationPlanSlot
#define SH_KEY_TYPE Oid
#define SH_KEY oid
#define SH_HASH_KEY(table, key) murmurhash32(key)
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE

/* Entries move about in the table, plans don't. */
typedef struct RelationPlanSlot
{
	Oid			  oid;
	char		  status;
	RelationPlan *plan;
} RelationPlanSlot;

#include "lib/simplehash.h"

typedef struct Dependency
{
	uint64 key; /* cacheid and value */
	char   status;
} Dependency;

#define SH_PREFIX dependencies
#define SH_ELEMENT_TYPE Dependency
#define SH_KEY_TYPE uint64
#define SH_KEY key
#define SH_HASH_KEY(table, key) murmurhash32((uint32) ((key) ^ ((key) >> 32)))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/*
 * Below this many plans nothing is swept.  A plan may well take 30 kB, and a table
 * that was dropped never asks for it again.
 */
#define SWEEP_AT_LEAST 64

struct RelationCache
{
	MemoryContext	   context;
	plans_hash		  *plans;
	dependencies_hash *dependencies;
	uint64			   generation; /* plans of an earlier one are stale */
	unsigned		   settings;   /* session_settings() that plans were made under */
	uint32			   sweep_at;   /* number of plans */
	RelationPlan	  *latest;	   /* the one looked up last */
};

/*
 * The cache that invalidations go to: a process decodes from one slot at a
 * time, and the callbacks can't be unregistered.
 */
static RelationCache *active_cache = NULL;

static uint64
dependency_key(int cacheid, uint32 value)
{
	return (uint64) (uint32) cacheid << 32 | value;
}

static void
note_dependency(void *arg, int cacheid, uint32 value)
{
	RelationCache *cache = arg;
	bool		   found;

	dependencies_insert(cache->dependencies, dependency_key(cacheid, value), &found);
}

static bool
is_dependency(RelationCache *cache, int cacheid, uint32 value)
{
	return dependencies_lookup(cache->dependencies, dependency_key(cacheid, value)) != NULL;
}

/* Those made from now on say anew what they depend on. */
static void
make_all_stale(RelationCache *cache)
{
	cache->generation++;
	dependencies_reset(cache->dependencies);
}

static void
relation_invalidated(Datum arg, Oid relid)
{
	RelationCache	 *cache = active_cache;
	RelationPlanSlot *slot;

	if (cache == NULL)
		return;
	if (!OidIsValid(relid) || is_dependency(cache, -1, relid))
	{
		make_all_stale(cache);
		return;
	}
	slot = plans_lookup(cache->plans, relid);
	if (slot != NULL)
		slot->plan->stale = true;
}

static void
catalog_invalidated(Datum arg, SysCacheId cacheid, uint32 hashvalue)
{
	RelationCache *cache = active_cache;

	/* a hash value of zero means all of them */
	if (cache != NULL && (hashvalue == 0 || is_dependency(cache, cacheid, hashvalue)))
		make_all_stale(cache);
}

static void
label_invalidated(Datum arg, SysCacheId cacheid, uint32 hashvalue)
{
	catalog_invalidated(arg, cacheid, ANY_LABEL);
}

static void
register_callbacks(void)
{
	static const SysCacheId catalogs[] = {TYPEOID, NAMESPACEOID, PROCOID,  OPEROID,
										  COLLOID, TSCONFIGOID,	 TSDICTOID};
	static bool				registered = false;
	int						i;

	if (registered)
		return;
	CacheRegisterRelcacheCallback(relation_invalidated, (Datum) 0);
	for (i = 0; i < (int) lengthof(catalogs); i++)
		CacheRegisterSyscacheCallback(catalogs[i], catalog_invalidated, (Datum) 0);
	CacheRegisterSyscacheCallback(ENUMOID, label_invalidated, (Datum) 0);
	registered = true;
}

RelationCache *
relation_cache_open(DecodingState *state)
{
	MemoryContext context =
		AllocSetContextCreate(state->context, "cpp_output relations", ALLOCSET_DEFAULT_SIZES);
	RelationCache *cache = MemoryContextAllocZero(context, sizeof(RelationCache));

	cache->context = context;
	cache->plans = plans_create(context, 128, NULL);
	cache->dependencies = dependencies_create(context, 128, NULL);
	cache->sweep_at = SWEEP_AT_LEAST;
	register_callbacks();
	active_cache = cache;
	return cache;
}

void
relation_cache_detach(RelationCache *cache)
{
	/* an earlier session's memory may go away after the next one has begun */
	if (active_cache == cache)
		active_cache = NULL;
}

static bool
usable(const RelationCache *cache, const RelationPlan *plan)
{
	return plan->complete && !plan->stale && plan->generation == cache->generation;
}

void
relation_cache_sweep(DecodingState *state)
{
	RelationCache	 *cache = state->relations;
	RelationPlanSlot *slot;
	plans_iterator	  scan;
	Oid				 *unusable;
	uint32			  count = 0;
	uint32			  i;

	if (cache->plans->members < cache->sweep_at)
		return;
	unusable = palloc(sizeof(Oid) * cache->plans->members);
	plans_start_iterate(cache->plans, &scan);
	while ((slot = plans_iterate(cache->plans, &scan)) != NULL)
	{
		if (!usable(cache, slot->plan))
			unusable[count++] = slot->oid;
	}
	for (i = 0; i < count; i++)
	{
		RelationPlan *plan = plans_lookup(cache->plans, unusable[i])->plan;

		plans_delete(cache->plans, unusable[i]);
		if (plan->relation != NULL)
			cpo_relation_drop(state->session, plan->relation);
		MemoryContextDelete(plan->context);
		pfree(plan);
	}
	cache->latest = NULL;
	cache->sweep_at = Max(SWEEP_AT_LEAST, 2 * cache->plans->members);
}

static RelationPlan *
find_or_add(RelationCache *cache, Oid oid)
{
	RelationPlanSlot *slot = plans_lookup(cache->plans, oid);
	RelationPlan	 *plan;
	bool			  found;

	if (slot != NULL)
		return slot->plan;
	plan = MemoryContextAllocZero(cache->context, sizeof(RelationPlan));
	plan->context =
		AllocSetContextCreate(cache->context, "cpp_output relation", ALLOCSET_SMALL_SIZES);
	slot = plans_insert(cache->plans, oid, &found);
	slot->plan = plan;
	return plan;
}

/*
 * An ERROR in here, or an invalidation that comes while catalogs are read,
 * leaves a plan that will not be used: it is complete only at the end, and the
 * generation is the one from before.
 */
static void
make_plan(DecodingState *state, RelationPlan *plan, Relation relation)
{
	CpoRelationInfo info = {0};
	MemoryContext	old_context;
	int				i;

	plan->complete = false;
	plan->stale = false;
	plan->generation = state->relations->generation;
	MemoryContextReset(plan->context);
	describe_relation(state, relation, plan->context, &info, &plan->columns, note_dependency,
					  state->relations);
	check_core(state, cpo_relation_define(state->session, &info, &plan->relation));

	old_context = MemoryContextSwitchTo(plan->context);
	plan->natts = RelationGetDescr(relation)->natts;
	plan->ncolumns = (int) info.ncolumns;
	plan->datums = palloc(sizeof(Datum) * (plan->natts + 1));
	plan->nulls = palloc(sizeof(bool) * (plan->natts + 1));
	plan->old_values = palloc0(sizeof(CpoValue) * (plan->ncolumns + 1));
	plan->new_values = palloc0(sizeof(CpoValue) * (plan->ncolumns + 1));
	MemoryContextSwitchTo(old_context);

	plan->any_output = false;
	for (i = 0; i < plan->ncolumns; i++)
	{
		if (!cpo_relation_columns(plan->relation)[i])
			plan->columns[i].kind = GATHER_NOTHING;
		plan->any_output |= plan->columns[i].kind == GATHER_OUTPUT;
	}
	plan->complete = true;
}

RelationPlan *
relation_plan(DecodingState *state, Relation relation)
{
	RelationCache *cache = state->relations;
	Oid			   oid = RelationGetRelid(relation);
	RelationPlan  *plan = cache->latest;

	if (!state->config->native_values && session_settings() != cache->settings)
	{
		cache->settings = session_settings();
		make_all_stale(cache);
	}
	if (plan == NULL || plan->oid != oid)
	{
		plan = find_or_add(cache, oid);
		plan->oid = oid;
		cache->latest = plan;
	}
	if (unlikely(!usable(cache, plan)))
		make_plan(state, plan, relation);
	return plan;
}
