/*
 * core.h
 *	  The contract between the C shell and the C++ core.
 *
 * The core is a state machine without I/O.  The shell gathers plain values
 * from the server, tells the core about one event, and then carries out the
 * actions that the core asks for until there are none:
 *
 *		status = cpo_change(session, &change);
 *		while (status == CPO_OK && cpo_next(session, &action) == CPO_OK &&
 *			   action.kind != CPO_DONE)
 *			perform(&action);
 *
 * Rules that hold for every function here:
 *
 *	- No function raises, in either language's sense.  What fails returns
 *	  CPO_FAILED; cpo_error() then has the whole story, and the session can
 *	  only be closed.
 *	- What the shell passes in is read during the call only.  What the core
 *	  hands out stays valid until the next call with the same session.
 *	- The shell may leave the action loop by a longjmp.  The next event then
 *	  drops what was left of the actions, and an action that was handed out
 *	  but never followed by another cpo_next() counts as not done.
 *	- Text is in the encoding named by CpoServer.ascii_only (see there).
 *
 * Units: times are microseconds since 2000-01-01 00:00 UTC, dates are days
 * since then, LSNs and xids are the server's, lengths are bytes.
 */
#ifndef CPO_CORE_H
#define CPO_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define CPO_NOEXCEPT noexcept
#else
#define CPO_NOEXCEPT
#endif

typedef struct CpoSession CpoSession;	/* all state of one decoding session */
typedef struct CpoRelation CpoRelation; /* a relation's compiled plan */

typedef uint32_t CpoOid;
typedef uint32_t CpoXid;
typedef uint64_t CpoLsn;
typedef int64_t CpoTime;

/* Bytes with a length, not NUL-terminated.  data is NULL for "not known". */
typedef struct CpoSpan {
	const char *data;
	size_t len;
} CpoSpan;

/*
 * Room in front of every message handed out by CPO_SEND: that many bytes
 * before CpoAction.data may be overwritten by the shell, which puts the
 * walsender's own header there ('w', two LSNs, a time).
 */
#define CPO_HEADROOM 25

/* --- status and errors ---------------------------------------------------- */

typedef enum CpoStatus {
	CPO_OK = 0,
	CPO_FAILED /* see cpo_error() */
} CpoStatus;

/* Texts are NUL-terminated and cut at the size of their array. */
typedef struct CpoError {
	char sqlstate[6];
	char message[1024];
	char detail[1024]; /* empty if none */
	char hint[1024];   /* empty if none */
} CpoError;

/* --- opening a session ---------------------------------------------------- */

/*
 * Where all memory of the core comes from.  allocate returns NULL when there
 * is none; the result is aligned to 8 bytes.  Neither function may raise.
 */
typedef struct CpoMemory {
	void *arg;
	void *(*allocate)(void *arg, size_t bytes);
	void (*release)(void *arg, void *chunk, size_t bytes);
} CpoMemory;

/* Facts about the server and the slot that do not change in a session. */
typedef struct CpoServer {
	int version_num;	 /* as PG_VERSION_NUM: 150020 */
	CpoSpan plugin_name; /* the slot's: selects the default format */

	/*
	 * The database's encoding is not UTF-8.  In formats with
	 * CpoConfig.utf8_text the shell hands over text converted to UTF-8 all
	 * the same, and the core writes every other character than ASCII as an
	 * escape, so that the output is valid in both encodings.
	 */
	bool ascii_only;
	/* SQL_ASCII, where text may be anything: the core checks each byte */
	bool unchecked_text;

	/* value of cpp_output.streaming, data NULL when it is not set */
	CpoSpan streaming_setting;
	/* longest message that can be sent; 0 means CPO_MESSAGE_LIMIT */
	uint64_t message_limit;
} CpoServer;

/* MaxAllocSize less room for protocol headers and buffer growth */
#define CPO_MESSAGE_LIMIT ((uint64_t)0x3fffffff - 1024)

/* An option as it came: value.data is NULL for an option without value. */
typedef struct CpoOption {
	CpoSpan name;
	CpoSpan value;
} CpoOption;

