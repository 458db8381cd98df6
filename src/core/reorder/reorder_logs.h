/*
 * The logs of transactions in progress: finished messages that wait for COMMIT.
 *
 * Memory is bounded: above settings::memory_limit the oldest chunks of the largest log go to
 * that transaction's temporary file. The engine does no I/O itself; next_io() and replay_next()
 * say what is to be done.
 *
 * A cut needs nothing but LSNs. Savepoints nest, so whatever lies in WAL at or after the first
 * LSN of a subtransaction belongs to it or to its descendants. The changes of a log are in LSN
 * order, but for a few: the row of an INSERT ... ON CONFLICT comes behind what its index
 * expressions did, and a message perhaps behind the change after it. So whole chunks and blocks
 * fall off the end, which costs as much as appending them did; mostly one chunk is searched; and
 * of a block that is in the file already only the LSN is noted up to which it is valid. Thus no
 * memory is spent on subtransactions.
 *
 * Every function either completes or leaves the logs as they were. Throws std::bad_alloc where
 * it says so, reorder_misuse where the caller broke the contract.
 */
#pragma once

#include "reorder/change_log.h"
#include "reorder/chunk_pool.h"
#include "reorder/reorder_error.h"
#include "reorder/spill_codec.h"

#include <boost/intrusive/set.hpp>
#include <boost/intrusive/slist.hpp>
#include <unordered_map>

namespace cpp_output
{

// A message at replay. CPO_HEADROOM bytes before data may be overwritten, and data itself too.
struct replayed {
	CpoLsn lsn;
	std::uint32_t gap;
	std::uint8_t flags;
	char *data;
	std::size_t len;
};

/*
 * What the shell must do now, for the file of that number: write data at offset, read len bytes
 * at offset to data, or remove the file. The first write creates the file. A request that was
 * forgotten (see begin_event()) may come again, so a file that is to be removed may not exist.
 */
struct io_request {
	enum class kind { none, write, read, drop };
	kind what = kind::none;
	CpoXid xid = 0;			// of a write or a read
	std::uint32_t file = 0; // unique in the session
	std::uint64_t offset = 0;
	char *data = nullptr;
	std::size_t len = 0;
};

class reorder_logs
{
public:
	struct settings {
		std::size_t memory_limit;	// bytes
		std::size_t chunk_size = 0; // 0: 64 kB, or an eighth of the limit where that is less
		compression spill_compression = compression::off;
	};

	// Keeps in `counters` what concerns logs and spilling; both arguments outlive the engine.
	reorder_logs(std::pmr::memory_resource *memory, const settings &how, CpoCounters &counters);
	reorder_logs(const reorder_logs &) = delete;
	reorder_logs &operator=(const reorder_logs &) = delete;
	~reorder_logs();

	// Begins the log of a top-level transaction, if it is not there yet. Throws std::bad_alloc.
	void open(CpoXid xid);

	// Needs an open log. Throws std::bad_alloc.
	void append(CpoXid xid, const record &message);

	// A subtransaction rolled back: drops all records with a place >= from. Counts as a discarded
	// subtransaction if from is not beyond the log's end, which is the greatest place, or, after a
	// cut, the LSN before that. Nothing happens where the transaction is not known.
	void cut(CpoXid xid, CpoLsn from);

	// The transaction rolled back. Nothing happens where it is not known.
	void drop(CpoXid xid) noexcept;

	/*
	 * The next piece of I/O: files to remove, and blocks to write while memory is above the limit.
	 * Calling again says that the request before was carried out. A change of the log that is to
	 * be written takes the request back. Throws std::bad_alloc.
	 */
	io_request next_io();

	/*
	 * Forgets a request that was handed out but never acknowledged, because the shell left by a
	 * longjmp: what was to be written counts as in memory, and is asked for again later. A replay
	 * that was left midway can't be resumed: its log is gone.
	 */
	void begin_event() noexcept;

	/*
	 * Replay of a log from its start, after which the log is gone; next_io() has its file removed.
	 * In step::record the message stays valid until the next call. In step::io the caller carries
	 * out the read, and calls again. Throws std::bad_alloc (the same step may be tried again) or
	 * spill_corrupted.
	 */
	enum class step { record, io, done };
	void start_replay(CpoXid xid);
	step replay_next(replayed &message, io_request &request);

	// For tests of complexity: records that cuts had to look at so far.
	std::uint64_t records_searched() const noexcept { return records_searched_; }

private:
	struct less_memory {
		bool operator()(const change_log &a, const change_log &b) const noexcept
		{
			return a.chunk_bytes() < b.chunk_bytes();
		}
	};
	// Intrusive, so that a log changes its place in it without asking for memory.
	using memory_order = boost::intrusive::multiset<change_log,
		boost::intrusive::compare<less_memory>, boost::intrusive::constant_time_size<false>>;
	using file_list = boost::intrusive::slist<spill_file,
		boost::intrusive::constant_time_size<false>, boost::intrusive::cache_last<true>>;

	struct replay_state {
		change_log *log = nullptr;
		std::size_t next_block = 0;
		std::uint64_t offset = 0;  // of that block
		bool reading = false;	   // that block was asked for
		chunk_pool::handle buffer; // holds the block before it
		chunk *current = nullptr;  // the chunk that is being read, in the buffer or the log
		std::size_t position = 0;  // in it
		CpoLsn reach = 0;		   // records beyond it are skipped
	};

	change_log *find(CpoXid xid) noexcept;
	void acknowledge() noexcept;
	void forget_request() noexcept;
	void forget_request_for(const change_log &log) noexcept
	{
		if (request_log_ == &log)
			forget_request();
	}
	change_log *choose_victim() noexcept;
	io_request write_of(change_log &log);

	struct footprint {
		std::size_t chunks;
		std::size_t blocks;
	};
	static footprint footprint_of(const change_log &log) noexcept
	{
		return {log.chunk_bytes(), log.block_bytes()};
	}
	// Brings the sums and the order up to date after a change of the log's memory.
	void settle(change_log &log, footprint before) noexcept;
	void condemn_file(change_log &log) noexcept;
	void remove(change_log &log) noexcept;
	void destroy(spill_file *file) noexcept;

	io_request ask_for_block();
	void take_block();
	bool next_record(replayed &message);
	void leave_chunk() noexcept;

	std::pmr::memory_resource *memory_;
	std::size_t memory_limit_;
	CpoCounters &counters_;
	chunk_pool pool_;
	spill_codec codec_;
	std::pmr::unordered_map<CpoXid, change_log> logs_;
	memory_order by_memory_;	   // all but the one at replay
	change_log *recent_ = nullptr; // the one found last
	std::size_t chunk_bytes_ = 0;  // of all logs
	file_list condemned_;
	std::uint32_t next_file_ = 1;
	io_request request_;				// handed out by next_io()
	change_log *request_log_ = nullptr; // whose chunk is to be written
	replay_state replay_;
	std::uint64_t records_searched_ = 0;
};

} // namespace cpp_output
