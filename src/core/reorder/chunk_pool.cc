#include "reorder/chunk_pool.h"

#include <algorithm>
#include <new>

namespace cpp_output
{

static_assert(sizeof(chunk) % 8 == 0, "payload must be aligned");

namespace
{

constexpr std::size_t smallest_chunk = 256;

std::size_t padded(std::size_t bytes) noexcept
{
	return (bytes + 7) & ~std::size_t{7};
}

} // namespace

chunk_pool::chunk_pool(
	std::pmr::memory_resource *memory, std::size_t chunk_size, std::size_t max_spare)
	: memory_(memory), standard_(padded(std::max(chunk_size, smallest_chunk) - sizeof(chunk))),
	  max_spare_(max_spare)
{
}

chunk_pool::~chunk_pool()
{
	spare_.clear_and_dispose([this](chunk *c) { destroy(c); });
}

chunk_pool::handle chunk_pool::take(std::size_t payload)
{
	if (payload <= standard_ && !spare_.empty()) {
		chunk &c = spare_.front();
		spare_.pop_front();
		--nspare_;
		c.used = 0;
		return handle(&c, {this});
	}
	const std::size_t capacity = std::max(standard_, padded(payload));
	void *raw = memory_->allocate(sizeof(chunk) + capacity, alignof(chunk));
	return handle(new (raw) chunk(capacity), {this});
}

void chunk_pool::give(chunk *spare) noexcept
{
	if (is_standard(*spare) && nspare_ < max_spare_) {
		spare_.push_front(*spare);
		++nspare_;
	} else {
		destroy(spare);
	}
}

void chunk_pool::destroy(chunk *c) noexcept
{
	const std::size_t bytes = c->footprint();
	c->~chunk();
	memory_->deallocate(c, bytes, alignof(chunk));
}

} // namespace cpp_output
