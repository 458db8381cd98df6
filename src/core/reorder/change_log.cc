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

	newest_lsn = std::max(newest_lsn, message.place != 0 ? message.place : message.lsn);
	const record_header header{
		message.lsn, newest_lsn, static_cast<std::uint32_t>(len), message.gap, message.flags, {}};
	std::memcpy(out, &header, sizeof header);
	if (len != 0) {
		// what pads the last word is written to the file, so it must not be left undefined
		std::memset(out + size - 8, 0, 8);
		std::memcpy(out + sizeof header, message.bytes.data(), len);
	}

	if (c.used == 0)
		c.first_place = newest_lsn;
	c.last_place = newest_lsn;
	c.used += size;
	last_place_ = newest_lsn;
}

bool change_log::cut(CpoLsn from, std::uint64_t &looked_at) noexcept
{
	if (empty() || from > last_place_)
		return false;

	while (!chunks_.empty() && chunks_.back().first_place >= from)
		release(chunks_.back());
	if (!chunks_.empty()) {
		cut_chunk(chunks_.back(), from, looked_at);
	} else {
		while (!blocks_.empty() && blocks_.back().first_place >= from) {
			file_end_ -= blocks_.back().stored;
			blocks_.pop_back();
		}
		if (!blocks_.empty())
			blocks_.back().last_place = std::min(blocks_.back().last_place, from - 1);
		else
			std::pmr::vector<spilled_block>(blocks_.get_allocator()).swap(blocks_);
	}
	last_place_ = from - (from != 0);
	return true;
}

// The chunk's first record stays.
void change_log::cut_chunk(chunk &c, CpoLsn from, std::uint64_t &looked_at) noexcept
{
	if (c.last_place < from)
		return;
	std::size_t position = 0;
	CpoLsn last = c.first_place;
	for (;;) {
		record_header header;
		std::memcpy(&header, c.data() + position, sizeof header);
		++looked_at;
		if (header.place >= from)
			break;
		last = header.place;
		position += record_size(header.len);
	}
	c.used = position;
	c.last_place = last;
}

void change_log::reserve_block()
{
	if (blocks_.size() == blocks_.capacity())
		blocks_.reserve(std::max<std::size_t>(16, 2 * blocks_.capacity()));
}

void change_log::chunk_spilled(std::uint32_t stored) noexcept
{
	const chunk &c = chunks_.front();
	blocks_.push_back({c.first_place, c.last_place, stored, static_cast<std::uint32_t>(c.used)});
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
