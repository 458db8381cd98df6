// Takes the reorder engine and its model through whatever the input says.
#include "reorder_model.h"

using namespace cpp_output;

namespace
{

// Each decision is a byte or two of the input; a long message costs the fuzzer no more.
class input_decisions final : public model::decisions
{
public:
	input_decisions(const std::uint8_t *data, std::size_t len) : at_(data), end_(data + len) {}

	std::uint32_t below(std::uint32_t limit) override
	{
		std::uint32_t value = byte();
		if (limit > 256)
			value = value << 8 | byte();
		return value % limit;
	}
	bool more() const { return at_ != end_; }

private:
	std::uint32_t byte() { return at_ == end_ ? 0 : *at_++; }

	const std::uint8_t *at_;
	const std::uint8_t *end_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t len)
{
	input_decisions next(data, len);
	reorder_logs::settings how;
	how.chunk_size = std::size_t{256} << next.below(3);
	how.memory_limit = how.chunk_size * next.below(10);
	constexpr compression methods[] = {compression::off, compression::lz4, compression::zstd};
	how.spill_compression = methods[next.below(3)];
	if (!compression_available(how.spill_compression))
		how.spill_compression = compression::off;

	model::counting_memory memory;
	if (const std::uint32_t fail = next.below(64); fail >= 32)
		memory.fail_every = fail;
	{
		model::driver run(next, how, memory);
		while (next.more())
			run.step();
		run.finish();
	}
	model::require(memory.in_use == 0, "memory leaked");
	return 0;
}
