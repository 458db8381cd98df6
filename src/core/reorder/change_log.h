// The log of one transaction in progress: blocks in its file, then chunks in memory.
#pragma once

#include "reorder/chunk_pool.h"

#include <boost/intrusive/set_hook.hpp>
#include <boost/intrusive/slist_hook.hpp>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace cpp_output
{

// A finished message. The engine carries gap and flags from append to replay unread.
struct record {
	CpoLsn lsn;
	std::uint32_t gap; // where text is to be inserted at replay
	std::uint8_t flags;
	std::string_view bytes;
	CpoLsn place = 0; // where the change is in WAL, if that is not its LSN
};

/*
 * Stands before each message in a chunk. Once the message has been handed out at replay, the
 * header is of no more use, and becomes the room that CPO_SEND promises before the data.
 */
struct record_header {
	CpoLsn lsn;
	CpoLsn place; // what cuts compare
	std::uint32_t len;
	std::uint32_t gap;
	std::uint8_t flags;
	std::uint8_t unused[7];
};
static_assert(sizeof(record_header) == 32 && sizeof(record_header) >= CPO_HEADROOM);

// Bytes that a message of that length takes in a chunk.
constexpr std::size_t record_size(std::size_t len) noexcept
{
	return sizeof(record_header) + ((len + 7) & ~std::size_t{7});
}

// A chunk that went to the file. Blocks lie there end to end, so their offsets are not kept.
struct spilled_block {
	CpoLsn lowest;		  // as in the chunk
	CpoLsn reach;		  // as in the chunk; records beyond it were cut off since
	std::uint32_t stored; // bytes in the file; less than raw: compressed
	std::uint32_t raw;
};

struct spill_file : boost::intrusive::slist_base_hook<
						boost::intrusive::link_mode<boost::intrusive::normal_link>> {
	explicit spill_file(std::uint32_t n) noexcept : number(n) {}
	std::uint32_t number;
	std::uint64_t size = 0; // as far as it was ever written
};

class change_log : public boost::intrusive::set_base_hook<
					   boost::intrusive::link_mode<boost::intrusive::normal_link>>
{
public:
	change_log(chunk_pool &pool, std::pmr::memory_resource *memory, CpoXid xid)
		: xid(xid), pool_(pool), blocks_(memory)
	{
	}
	change_log(const change_log &) = delete;
	change_log &operator=(const change_log &) = delete;
	~change_log();

	bool empty() const noexcept { return chunks_.empty() && blocks_.empty(); }

	// --- writing ---
	bool has_room(std::size_t len) const noexcept
	{
		return !chunks_.empty() && chunks_.back().room() >= record_size(len);
	}
	void add_chunk(chunk_pool::handle fresh) noexcept;
	// Needs has_room().
	void put(const record &message) noexcept;
	// Drops all records with a place >= from. False if from lies beyond the log's end. Adds the
	// number of records that had to be looked at to `looked_at`.
	bool cut(CpoLsn from, std::uint64_t &looked_at) noexcept;

	// --- spilling ---
	chunk *oldest_chunk() noexcept { return chunks_.empty() ? nullptr : &chunks_.front(); }
	// Is there a chunk that will not grow any more?
	bool has_full_chunk() const noexcept
	{
		return !chunks_.empty() &&
			   (&chunks_.front() != &chunks_.back() || !pool_.is_standard(chunks_.back()));
	}
	// Makes sure that the next chunk_spilled() needs no memory. Throws std::bad_alloc.
	void reserve_block();
	// The oldest chunk is in the file now, at file_end(), in that many bytes.
	void chunk_spilled(std::uint32_t stored) noexcept;
	// Where the next block goes: the end of the last one that is still of use.
	std::uint64_t file_end() const noexcept { return file_end_; }

	// --- reading ---
	const std::pmr::vector<spilled_block> &blocks() const noexcept { return blocks_; }
	void drop_oldest_chunk() noexcept;

	// bytes of chunks, and of what is kept about blocks
	std::size_t chunk_bytes() const noexcept { return chunk_bytes_; }
	std::size_t block_bytes() const noexcept { return blocks_.capacity() * sizeof(spilled_block); }

	const CpoXid xid;
	spill_file *file = nullptr;
	bool ever_spilled = false;
	bool replaying = false;

private:
	void release(chunk &c) noexcept;
	void cut_chunk(chunk &c, CpoLsn from, std::uint64_t &looked_at) noexcept;
	void cut_blocks(CpoLsn from) noexcept;

	chunk_pool &pool_;
	chunk_list chunks_;
	std::pmr::vector<spilled_block> blocks_;
	std::size_t chunk_bytes_ = 0;
	std::uint64_t file_end_ = 0;
	CpoLsn reach_ = 0; // no record is beyond it
};

} // namespace cpp_output