/* What the shell has to look up for each relation (CpoConfig.wants). */
#define CPO_WANT_QUOTED_NAMES 0x01	 /* quoted_name of relation and columns */
#define CPO_WANT_TYPE_NAMES 0x02	 /* CpoColumn.type_name, typmod_name */
#define CPO_WANT_DEFAULTS 0x04		 /* CpoColumn.default_expr */
#define CPO_WANT_TYPE_TREES 0x08	 /* CpoType.element and .fields */
#define CPO_WANT_DOMAIN_BASE 0x10	 /* CpoColumn.base_* */
#define CPO_WANT_CATALOG_NAMES 0x20	 /* CpoColumn.catalog_name, and of the base */
#define CPO_WANT_PARTITION_ROOT 0x40 /* CpoRelationInfo.root_* */

typedef enum CpoStreaming {
	CPO_STREAMING_OFF,	  /* the server sends complete transactions */
	CPO_STREAMING_ON,	  /* the stream is passed through */
	CPO_STREAMING_REORDER /* streamed in, sent at COMMIT */
} CpoStreaming;

typedef enum CpoTwoPhase {
	CPO_TWO_PHASE_SLOT, /* as the slot says */
	CPO_TWO_PHASE_ON,
	CPO_TWO_PHASE_OFF
} CpoTwoPhase;

/* What the options mean for the shell. */
typedef struct CpoConfig {
	bool binary_output; /* messages are not text */
	bool utf8_text;		/* text is wanted in UTF-8, see CpoServer */
	/*
	 * The output functions run with ISO DateStyle, UTC and so on instead of
	 * the session's settings, and raw forms are always welcome.
	 */
	bool native_values;
	bool raw_arrays;		  /* arrays may come as CPO_RAW */
	bool receive_rewrites;	  /* changes of rewritten tables too */
	bool skip_matviews;		  /* no changes of materialized views */
	bool skip_nodecode_gids;  /* transactions whose gid contains _nodecode
							   * are not decoded at PREPARE */
	bool want_origin_names;	  /* CpoTransaction.origin_name is needed */
	bool filter_origin_names; /* cpo_wants_origin() needs the name */
	/*
	 * In a streamed block, changes may come without relation and rows: their
	 * messages show nothing of either.
	 */
	bool opaque_stream;
	CpoStreaming streaming;
	CpoTwoPhase two_phase;
	unsigned wants; /* CPO_WANT_... */
} CpoConfig;

/*
 * Opens a session and stores it in *session; options are checked in full.
 * On failure *session is NULL and *error says why.
 */
extern CpoStatus cpo_open(const CpoMemory *memory, const CpoServer *server,
	const CpoOption *options, size_t noptions, CpoSession **session, CpoError *error) CPO_NOEXCEPT;

/*
 * Releases all memory of the session through the hooks that it was opened
 * with.  A session of NULL is allowed.
 */
extern void cpo_close(const CpoMemory *memory, CpoSession *session) CPO_NOEXCEPT;

extern const CpoConfig *cpo_config(const CpoSession *session) CPO_NOEXCEPT;

/* Why the last call with this session returned CPO_FAILED. */
extern const CpoError *cpo_error(const CpoSession *session) CPO_NOEXCEPT;

/* --- the table of options ------------------------------------------------- */

typedef struct CpoOptionInfo {
	const char *name;		   /* with '-' */
	const char *formats;	   /* formats that know it, separated by ", " */
	const char *type;		   /* boolean, size, list, name, ... */
	const char *default_value; /* NULL: none */
	const char *allowed;	   /* the values, in words */
	const char *description;   /* one sentence */
} CpoOptionInfo;

/* The index-th option in order of name, or false past the last one. */
extern bool cpo_option_info(size_t index, CpoOptionInfo *info) CPO_NOEXCEPT;

/*
 * Whether changes of this replication origin (0: made here) are wanted.  The
 * name may be missing unless CpoConfig.filter_origin_names.
 */
extern bool cpo_wants_origin(
	const CpoSession *session, uint32_t origin_id, CpoSpan name) CPO_NOEXCEPT;

/* --- relations ------------------------------------------------------------ */

