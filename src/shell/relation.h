/*
 * relation.h
 *	  Plans of relations: how a row is gathered, and the core's handle.
 */
#ifndef CPO_RELATION_H
#define CPO_RELATION_H

#include "shell.h"

#include "fmgr.h"

/* How a column's value is handed to the core. */
typedef enum GatherKind
{
	GATHER_NOTHING, /* not needed, or a column without a value */
	GATHER_BOOL,
	GATHER_INT16,
	GATHER_INT32,
	GATHER_INT64,
	GATHER_UINT32,
	GATHER_FLOAT4,
	GATHER_FLOAT8,
	GATHER_NAME,
	GATHER_UUID,
	GATHER_TIMESTAMPTZ, /* with the session's offset */
	GATHER_VARLENA,		/* the bytes after the length word */
	GATHER_STRING,		/* the same, text that may need conversion */
	GATHER_ARRAY,		/* the whole varlena, aligned */
	GATHER_OUTPUT		/* by the type's output function */
} GatherKind;

typedef struct GatherColumn
{
	int		   index; /* attnum - 1 */
	GatherKind kind;
	bool	   varlena;
	FmgrInfo   output; /* GATHER_OUTPUT */
} GatherColumn;

typedef struct RelationPlan
{
	Oid			  oid;
	bool		  complete;
	bool		  stale;
	uint64		  generation; /* of the cache when this was made */
	CpoRelation	 *relation;
	MemoryContext context; /* of everything below */
	int			  natts;   /* of the tuple descriptor */
	int			  ncolumns;
	GatherColumn *columns;
	bool		  any_output; /* some column is GATHER_OUTPUT */
	Datum		 *datums;	  /* natts, workspace */
	bool		 *nulls;	  /* natts, workspace */
	CpoValue	 *old_values; /* ncolumns, for the core */
	CpoValue	 *new_values;
} RelationPlan;

extern RelationCache *relation_cache_open(DecodingState *state);

/* Invalidations find no cache from now on.  NULL is allowed. */
extern void relation_cache_detach(RelationCache *cache);

/* Drops plans that can't be used again, now and then; before a change. */
extern void relation_cache_sweep(DecodingState *state);

/* The plan of a relation, made anew where it is out of date. */
extern RelationPlan *relation_plan(DecodingState *state, Relation relation);

/*
 * row.c: puts one value for each column of the plan into `values`; what they
 * point to lives in the current memory context.
 */
extern void gather_row(DecodingState *state, RelationPlan *plan, Relation relation, HeapTuple tuple,
					   CpoValue *values);

#endif /* CPO_RELATION_H */
