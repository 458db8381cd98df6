// The memory in which change logs grow: chunks of one size, and a pool that keeps a few spare.
#pragma once

#include "core.h"

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <memory>
#include <memory_resource>

namespace cpp_output
{

// A header in front of its payload, in one allocation.
struct chunk
	: boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>> {
	explicit chunk(std::size_t payload) noexcept : capacity(payload) {}

	char *data() noexcept { return reinterpret_cast<char *>(this + 1); }
	std::size_t room() const noexcept { return capacity - used; }
	std::size_t footprint() const noexcept { return sizeof(chunk) + capacity; }

	std::size_t capacity; // bytes of payload, a multiple of 8
	std::size_t used = 0; // bytes of it that hold records
	CpoLsn lowest = 0;	  // place of the records in it
	CpoLsn reach = 0;	  // no record up to its end has a greater place
};

using chunk_list = boost::intrusive::list<chunk, boost::intrusive::constant_time_size<false>>;

class chunk_pool
{
public:
	struct give_back {
		chunk_pool *pool = nullptr;
		void operator()(chunk *spare) const noexcept { pool->give(spare); }
	};
	using handle = std::unique_ptr<chunk, give_back>;

	// A standard chunk takes chunk_size bytes, its header included; up to max_spare are kept.
	chunk_pool(std::pmr::memory_resource *memory, std::size_t chunk_size, std::size_t max_spare);
	chunk_pool(const chunk_pool &) = delete;
	chunk_pool &operator=(const chunk_pool &) = delete;
	~chunk_pool();

	// An empty standard chunk, or one made to measure where the payload is larger than that.
	// Throws std::bad_alloc.
	handle take(std::size_t payload);
	void give(chunk *spare) noexcept;

	bool is_standard(const chunk &c) const noexcept { return c.capacity == standard_; }

private:
	void destroy(chunk *c) noexcept;

	std::pmr::memory_resource *memory_;
	std::size_t standard_; // payload of a standard chunk
	std::size_t max_spare_;
	std::size_t nspare_ = 0;
	chunk_list spare_;
};

} // namespace cpp_output
