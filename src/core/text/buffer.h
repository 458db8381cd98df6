// A growable run of bytes that writers append to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <string_view>

namespace cpp_output
{

/*
 * Appending is split in two so that writers store through a plain pointer:
 * reserve(n) returns where to write up to n bytes, commit(end) says how far
 * the writer came. Throws std::bad_alloc, or std::length_error beyond the limit, and leaves the
 * content as it was.
 */
class byte_buffer
{
public:
	explicit byte_buffer(std::pmr::memory_resource *memory) noexcept : memory_(memory) {}
	byte_buffer(const byte_buffer &) = delete;
	byte_buffer &operator=(const byte_buffer &) = delete;
	~byte_buffer() { release(); }

	char *reserve(std::size_t n)
	{
		if (static_cast<std::size_t>(limit_ - end_) < n)
			grow(n);
		return end_;
	}
	void commit(char *end) noexcept { end_ = end; }

	void append(std::string_view bytes)
	{
		char *out = reserve(bytes.size());
		if (!bytes.empty())
			std::memcpy(out, bytes.data(), bytes.size());
		end_ = out + bytes.size();
	}
	void push_back(char c)
	{
		char *out = reserve(1);
		*out = c;
		end_ = out + 1;
	}

	std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - data_); }
	bool empty() const noexcept { return end_ == data_; }
	char *data() noexcept { return data_; }
	const char *data() const noexcept { return data_; }
	std::string_view view() const noexcept { return {data_, size()}; }

	// No more than this many bytes in all from now on; what was reserved already may be used.
	void set_limit(std::size_t bytes) noexcept { size_limit_ = bytes; }

	// Cuts the content to its first n bytes; n is at most size().
	void truncate(std::size_t n) noexcept { end_ = data_ + n; }
	void clear() noexcept { end_ = data_; }

	// Clears, and gives the memory back if one unusual event made it grow beyond what is kept.
	void shrink() noexcept
	{
		clear();
		if (static_cast<std::size_t>(limit_ - data_) > kept_capacity)
			release();
	}

private:
	static constexpr std::size_t kept_capacity = std::size_t{1} << 20;

	void grow(std::size_t n);
	void release() noexcept;

	std::pmr::memory_resource *memory_;
	char *data_ = nullptr;
	char *end_ = nullptr;
	char *limit_ = nullptr;
	std::size_t size_limit_ = SIZE_MAX;
};

} // namespace cpp_output
