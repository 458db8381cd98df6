// The engine takes memory from its memory_resource only: global new is counted here.
#include "reorder_model.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

namespace
{
std::atomic<std::uint64_t> global_allocations = 0;
}

// not inlined, or gcc takes free() for a mismatch
[[gnu::noinline]] void *operator new(std::size_t bytes)
{
	++global_allocations;
	if (void *p = std::malloc(bytes))
		return p;
	throw std::bad_alloc();
}
[[gnu::noinline]] void *operator new[](std::size_t bytes)
{
	return operator new(bytes);
}
[[gnu::noinline]] void operator delete(void *p) noexcept
{
	std::free(p);
}
[[gnu::noinline]] void operator delete[](void *p) noexcept
{
	std::free(p);
}
[[gnu::noinline]] void operator delete(void *p, std::size_t) noexcept
{
	std::free(p);
}
[[gnu::noinline]] void operator delete[](void *p, std::size_t) noexcept
{
	std::free(p);
}

namespace cpp_output
{
namespace
{

TEST(reorder_allocation, nothing_comes_from_global_new)
{
	std::string file(1 << 20, ' ');
	const std::string bytes(100, 'x');
	std::uint64_t records = 0;
	std::uint64_t reads = 0;
	std::uint64_t refusals = 0;
	model::counting_memory memory;

	const std::uint64_t before = global_allocations;
	for (const compression method : {compression::off, compression::lz4, compression::zstd}) {
		if (!compression_available(method))
			continue;
		CpoCounters counters{};
		reorder_logs logs(&memory, {2048, 256, method}, counters);
		for (CpoXid xid = 1; xid <= 50; ++xid)
			logs.open(xid);
		const auto drain = [&] {
			for (auto request = logs.next_io(); request.what != io_request::kind::none;
				 request = logs.next_io())
				if (request.what == io_request::kind::write)
					std::memcpy(file.data() + request.offset, request.data, request.len);
		};
		for (CpoLsn lsn = 100; lsn < 1000; ++lsn) {
			logs.append(1, {lsn, 0, 0, bytes});
			drain();
		}
		logs.cut(1, 900);
		for (CpoXid xid = 2; xid <= 40; ++xid)
			logs.drop(xid);
		try {
			logs.append(2, {1, 0, 0, bytes});
		} catch (const reorder_misuse &) {
			++refusals;
		}
		replayed message;
		io_request request;
		logs.start_replay(1);
		for (auto step = reorder_logs::step::io; step != reorder_logs::step::done;) {
			step = logs.replay_next(message, request);
			if (step == reorder_logs::step::record)
				++records;
			if (step == reorder_logs::step::io) {
				++reads;
				std::memcpy(request.data, file.data() + request.offset, request.len);
			}
		}
		drain();
	}
	const std::uint64_t after = global_allocations;
	EXPECT_EQ(after, before);
	EXPECT_GE(records, 800u);
	EXPECT_GE(reads, 100u);
	EXPECT_GE(refusals, 1u);

	// the counter does count
	operator delete(operator new(1));
	EXPECT_GT(global_allocations, after);
}

} // namespace
} // namespace cpp_output
