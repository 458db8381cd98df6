/*
 * One decoding session: where events, filters, the format and the reorder layer meet.
 *
 * A transaction takes one of three ways. A complete one goes straight to the writer and out. One
 * in progress goes out in blocks (streaming=on), or, under streaming=reorder, from the writer into
 * its log; at COMMIT it is replayed between an opening and a closing message, as if it had been
 * complete from the start.
 */
#pragma once

#include "core.h"
#include "format/format.h"
#include "format/message_writer.h"
#include "memory.h"
#include "reorder/reorder_logs.h"
#include "settings.h"

#include <span>
#include <unordered_map>

struct CpoSession {
	CpoSession(const CpoMemory &hooks, const CpoServer &server, std::span<const CpoOption> options);

	const CpoConfig &config() const noexcept { return config_; }
	bool wants_origin(std::uint32_t origin_id, std::string_view name) const noexcept;
	const CpoCounters &counters() noexcept { return counters_; }

	CpoRelation &define(const CpoRelationInfo &info);
	void forget(CpoRelation &relation) { relations_.erase(relation.info.oid); }

	// Every event starts here: what the one before left undone is dropped.
	void begin_event() noexcept;

	void begin(const CpoPlace &place, const CpoTransaction &facts, bool prepared);
	void commit(const CpoPlace &place, const CpoTransaction &facts, bool prepared);
	void commit_prepared(const CpoPlace &place, const CpoTransaction &facts);
	void rollback_prepared(const CpoPlace &place, const CpoTransaction &facts);

	void change(const CpoChange &change);
	void truncate(const CpoTruncation &truncation);
	void message(const CpoMessage &message);

	void stream_start(const CpoPlace &place, const CpoTransaction &facts);
	void stream_stop(const CpoPlace &place);
	void stream_abort(const CpoPlace &place, CpoXid top_xid, CpoXid subxid, CpoLsn first_lsn);
	void stream_commit(const CpoPlace &place, const CpoTransaction &facts, bool prepared);

	void next(CpoAction &action);

	// The error about a message beyond the limit, as far as is known what it is about.
	CpoError too_long() const noexcept;
	CpoError error{};

private:
	// A transaction that is being sent from its log.
	struct replay {
		cpp_output::transaction *txn = nullptr; // nullptr: there is none
		bool started = false;
		bool prepared = false;
		CpoPlace place{};
		cpp_output::replayed record{};
		bool record_waits = false; // until the opening message is out
	};

	void learn(cpp_output::transaction &txn, const CpoTransaction &facts) const;
	cpp_output::transaction *find_stream(CpoXid xid) noexcept;
	void forget_stream(CpoXid xid) noexcept;
	void write_begin(cpp_output::transaction &txn, CpoLsn lsn, bool prepared, bool last);
	bool lazy(bool prepared) const noexcept
	{
		return prepared ? traits_.lazy_begin_prepare : traits_.lazy_begin;
	}
	template <typename Write>
	void in_transaction(const CpoPlace &place, bool opens, Write write, bool at_end = false);
	void append_to_log(const CpoPlace &place, bool opens, bool at_end);
	void warn_missing_identity(CpoRelation &relation);

	bool take_message(CpoAction &action) noexcept;
	bool take_replayed(CpoAction &action);
	bool take_io(CpoAction &action);
	void finish_replay();
	void fill_gap(cpp_output::transaction &txn);
	void send(
		CpoAction &action, CpoLsn lsn, char *data, std::size_t len, bool more, bool last) noexcept;

	cpp_output::hooked_memory memory_;
	cpp_output::settings settings_;
	cpp_output::pmr_ptr<cpp_output::format> format_;
	cpp_output::format_traits traits_;
	CpoConfig config_{};
	CpoCounters counters_{};

	std::pmr::unordered_map<CpoOid, CpoRelation> relations_;
	std::pmr::unordered_map<CpoXid, cpp_output::transaction> streams_;
	cpp_output::reorder_logs logs_;
	cpp_output::transaction complete_;			 // the complete transaction at hand
	cpp_output::transaction *current_ = nullptr; // what changes belong to
	bool current_prepared_ = false;

	// Of the event at hand:
	cpp_output::message_writer writer_;
	std::size_t next_message_ = 0;
	CpoXid write_xid_ = 0;
	const CpoRelation *writing_ = nullptr; // for too_long()
	cpp_output::byte_buffer warning_;
	bool skipped_ = false;
	bool ends_ = false; // after it the server may wait for more WAL
	replay replay_;
	cpp_output::byte_buffer filled_; // a replayed message whose gap was filled in

	std::uint64_t open_bytes_ = 0; // of the message that is open over several pieces
	bool message_open_ = false;
};
