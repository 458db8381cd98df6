#include "buffer.h"

#include <algorithm>
#include <stdexcept>

namespace cpp_output
{

void byte_buffer::grow(std::size_t n)
{
	const std::size_t used = size();
	const std::size_t old_capacity = static_cast<std::size_t>(limit_ - data_);
	if (used > size_limit_ || size_limit_ - used < n)
		throw std::length_error("byte_buffer");
	const std::size_t doubled = std::min(old_capacity * 2, size_limit_);
	const std::size_t capacity = std::max({std::size_t{256}, doubled, used + n});
	char *fresh = static_cast<char *>(memory_->allocate(capacity, 1));
	if (used != 0)
		std::memcpy(fresh, data_, used);
	release();
	data_ = fresh;
	end_ = fresh + used;
	limit_ = fresh + capacity;
}

void byte_buffer::release() noexcept
{
	if (data_ != nullptr)
		memory_->deallocate(data_, static_cast<std::size_t>(limit_ - data_), 1);
	data_ = end_ = limit_ = nullptr;
}

} // namespace cpp_output
