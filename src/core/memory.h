// The shell's memory hooks as a C++ memory resource.
#pragma once

#include "core.h"

#include <memory>
#include <memory_resource>
#include <string_view>

namespace cpp_output
{

class hooked_memory final : public std::pmr::memory_resource
{
public:
	explicit hooked_memory(const CpoMemory &hooks) noexcept : hooks_(hooks) {}

private:
	void *do_allocate(std::size_t bytes, std::size_t alignment) override;
	void do_deallocate(void *chunk, std::size_t bytes, std::size_t alignment) override;
	bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
	{
		return this == &other;
	}

	CpoMemory hooks_;
};

// Destroys an object that came from polymorphic_allocator::new_object; `size` because the static
// type may be a base class.
struct pmr_deleter {
	std::pmr::memory_resource *memory = nullptr;
	std::size_t size = 0;

	template <typename T> void operator()(T *object) const noexcept
	{
		object->~T();
		memory->deallocate(object, size, alignof(std::max_align_t));
	}
};

template <typename T> using pmr_ptr = std::unique_ptr<T, pmr_deleter>;

template <typename T, typename... Args>
pmr_ptr<T> make_pmr(std::pmr::memory_resource *memory, Args &&...args)
{
	void *raw = memory->allocate(sizeof(T), alignof(std::max_align_t));
	try {
		return pmr_ptr<T>(new (raw) T(std::forward<Args>(args)...), pmr_deleter{memory, sizeof(T)});
	} catch (...) {
		memory->deallocate(raw, sizeof(T), alignof(std::max_align_t));
		throw;
	}
}

// A copy of the text that lives as long as the arena.
inline std::string_view keep(std::string_view text, std::pmr::memory_resource &arena)
{
	auto *copy = static_cast<char *>(arena.allocate(text.size(), 1));
	text.copy(copy, text.size());
	return {copy, text.size()};
}

inline std::string_view view(const CpoSpan &span) noexcept
{
	return {span.data, span.len};
}

} // namespace cpp_output
