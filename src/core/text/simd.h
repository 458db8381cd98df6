/*
 * The few operations on several bytes at once that the scanners here need:
 * scalar_block in any C++, 8 bytes wide, and vector_block as wide as the
 * machine has it in its baseline (SSE2, NEON), else the same as scalar_block.
 * CPP_OUTPUT_NO_SIMD takes the vectors away, for tests.
 *
 * Both have the same members, so that a scanner can be written once:
 * comparisons give a block that has the top bit of each matching byte set, and
 * marks() collects the top bits.
 */
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if !defined(CPP_OUTPUT_NO_SIMD)
#if defined(__SSE2__)
#define CPP_OUTPUT_SSE2
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__) && !defined(__ARM_BIG_ENDIAN)
#define CPP_OUTPUT_NEON
#include <arm_neon.h>
#endif
// Instructions beyond the baseline are chosen at run time.
#if defined(CPP_OUTPUT_SSE2) && defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define CPP_OUTPUT_X86_DISPATCH
#include <immintrin.h>
#endif
#endif

namespace cpp_output
{

class scalar_block
{
public:
	static constexpr std::size_t size = 8;
	using mark_set = std::uint64_t;

	static scalar_block load(const char *from)
	{
		std::uint64_t bytes;
		std::memcpy(&bytes, from, size);
		return scalar_block(bytes);
	}
	void store(char *to) const { std::memcpy(to, &bytes_, size); }

	// Four bytes and another four. What first() says of them has no meaning.
	static scalar_block load_halves(const char *from, const char *other)
	{
		std::uint32_t low, high;
		std::memcpy(&low, from, 4);
		std::memcpy(&high, other, 4);
		return scalar_block(low | std::uint64_t{high} << 32);
	}
	void store_halves(char *to, char *other) const
	{
		const std::uint32_t low = static_cast<std::uint32_t>(bytes_);
		const std::uint32_t high = static_cast<std::uint32_t>(bytes_ >> 32);
		std::memcpy(to, &low, 4);
		std::memcpy(other, &high, 4);
	}

	scalar_block equal(char c) const
	{
		const std::uint64_t difference = bytes_ ^ repeated(c);
		return scalar_block(~(((difference & low_bits) + low_bits) | difference));
	}
	// c is below 0x80
	scalar_block at_most(char c) const
	{
		return scalar_block(~(((bytes_ & low_bits) + (low_bits - repeated(c))) | bytes_));
	}
	// The larger one of each byte and c, unsigned; c is above 0 and below 0x80.
	scalar_block raised_to(char c) const
	{
		const std::uint64_t lower = (at_most(static_cast<char>(c - 1)).marks() >> 7) * 0xff;
		return scalar_block((bytes_ & ~lower) | (repeated(c) & lower));
	}
	scalar_block flipped(char bits) const { return scalar_block(bytes_ ^ repeated(bits)); }
	static scalar_block none() { return scalar_block(0); }
	scalar_block operator|(scalar_block other) const { return scalar_block(bytes_ | other.bytes_); }

	mark_set marks() const { return bytes_ & ~low_bits; }
	// Index of the first byte marked; marks is not 0.
	static std::size_t first(mark_set marks)
	{
		if constexpr (std::endian::native == std::endian::little)
			return static_cast<std::size_t>(std::countr_zero(marks)) / 8;
		else
			return static_cast<std::size_t>(std::countl_zero(marks)) / 8;
	}
	static mark_set without_first(mark_set marks)
	{
		if constexpr (std::endian::native == std::endian::little)
			return marks & (marks - 1);
		else
			return marks & ~(std::uint64_t{1} << 63 >> std::countl_zero(marks));
	}

private:
	explicit scalar_block(std::uint64_t bytes) : bytes_(bytes) {}
	static constexpr std::uint64_t low_bits = 0x7f7f7f7f7f7f7f7f;
	static constexpr std::uint64_t repeated(char c)
	{
		return static_cast<unsigned char>(c) * std::uint64_t{0x0101010101010101};
	}

	std::uint64_t bytes_;
};

#if defined(CPP_OUTPUT_SSE2)

class vector_block
{
public:
	static constexpr std::size_t size = 16;
	using mark_set = unsigned;

	static vector_block load(const char *from)
	{
		return vector_block(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from)));
	}
	void store(char *to) const { _mm_storeu_si128(reinterpret_cast<__m128i *>(to), bytes_); }

	vector_block equal(char c) const
	{
		return vector_block(_mm_cmpeq_epi8(bytes_, _mm_set1_epi8(c)));
	}
	vector_block at_most(char c) const
	{
		return vector_block(_mm_cmpeq_epi8(_mm_min_epu8(bytes_, _mm_set1_epi8(c)), bytes_));
	}
	vector_block raised_to(char c) const
	{
		return vector_block(_mm_max_epu8(bytes_, _mm_set1_epi8(c)));
	}
	vector_block flipped(char bits) const
	{
		return vector_block(_mm_xor_si128(bytes_, _mm_set1_epi8(bits)));
	}
	static vector_block none() { return vector_block(_mm_setzero_si128()); }
	vector_block operator|(vector_block other) const
	{
		return vector_block(_mm_or_si128(bytes_, other.bytes_));
	}

	mark_set marks() const { return static_cast<unsigned>(_mm_movemask_epi8(bytes_)); }
	static std::size_t first(mark_set marks)
	{
		return static_cast<std::size_t>(std::countr_zero(marks));
	}
	static mark_set without_first(mark_set marks) { return marks & (marks - 1); }

private:
	explicit vector_block(__m128i bytes) : bytes_(bytes) {}

	__m128i bytes_;
};

#elif defined(CPP_OUTPUT_NEON)

class vector_block
{
public:
	static constexpr std::size_t size = 16;
	using mark_set = std::uint64_t; // the top one of four bits a byte

	static vector_block load(const char *from)
	{
		return vector_block(vld1q_u8(reinterpret_cast<const std::uint8_t *>(from)));
	}
	void store(char *to) const { vst1q_u8(reinterpret_cast<std::uint8_t *>(to), bytes_); }

	vector_block equal(char c) const { return vector_block(vceqq_u8(bytes_, repeated(c))); }
	vector_block at_most(char c) const { return vector_block(vcleq_u8(bytes_, repeated(c))); }
	vector_block raised_to(char c) const { return vector_block(vmaxq_u8(bytes_, repeated(c))); }
	vector_block flipped(char bits) const { return vector_block(veorq_u8(bytes_, repeated(bits))); }
	static vector_block none() { return vector_block(vdupq_n_u8(0)); }
	vector_block operator|(vector_block other) const
	{
		return vector_block(vorrq_u8(bytes_, other.bytes_));
	}

	mark_set marks() const
	{
		const int8x16_t spread = vshrq_n_s8(vreinterpretq_s8_u8(bytes_), 7);
		const uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_s8(spread), 4);
		return vget_lane_u64(vreinterpret_u64_u8(narrow), 0) & 0x8888888888888888;
	}
	static std::size_t first(mark_set marks)
	{
		return static_cast<std::size_t>(std::countr_zero(marks)) / 4;
	}
	static mark_set without_first(mark_set marks) { return marks & (marks - 1); }

private:
	explicit vector_block(uint8x16_t bytes) : bytes_(bytes) {}
	static uint8x16_t repeated(char c) { return vdupq_n_u8(static_cast<std::uint8_t>(c)); }

	uint8x16_t bytes_;
};

#else

using vector_block = scalar_block;

#endif

} // namespace cpp_output
