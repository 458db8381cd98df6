#include "reorder/change_log.h"

#include <algorithm>
#include <cstring>

namespace cpp_output
{

change_log::~change_log()
{
	chunks_.clear_and_dispose([this](chunk *c) { pool_.give(c); });
}

void change_log::add_chunk(chunk_pool::handle fresh) noexcept
{
	chunk_bytes_ += fresh->footprint();
	chunks_.push_back(*fresh.release());
}

void change_log::put(const record &message) noexcept
{
	chunk &c = chunks_.back();
	const std::size_t len = message.bytes.size();
	const std::size_t size = record_size(len);
	char *out = c.data() + c.used;

	const CpoLsn place = message.place != 0 ? message.place : message.lsn;
	const record_header header{
		message.lsn, place, static_cast<std::uint32_t>(len), message.gap, message.flags, {}};
	std::memcpy(out, &header, sizeof header);
	if (len != 0) {
		// what pads the last word is written to the file, so it must not be left undefined
		std::memset(out + size - 8, 0, 8);
		std::memcpy(out + sizeof header, message.bytes.data(), len);
	}

	c.lowest = c.used == 0 ? place : std::min(c.lowest, place);
	c.reach = reach_ = std::max(reach_, place);
	c.used += size;
}

/*
 * Places rise, but for a few records, so from the end on there are chunks and blocks that go as a
 * whole, mostly one that goes in part, and then those that are not concerned.
 */
bool change_log::cut(CpoLsn from, std::uint64_t &looked_at) noexcept
{
	if (empty() || from > reach_)
		return false;
	reach_ = from - (from != 0);

	for (auto next = chunks_.end(); next != chunks_.begin();) {
		chunk &c = *std::prev(next);
		if (c.reach < from)
			return true;
		if (c.lowest >= from) {
			release(c);
			continue;
		}
		cut_chunk(c, from, looked_at);
		--next;
	}
	cut_blocks(from);
	return true;
}

// At least one of the chunk's records stays.
void change_log::cut_chunk(chunk &c, CpoLsn from, std::uint64_t &looked_at) noexcept
{
	std::size_t kept = 0;
	for (std::size_t position = 0; position < c.used;) {
		record_header header;
		std::memcpy(&header, c.data() + position, sizeof header);
		++looked_at;
		const std::size_t size = record_size(header.len);
		if (header.place < from) {
			if (kept != position)
				std::memmove(c.data() + kept, c.data() + position, size);
			kept += size;
		}
		position += size;
	}
	c.used = kept;
	c.reach = reach_;
}

// What lies in the file stays there; replay skips what is beyond a block's reach.
void change_log::cut_blocks(CpoLsn from) noexcept
{
	while (!blocks_.empty() && blocks_.back().lowest >= from) {
		file_end_ -= blocks_.back().stored;
		blocks_.pop_back();
	}
	if (blocks_.empty())
		std::pmr::vector<spilled_block>(blocks_.get_allocator()).swap(blocks_);
	for (auto block = blocks_.rbegin(); block != blocks_.rend() && block->reach >= from; ++block)
		block->reach = reach_;
}

void change_log::reserve_block()
{
	if (blocks_.size() == blocks_.capacity())
		blocks_.reserve(std::max<std::size_t>(16, 2 * blocks_.capacity()));
}

void change_log::chunk_spilled(std::uint32_t stored) noexcept
{
	const chunk &c = chunks_.front();
	blocks_.push_back({c.lowest, c.reach, stored, static_cast<std::uint32_t>(c.used)});
	file_end_ += stored;
	drop_oldest_chunk();
}

void change_log::drop_oldest_chunk() noexcept
{
	release(chunks_.front());
}

void change_log::release(chunk &c) noexcept
{
	chunk_bytes_ -= c.footprint();
	chunks_.erase(chunk_list::s_iterator_to(c));
	pool_.give(&c);
}

} // namespace cpp_output
