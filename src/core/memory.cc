#include "memory.h"

#include <cstdint>
#include <new>

namespace cpp_output
{

namespace
{
// What CpoMemory.allocate promises.
constexpr std::size_t hook_alignment = 8;
} // namespace

/*
 * A request with a larger alignment than the hook gives takes `alignment` bytes more and keeps
 * the distance to the start of the chunk in the byte before the result.
 */
void *hooked_memory::do_allocate(std::size_t bytes, std::size_t alignment)
{
	const bool over_aligned = alignment > hook_alignment;
	void *chunk = hooks_.allocate(hooks_.arg, over_aligned ? bytes + alignment : bytes);
	if (chunk == nullptr)
		throw std::bad_alloc();
	if (!over_aligned)
		return chunk;
	const auto address = reinterpret_cast<std::uintptr_t>(chunk);
	const std::size_t shift = alignment - address % alignment;
	auto *result = static_cast<unsigned char *>(chunk) + shift;
	result[-1] = static_cast<unsigned char>(shift);
	return result;
}

void hooked_memory::do_deallocate(void *chunk, std::size_t bytes, std::size_t alignment)
{
	if (alignment <= hook_alignment) {
		hooks_.release(hooks_.arg, chunk, bytes);
		return;
	}
	auto *start = static_cast<unsigned char *>(chunk);
	start -= start[-1];
	hooks_.release(hooks_.arg, start, bytes + alignment);
}

} // namespace cpp_output
