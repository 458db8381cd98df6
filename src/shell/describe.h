/*
 * describe.h
 *	  A relation's description for the core, read from the catalogs.
 */
#ifndef CPO_DESCRIBE_H
#define CPO_DESCRIBE_H

#include "relation.h"

/* ENUMOID: stands for every label; nothing says which of them a default mentions. */
#define ANY_LABEL 1

/*
 * Called for each catalog entry that a description depends on besides the
 * relation itself: the syscache's id and the entry's hash value there, or
 * cacheid -1 and the oid of another relation: a composite type's, a partition's
 * root, or one that a default mentions.
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
