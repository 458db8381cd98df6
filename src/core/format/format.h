/*
 * What every wire format provides.
 *
 * A format turns events into messages; it knows values, relations and transactions, nothing of
 * the server or of the reorder layer. The session decides when a message is due: whether a
 * transaction turned out empty, whether it is streamed, and where its bytes go.
 */
#pragma once

#include "format/message_writer.h"
#include "memory.h"
#include "options.h"
#include "relation.h"

#include <memory_resource>
#include <span>
#include <vector>

namespace cpp_output
{

// The transaction that an event belongs to, as the session and the formats know it.
struct transaction {
	explicit transaction(std::pmr::memory_resource *memory)
		: origin_name(memory), gid(memory), sent_relations(memory)
	{
	}

	// Of the latest event that brought them; origin_name and gid point to memory that lives on.
	CpoTransaction facts{};
	std::pmr::string origin_name;
	std::pmr::string gid;

	bool complete = false;	  // COMMIT or PREPARE is known, and so are all facts
	bool streamed = false;	  // it goes out in pieces, in the format's stream messages
	bool begun = false;		  // the opening message was sent
	bool block_begun = false; // the same for the current block of a streamed transaction
	bool first_block = true;
	bool late_text_written = false; // for late_text()

	// For formats that describe a relation once a transaction: which, as of which LSN, and a
	// fingerprint of what was said.
	struct sent_relation {
		CpoOid oid;
		CpoLsn lsn;
		std::uint64_t fingerprint;
	};
	std::pmr::vector<sent_relation> sent_relations;
};

// What the session has to know of a format. Constant through a session.
struct format_traits {
	// An opening message waits for the first change, and an empty transaction sends nothing.
	bool lazy_begin = true;
	bool lazy_begin_prepare = false;
	bool lazy_stream_start = true;
	// A transactional message makes a transaction worth sending, as a change does.
	bool message_opens = true;
};

class format
{
public:
	format() = default;
	format(const format &) = delete;
	format &operator=(const format &) = delete;
	virtual ~format() = default;

	// Fills in what depends on the format.
	virtual void configure(CpoConfig &config) const = 0;
	virtual format_traits traits() const = 0;

	// The format's own filters, beside those that all formats have.
	virtual bool wants_relation(const CpoRelationInfo &, CpoAct) const { return true; }
	virtual bool wants_origin(std::uint32_t /* origin_id */) const { return true; }
	virtual bool wants_message(std::string_view /* prefix */) const { return true; }

	// Precomputes what is constant for a relation; memory comes from its arena.
	virtual const format_plan *plan(
		const CpoRelation &relation, std::pmr::memory_resource &arena) = 0;

	// Each of these writes one message, several, or none. `last` is false for an opening message
	// that is sent just ahead of the first change.
	virtual void begin(message_writer &, CpoLsn lsn, const transaction &, bool last) = 0;
	virtual void change(message_writer &, const CpoChange &, transaction &) = 0;
	virtual void truncate(message_writer &, const CpoTruncation &, transaction &) = 0;
	// The transaction is null for a message that belongs to none.
	virtual void message(message_writer &, const CpoMessage &, transaction *) = 0;
	virtual void commit(message_writer &, CpoLsn lsn, const transaction &) = 0;

	virtual void begin_prepare(message_writer &, CpoLsn lsn, const transaction &, bool last) = 0;
	virtual void prepare(message_writer &, CpoLsn lsn, const transaction &) = 0;
	virtual void commit_prepared(message_writer &, CpoLsn lsn, const transaction &) = 0;
	virtual void rollback_prepared(message_writer &, CpoLsn lsn, const transaction &) = 0;

	virtual void stream_start(message_writer &, CpoLsn lsn, const transaction &, bool last) = 0;
	virtual void stream_stop(message_writer &, CpoLsn lsn, const transaction &) = 0;
	virtual void stream_abort(message_writer &, CpoLsn lsn, const transaction &, CpoXid subxid) = 0;
	virtual void stream_prepare(message_writer &, CpoLsn lsn, const transaction &) = 0;
	virtual void stream_commit(message_writer &, CpoLsn lsn, const transaction &) = 0;

	/*
	 * The text for the gap that the format left with message_writer::late(), now that the
	 * transaction is complete; `first` says that no gap before it was filled in this transaction.
	 */
	virtual void late_text(byte_buffer &, const transaction &, bool /* first */) const {}

	/*
	 * An UPDATE or DELETE of this table has no old row for lack of a replica identity: the texts
	 * of a WARNING, each ended by a NUL (message, detail, hint); nothing for none.
	 */
	virtual void missing_identity(byte_buffer &text, const CpoRelation &relation) const;

protected:
	// Those texts, the message with the table's name between two parts of it.
	static void append_identity_warning(byte_buffer &text, std::string_view before,
		const CpoRelation &relation, std::string_view after);
};

struct format_entry {
	const char *name;
	CpoStreaming streaming; // the default
	std::span<const option> options;
	void (*check)(settings &); // of options that go together, or nullptr
	pmr_ptr<format> (*make)(std::pmr::memory_resource *, const settings &);
};

// All formats; the first is the default.
std::span<const format_entry> formats() noexcept;

} // namespace cpp_output
