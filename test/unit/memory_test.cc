// The memory hooks as a memory resource.
#include "memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>

namespace cpp_output
{
namespace
{

// Hands out chunks that are `shift` bytes beyond a multiple of 64, and checks what comes back.
struct arena {
	std::size_t shift = 0;
	bool refuse = false;
	std::size_t in_use = 0;
	bool mismatch = false;

	CpoMemory record() { return {this, allocate, release}; }

	static void *allocate(void *arg, std::size_t bytes)
	{
		auto *self = static_cast<arena *>(arg);
		if (self->refuse)
			return nullptr;
		auto *base = static_cast<char *>(std::aligned_alloc(64, bytes / 64 * 64 + 192));
		std::memcpy(base, &bytes, sizeof(bytes));
		self->in_use += bytes;
		return base + 64 + self->shift;
	}
	static void release(void *arg, void *chunk, std::size_t bytes)
	{
		auto *self = static_cast<arena *>(arg);
		auto *base = static_cast<char *>(chunk) - self->shift - 64;
		std::size_t known;
		std::memcpy(&known, base, sizeof(known));
		self->mismatch = self->mismatch || known != bytes;
		self->in_use -= known;
		std::free(base);
	}
};

TEST(hooked_memory, alignment_and_sizes)
{
	for (const std::size_t shift : {std::size_t{0}, std::size_t{8}, std::size_t{40}}) {
		arena memory;
		memory.shift = shift;
		const CpoMemory hooks = memory.record();
		hooked_memory resource(hooks);
		for (std::size_t alignment = 1; alignment <= 64; alignment *= 2)
			for (const std::size_t bytes : {1, 7, 8, 64, 1000}) {
				auto *chunk = static_cast<char *>(resource.allocate(bytes, alignment));
				EXPECT_EQ(reinterpret_cast<std::uintptr_t>(chunk) % alignment, 0U)
					<< bytes << " at " << alignment;
				std::memset(chunk, 'x', bytes);
				resource.deallocate(chunk, bytes, alignment);
				EXPECT_EQ(memory.in_use, 0U);
			}
		EXPECT_FALSE(memory.mismatch);
	}
}

TEST(hooked_memory, refusal_is_bad_alloc)
{
	arena memory;
	memory.refuse = true;
	hooked_memory resource(memory.record());
	EXPECT_THROW((void)resource.allocate(8, 8), std::bad_alloc);
	EXPECT_THROW((void)resource.allocate(8, 16), std::bad_alloc);
}

TEST(hooked_memory, equal_to_itself_only)
{
	arena memory;
	const hooked_memory one(memory.record());
	const hooked_memory other(memory.record());
	EXPECT_TRUE(one.is_equal(one));
	EXPECT_FALSE(one.is_equal(other));
}

struct base {
	virtual ~base() = default;
	int number = 0;
};
struct derived final : base {
	explicit derived(int *destroyed, bool fail = false) : destroyed(destroyed)
	{
		if (fail)
			throw 1;
	}
	~derived() override { ++*destroyed; }
	int *destroyed;
	char more[100] = {};
};

TEST(make_pmr, an_object_is_released_as_what_it_was_made)
{
	arena memory;
	hooked_memory resource(memory.record());
	int destroyed = 0;
	{
		const pmr_ptr<base> object = make_pmr<derived>(&resource, &destroyed);
		EXPECT_GT(memory.in_use, sizeof(derived) - 1);
	}
	EXPECT_EQ(destroyed, 1);
	EXPECT_EQ(memory.in_use, 0U);
	EXPECT_FALSE(memory.mismatch);
}

TEST(make_pmr, a_constructor_that_throws_leaves_nothing)
{
	arena memory;
	hooked_memory resource(memory.record());
	int destroyed = 0;
	EXPECT_THROW(make_pmr<derived>(&resource, &destroyed, true), int);
	EXPECT_EQ(destroyed, 0);
	EXPECT_EQ(memory.in_use, 0U);
	EXPECT_FALSE(memory.mismatch);
}

} // namespace
} // namespace cpp_output