/* How a value of a type looks, and so which writer prints it. */
typedef enum CpoKind {
	CPO_OTHER,		 /* only as CPO_TEXT */
	CPO_BOOL,		 /* raw: integer 0 or 1 */
	CPO_INTEGER,	 /* int2, int4; raw: integer */
	CPO_BIGINT,		 /* int8; raw: integer */
	CPO_OIDS,		 /* oid, xid ... unsigned 32 bits; raw: integer */
	CPO_FLOAT,		 /* float4, float8; only as CPO_TEXT */
	CPO_NUMERIC,	 /* raw: the digits on disk, after the length */
	CPO_STRING,		 /* text, varchar, bpchar, name; raw = text */
	CPO_CHAR,		 /* "char": its text may be an invalid byte */
	CPO_BYTEA,		 /* raw: the bytes */
	CPO_DATE,		 /* raw: integer, days */
	CPO_TIME,		 /* raw: integer, microseconds */
	CPO_TIMESTAMP,	 /* raw: integer, microseconds */
	CPO_TIMESTAMPTZ, /* raw: integer, microseconds; len: see CpoValue */
	CPO_UUID,		 /* raw: 16 bytes */
	CPO_JSON,		 /* json, jsonb; only as CPO_TEXT */
	CPO_BIT,		 /* bit, varbit; only as CPO_TEXT */
	CPO_ARRAY,		 /* raw: the whole varlena, aligned, 4-byte length */
	CPO_COMPOSITE	 /* only as CPO_TEXT */
} CpoKind;

struct CpoType;

typedef struct CpoField {
	CpoSpan name;
	const struct CpoType *type;
} CpoField;

/* A type, domains looked through. */
typedef struct CpoType {
	CpoOid oid;
	CpoKind kind;
	int16_t length;				   /* pg_type.typlen */
	char align;					   /* pg_type.typalign */
	char delimiter;				   /* pg_type.typdelim */
	const struct CpoType *element; /* CPO_ARRAY */
	size_t nfields;				   /* CPO_COMPOSITE, dropped ones left out */
	const CpoField *fields;
} CpoType;

typedef struct CpoColumn {
	CpoSpan name;
	CpoSpan quoted_name; /* as quote_identifier() has it */
	int position;		 /* attnum */
	CpoOid type_oid;	 /* as declared: a domain's own */
	int32_t typmod;
	CpoSpan type_name;		   /* format_type_be(type_oid) */
	CpoSpan typmod_name;	   /* the same with the typmod */
	CpoSpan catalog_name;	   /* pg_type.typname */
	CpoOid base_oid;		   /* CPO_WANT_DOMAIN_BASE: what the type of the
								* column is a domain over (one level), or
								* type_oid itself */
	CpoSpan base_typmod_name;  /* format_type_with_typemod() of it and the
								* domain's typmod, or typmod_name */
	CpoSpan base_catalog_name; /* its pg_type.typname */
	const CpoType *type;	   /* domains looked through */
	CpoSpan default_expr;	   /* deparsed; data NULL: none */
	bool not_null;
	bool generated_stored;
	bool generated_virtual; /* has no value in a tuple */
	bool in_identity;		/* part of the replica identity index */
	bool in_primary_key;
} CpoColumn;

typedef struct CpoRelationInfo {
	CpoOid oid;
	CpoSpan schema;
	CpoSpan name;		 /* of a rewrite: the table's own name */
	CpoSpan quoted_name; /* schema.table, each quoted as SQL needs it */
	CpoSpan root_schema; /* of a partition: the partitioned table at the
						  * top; else data is NULL */
	CpoSpan root_name;
	char replica_identity; /* pg_class.relreplident */
	bool has_primary_key;
	size_t ncolumns; /* dropped ones left out */
	const CpoColumn *columns;
} CpoRelationInfo;

typedef enum CpoAct { CPO_INSERT, CPO_UPDATE, CPO_DELETE, CPO_TRUNCATE } CpoAct;

/*
 * Makes the plan of a relation, or makes it anew.  The handle stays the same
 * for one oid and is valid until cpo_relation_drop() or cpo_close().
 */
extern CpoStatus cpo_relation_define(
	CpoSession *session, const CpoRelationInfo *info, CpoRelation **relation) CPO_NOEXCEPT;
