#include "reorder/spill_codec.h"

#include "reorder/reorder_error.h"

#include <new>

#ifdef CPO_WITH_LZ4
#include <lz4.h>
#endif
#ifdef CPO_WITH_ZSTD
#include <zstd.h>
#endif

namespace cpp_output
{

namespace
{

#ifdef CPO_WITH_ZSTD
constexpr int zstd_level = 1;
#endif

} // namespace

bool compression_available(compression method) noexcept
{
	switch (method) {
	case compression::off:
		return true;
	case compression::lz4:
#ifdef CPO_WITH_LZ4
		return true;
#else
		return false;
#endif
	case compression::zstd:
#ifdef CPO_WITH_ZSTD
		return true;
#else
		return false;
#endif
	}
	return false;
}

spill_codec::spill_codec(chunk_pool &pool, compression method) : pool_(pool), method_(method)
{
	if (!compression_available(method))
		throw reorder_misuse("this compression method is not built in");
}

spill_codec::~spill_codec()
{
#ifdef CPO_WITH_ZSTD
	ZSTD_freeCCtx(compressor_);
	ZSTD_freeDCtx(decompressor_);
#endif
}

char *spill_codec::buffer(std::size_t size)
{
	if (!buffer_ || buffer_->capacity < size) {
		buffer_.reset();
		buffer_ = pool_.take(size);
	}
	return buffer_->data();
}

std::span<char> spill_codec::encode([[maybe_unused]] std::span<const char> raw)
{
	// A room of one byte less than the input makes the methods refuse what does not shrink.
	std::size_t stored = 0;
	switch (method_) {
	case compression::off:
		return {};
	case compression::lz4:
#ifdef CPO_WITH_LZ4
		if (raw.size() <= LZ4_MAX_INPUT_SIZE)
			stored = static_cast<std::size_t>(LZ4_compress_default(raw.data(), buffer(raw.size()),
				static_cast<int>(raw.size()), static_cast<int>(raw.size() - 1)));
#endif
		break;
	case compression::zstd:
#ifdef CPO_WITH_ZSTD
		if (!compressor_ && !(compressor_ = ZSTD_createCCtx()))
			throw std::bad_alloc();
		stored = ZSTD_compressCCtx(
			compressor_, buffer(raw.size()), raw.size() - 1, raw.data(), raw.size(), zstd_level);
		if (ZSTD_isError(stored))
			stored = 0;
#endif
		break;
	}
	return stored == 0 ? std::span<char>() : std::span<char>(buffer_->data(), stored);
}

char *spill_codec::stage(std::size_t stored)
{
#ifdef CPO_WITH_ZSTD
	if (method_ == compression::zstd && !decompressor_ && !(decompressor_ = ZSTD_createDCtx()))
		throw std::bad_alloc();
#endif
	return buffer(stored);
}

void spill_codec::decode([[maybe_unused]] std::size_t stored, [[maybe_unused]] std::span<char> raw)
{
	bool whole = false;
	switch (method_) {
	case compression::off:
		break;
	case compression::lz4:
#ifdef CPO_WITH_LZ4
	{
		const int size = LZ4_decompress_safe(
			buffer_->data(), raw.data(), static_cast<int>(stored), static_cast<int>(raw.size()));
		whole = size >= 0 && static_cast<std::size_t>(size) == raw.size();
	}
#endif
	break;
	case compression::zstd:
#ifdef CPO_WITH_ZSTD
		// An error is a value that no size reaches.
		whole = ZSTD_decompressDCtx(
					decompressor_, raw.data(), raw.size(), buffer_->data(), stored) == raw.size();
#endif
		break;
	}
	if (!whole)
		throw spill_corrupted("a temporary file's block cannot be decompressed");
}

void spill_codec::release() noexcept
{
	if (buffer_ && !pool_.is_standard(*buffer_))
		buffer_.reset();
}

} // namespace cpp_output
