// Random events, with the engine and its plain model side by side.
#include "reorder_model.h"
#include "stride.h"

#include <gtest/gtest.h>
#include <ostream>
#include <random>

namespace cpp_output::model
{
namespace
{

class random_decisions final : public decisions
{
public:
	explicit random_decisions(std::uint64_t seed) : engine_(seed) {}
	std::uint32_t below(std::uint32_t limit) override
	{
		return static_cast<std::uint32_t>(engine_() % limit);
	}

private:
	std::mt19937_64 engine_;
};

struct situation {
	std::size_t chunk_size;
	std::size_t memory_limit;
	compression method;
};

std::vector<situation> situations()
{
	std::vector<situation> all;
	for (const compression method : {compression::off, compression::lz4, compression::zstd}) {
		if (!compression_available(method))
			continue;
		for (const std::size_t chunk_size : {256, 512, 4096})
			for (const std::size_t chunks : {0, 1, 3, 16, 1 << 20})
				all.push_back({chunk_size, chunk_size * chunks, method});
	}
	return all;
}

std::string name_of(const situation &s)
{
	constexpr const char *methods[] = {"off", "lz4", "zstd"};
	return std::string(methods[static_cast<int>(s.method)]) + "_chunk_" +
		   std::to_string(s.chunk_size) + "_limit_" + std::to_string(s.memory_limit);
}

// without it GoogleTest prints the bytes, those of the padding too, which no one has set
void PrintTo(const situation &s, std::ostream *out)
{
	*out << name_of(s);
}

class reorder_model : public testing::TestWithParam<situation>
{
};

TEST_P(reorder_model, random_events)
{
	const situation &s = GetParam();
	for (std::uint64_t seed = 1; seed <= 6; seed += test::stride()) {
		SCOPED_TRACE(seed);
		random_decisions next(seed);
		counting_memory memory;
		{
			driver run(next, {s.memory_limit, s.chunk_size, s.method}, memory);
			ASSERT_NO_THROW({
				for (int i = 0; i < 600; ++i)
					run.step();
				run.finish();
			});
			// Were the situations that this test is about seen at all?
			EXPECT_GT(run.counters().discarded_subtransactions, 0u);
			EXPECT_GT(run.counters().discarded_transactions, 0u);
			EXPECT_EQ(run.counters().spill_writes > 0, s.memory_limit < 1 << 20);
		}
		EXPECT_EQ(memory.in_use, 0u);
	}
}

INSTANTIATE_TEST_SUITE_P(all, reorder_model, testing::ValuesIn(situations()),
	[](const auto &info) { return name_of(info.param); });

// The allocation that fails is the first, the second, and so on through one and the same run.
TEST(reorder_memory, every_allocation_may_fail)
{
	const compression method =
		compression_available(compression::lz4) ? compression::lz4 : compression::off;
	std::uint64_t runs = 0;
	for (std::uint64_t n = 1;; n += test::stride()) {
		random_decisions next(42);
		counting_memory memory;
		memory.fail_at = n;
		std::uint64_t failures = 0;
		{
			driver run(next, {1024, 256, method}, memory);
			ASSERT_NO_THROW({
				for (int i = 0; i < 250; ++i)
					run.step();
				run.finish();
			}) << "allocation "
			   << n;
			failures = run.failures();
		}
		ASSERT_EQ(memory.in_use, 0u) << "allocation " << n;
		if (failures == 0)
			break;
		++runs;
	}
	EXPECT_GT(runs * test::stride(), 100u);
}

TEST(reorder_memory, every_third_allocation_fails)
{
	random_decisions next(7);
	counting_memory memory;
	memory.fail_every = 3;
	driver run(next, {2048, 256, compression::off}, memory);
	ASSERT_NO_THROW({
		for (int i = 0; i < 3000; ++i)
			run.step();
		run.finish();
	});
	EXPECT_GT(run.failures(), 100u);
}

} // namespace
} // namespace cpp_output::model