extern void cpo_relation_drop(CpoSession *session, CpoRelation *relation) CPO_NOEXCEPT;

/* Does a change of this kind have to be gathered at all? */
extern bool cpo_relation_wants(const CpoRelation *relation, CpoAct act) CPO_NOEXCEPT;

/* One flag a column: its value is needed.  ncolumns of them. */
extern const bool *cpo_relation_columns(const CpoRelation *relation) CPO_NOEXCEPT;

/* --- events --------------------------------------------------------------- */

typedef enum CpoForm {
	CPO_NULL = 0,
	CPO_RAW,	  /* as CpoKind says */
	CPO_TEXT,	  /* what the type's output function gave */
	CPO_UNCHANGED /* TOASTed and not in the WAL */
} CpoForm;

typedef struct CpoValue {
	union {
		int64_t integer;
		const char *data;
	};

	/*
	 * Length of data.  For a raw CPO_TIMESTAMPTZ: the session time zone's
	 * offset at that time, seconds east of UTC, as an int32_t (0 where
	 * CpoConfig.native_values).
	 */
	uint32_t len;
	uint8_t form; /* CpoForm */
} CpoValue;

typedef struct CpoTransaction {
	CpoXid xid;
	CpoLsn first_lsn;
	CpoLsn final_lsn;	   /* of the COMMIT or PREPARE record */
	CpoLsn end_lsn;		   /* the end of that record */
	CpoTime commit_time;   /* or the time of PREPARE, COMMIT PREPARED ... */
	int32_t commit_offset; /* the session time zone's offset at that time,
							* seconds east of UTC */
	uint32_t origin_id;	   /* 0: none */
	CpoLsn origin_lsn;
	CpoSpan origin_name; /* CpoConfig.want_origin_names */
	CpoSpan gid;		 /* prepared transactions */
	/* ROLLBACK PREPARED: */
	CpoLsn prepare_end_lsn;
	CpoTime prepare_time;
} CpoTransaction;

/* Where an event's message belongs in the stream, as the server reports it. */
typedef struct CpoPlace {
	CpoLsn lsn;	   /* ctx->write_location */
	CpoXid xid;	   /* ctx->write_xid, the top-level transaction's */
	CpoXid subxid; /* the (sub)transaction that did it, where known,
					* else xid */
} CpoPlace;

typedef struct CpoChange {
	CpoPlace place;
	CpoRelation *relation;	 /* NULL only as CpoConfig.opaque_stream says */
	CpoAct act;				 /* not CPO_TRUNCATE */
	const CpoValue *old_row; /* one value a column, or NULL */
	const CpoValue *new_row; /* one value a column, or NULL */
} CpoChange;

typedef struct CpoTruncation {
	CpoPlace place;
	size_t nrelations;
	CpoRelation *const *relations; /* those that cpo_relation_wants() */
	bool cascade;
	bool restart_identity;
} CpoTruncation;

typedef struct CpoMessage {
	CpoPlace place; /* xid 0 where not transactional */
	CpoLsn message_lsn;
	bool transactional;
	bool valid_text; /* content is valid in its encoding */
	CpoSpan prefix;
	CpoSpan content;
} CpoMessage;

/*
 * A complete transaction: begin, changes, truncations and messages, commit.
 * A prepared one: begin_prepare, ..., prepare; later commit_prepared or
 * rollback_prepared, which stand alone.
 */
extern CpoStatus cpo_begin(CpoSession *, const CpoPlace *, const CpoTransaction *) CPO_NOEXCEPT;
extern CpoStatus cpo_change(CpoSession *, const CpoChange *) CPO_NOEXCEPT;
extern CpoStatus cpo_truncate(CpoSession *, const CpoTruncation *) CPO_NOEXCEPT;
extern CpoStatus cpo_message(CpoSession *, const CpoMessage *) CPO_NOEXCEPT;
extern CpoStatus cpo_commit(CpoSession *, const CpoPlace *, const CpoTransaction *) CPO_NOEXCEPT;
extern CpoStatus cpo_begin_prepare(
	CpoSession *, const CpoPlace *, const CpoTransaction *) CPO_NOEXCEPT;
