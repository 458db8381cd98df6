/*
 * server.h
 *	  The server's headers, and what differs between its versions.
 *
 * No other file has a condition on PG_VERSION_NUM.
 */
#ifndef CPO_SERVER_H
#define CPO_SERVER_H

#include "postgres.h"

#include "access/htup_details.h"
#include "replication/logical.h"
#include "replication/origin.h"
#include "replication/output_plugin.h"
#include "utils/rel.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#if PG_VERSION_NUM < 150000
#error "cpp_output needs PostgreSQL 15 or later"
#endif

#if PG_VERSION_NUM < 160000
extern PGDLLEXPORT void _PG_init(void);
extern PGDLLEXPORT void _PG_output_plugin_init(OutputPluginCallbacks *cb);
#endif

#define CPO_VERSION "1.0.0"

#ifdef PG_MODULE_MAGIC_EXT
#define CPO_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "cpp_output", .version = CPO_VERSION)
#else
#define CPO_MODULE_MAGIC PG_MODULE_MAGIC
#endif

/* Since 18, and there it stands in front of a declaration. */
#ifndef pg_noreturn
#define pg_noreturn __attribute__((noreturn))
#endif

/* --- types and fields ----------------------------------------------------- */

#if PG_VERSION_NUM >= 190000
typedef ReplOriginId OriginId;
#define InvalidOriginId InvalidReplOriginId
#define TXN_COMMIT_TIME(txn) ((txn)->commit_time)
typedef SysCacheIdentifier SysCacheId;
#else
typedef RepOriginId OriginId;
#define InvalidOriginId InvalidRepOriginId
#define TXN_COMMIT_TIME(txn) ((txn)->xact_time.commit_time)
typedef int			SysCacheId;
#endif

#if PG_VERSION_NUM >= 170000
#define CHANGE_TUPLE(tuple) (tuple)
#else
/* The change holds a tuple buffer. */
#define CHANGE_TUPLE(buffer) ((buffer) ? &(buffer)->tuple : NULL)
#endif

#if PG_VERSION_NUM >= 160000
#define TXN_TOP(txn) rbtxn_get_toptxn(txn)
#else
#define TXN_TOP(txn) ((txn)->toptxn ? (txn)->toptxn : (txn))
#endif

#ifndef ATTRIBUTE_GENERATED_VIRTUAL
#define ATTRIBUTE_GENERATED_VIRTUAL 'v'
#endif

/* --- functions ------------------------------------------------------------ */

/*
 * Since 16 the server itself reports progress inside of transactions whose
 * changes are all filtered out.
 */
#define PLUGIN_REPORTS_PROGRESS (PG_VERSION_NUM < 160000)

#endif /* CPO_SERVER_H */
