/*
 * describe.h
 *	  A relation's description for the core, read from the catalogs.
 */
#ifndef CPO_DESCRIBE_H
#define CPO_DESCRIBE_H

#include "relation.h"

/*
 * Called for each catalog entry that a description depends on besides the
 * relation itself: the syscache's id and the entry's hash value there, or
 * cacheid -1 and the oid of a composite type's relation.
 */
typedef void (*DependencyCallback)(void *arg, int cacheid, uint32 value);

/*
 * Fills in the description, in the current memory context, and how each column
 * is to be gathered, with output functions set up in `context`; *columns has
 * info->ncolumns entries, in `context`.
 */
extern void describe_relation(DecodingState *state, Relation relation, MemoryContext context,
							  CpoRelationInfo *info, GatherColumn **columns,
							  DependencyCallback depends, void *arg);

#endif /* CPO_DESCRIBE_H */