extern CpoStatus cpo_prepare(CpoSession *, const CpoPlace *, const CpoTransaction *) CPO_NOEXCEPT;
extern CpoStatus cpo_commit_prepared(
	CpoSession *, const CpoPlace *, const CpoTransaction *) CPO_NOEXCEPT;
extern CpoStatus cpo_rollback_prepared(
	CpoSession *, const CpoPlace *, const CpoTransaction *) CPO_NOEXCEPT;

/*
 * A transaction in progress comes in blocks: stream_start, changes, messages
 * and truncations, stream_stop.  stream_abort drops the transaction, or, with
 * first_lsn of a subtransaction, what that one did; it is harmless for an
 * unknown xid.  stream_prepare and stream_commit end it.
 */
extern CpoStatus cpo_stream_start(
	CpoSession *, const CpoPlace *, const CpoTransaction *) CPO_NOEXCEPT;
extern CpoStatus cpo_stream_stop(CpoSession *, const CpoPlace *) CPO_NOEXCEPT;
extern CpoStatus cpo_stream_abort(
	CpoSession *, const CpoPlace *, CpoXid top_xid, CpoXid subxid, CpoLsn first_lsn) CPO_NOEXCEPT;
extern CpoStatus cpo_stream_prepare(
	CpoSession *, const CpoPlace *, const CpoTransaction *) CPO_NOEXCEPT;
extern CpoStatus cpo_stream_commit(
	CpoSession *, const CpoPlace *, const CpoTransaction *) CPO_NOEXCEPT;

/* --- actions -------------------------------------------------------------- */

typedef enum CpoActionKind {
	CPO_DONE,		 /* nothing more to do for this event */
	CPO_SEND,		 /* send a message, or a piece of one */
	CPO_WARN,		 /* raise a WARNING: data is its text, detail and
					  * hint follow, each ends with a NUL */
	CPO_SKIPPED,	 /* the transaction was empty: report progress */
	CPO_SPILL_WRITE, /* write data to the file at offset */
	CPO_SPILL_READ,	 /* read len bytes of the file at offset to data */
	CPO_SPILL_DROP	 /* remove the file */
} CpoActionKind;

typedef struct CpoAction {
	CpoActionKind kind;
	CpoXid xid;		/* CPO_SEND: ctx->write_xid; CPO_SPILL_WRITE,
					 * CPO_SPILL_READ: whose file it is */
	CpoLsn lsn;		/* CPO_SEND: ctx->write_location */
	bool split;		/* CPO_SEND: first end the message that is open */
	bool continues; /* CPO_SEND: belongs to the message that is open */
	bool more;		/* CPO_SEND: the message stays open for another */
	bool last;		/* CPO_SEND: last_write of OutputPluginWrite */
	bool flush;		/* CPO_SEND: nothing may follow for a while, so don't
					 * hold it back */
	uint32_t file;	/* CPO_SPILL_...: number of the file */
	uint64_t offset;
	char *data; /* CPO_SEND: with CPO_HEADROOM bytes before it */
	size_t len;
	const char *detail; /* CPO_WARN, or NULL */
	const char *hint;	/* CPO_WARN, or NULL */
} CpoAction;

/* The next thing to do for the last event.  Done with the one before. */
extern CpoStatus cpo_next(CpoSession *session, CpoAction *action) CPO_NOEXCEPT;

/* --- counters ------------------------------------------------------------- */

typedef struct CpoCounters {
	uint64_t transactions; /* sent */
	uint64_t changes;	   /* sent, of complete and of logged transactions */
	uint64_t messages_out;
	uint64_t bytes_out;
	uint64_t skipped_transactions; /* left empty */
	uint64_t streamed_transactions;
	uint64_t streamed_blocks;
	uint64_t streamed_bytes; /* formatted into logs */
	uint64_t spilled_transactions;
	uint64_t spill_writes;
	uint64_t spilled_bytes; /* before compression */
	uint64_t discarded_transactions;
	uint64_t discarded_subtransactions;
	/* at this moment: */
	uint64_t logs;
	uint64_t memory_bytes; /* of all logs */
	uint64_t files;
	uint64_t file_bytes;
} CpoCounters;

extern const CpoCounters *cpo_counters(CpoSession *session) CPO_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif /* CPO_CORE_H */
