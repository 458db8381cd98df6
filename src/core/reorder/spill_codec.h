// Compression of the blocks that go to temporary files.
#pragma once

#include "reorder/chunk_pool.h"

#include <span>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace cpp_output
{

enum class compression { off, lz4, zstd };

// Was this build made with it?
bool compression_available(compression method) noexcept;

/*
 * One buffer serves both ways, so what encode() or stage() returned stays valid until the next
 * call of either, or of release().
 */
class spill_codec
{
public:
	// Throws reorder_misuse if the method is not available.
	spill_codec(chunk_pool &pool, compression method);
	spill_codec(const spill_codec &) = delete;
	spill_codec &operator=(const spill_codec &) = delete;
	~spill_codec();

	// The bytes to store instead of `raw`, or an empty span if none are fewer than those.
	// Throws std::bad_alloc.
	std::span<char> encode(std::span<const char> raw);

	// Where to read a compressed block of that many bytes to. Throws std::bad_alloc.
	char *stage(std::size_t stored);
	// Decompresses what was staged; it must fill `raw`, else throws spill_corrupted.
	void decode(std::size_t stored, std::span<char> raw);

	// Gives an outsized buffer back.
	void release() noexcept;

private:
	char *buffer(std::size_t size);

	chunk_pool &pool_;
	compression method_;
	chunk_pool::handle buffer_;
	// zstd's own memory comes from malloc: its hook for allocators is not part of its stable ABI
	[[maybe_unused]] ZSTD_CCtx_s *compressor_ = nullptr;
	[[maybe_unused]] ZSTD_DCtx_s *decompressor_ = nullptr;
};

} // namespace cpp_output
