#include "text/hex.h"

#include "text/simd.h"

#include <array>

namespace cpp_output
{

namespace
{

constexpr std::array<char, 512> hex_pairs = [] {
	std::array<char, 512> pairs{};
	for (unsigned i = 0; i < 256; i++) {
		pairs[2 * i] = "0123456789abcdef"[i >> 4];
		pairs[2 * i + 1] = "0123456789abcdef"[i & 0xf];
	}
	return pairs;
}();

char *write_pairs(char *out, const char *data, std::size_t n)
{
	for (std::size_t i = 0; i < n; i++)
		std::memcpy(out + 2 * i, hex_pairs.data() + 2 * static_cast<unsigned char>(data[i]), 2);
	return out + 2 * n;
}

#if defined(CPP_OUTPUT_X86_DISPATCH)

// The digits of 32 bytes; shuffles stay within 128-bit lanes, hence the swap of quarters.
__attribute__((target("avx2"))) std::size_t write_blocks_avx2(
	char *out, const char *data, std::size_t n)
{
	const __m256i digits = _mm256_broadcastsi128_si256(_mm_setr_epi8(
		'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'));
	const __m256i nibble = _mm256_set1_epi8(0xf);
	std::size_t i = 0;
	for (; n - i >= 32; i += 32) {
		const __m256i bytes = _mm256_permute4x64_epi64(
			_mm256_loadu_si256(reinterpret_cast<const __m256i *>(data + i)), 0xd8);
		const __m256i high =
			_mm256_shuffle_epi8(digits, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble));
		const __m256i low = _mm256_shuffle_epi8(digits, _mm256_and_si256(bytes, nibble));
		_mm256_storeu_si256(
			reinterpret_cast<__m256i *>(out + 2 * i), _mm256_unpacklo_epi8(high, low));
		_mm256_storeu_si256(
			reinterpret_cast<__m256i *>(out + 2 * i + 32), _mm256_unpackhi_epi8(high, low));
	}
	return i;
}

#endif

#if defined(CPP_OUTPUT_SSE2)

__m128i hex_digits(__m128i nibbles)
{
	const __m128i letter = _mm_cmpgt_epi8(nibbles, _mm_set1_epi8(9));
	const __m128i base = _mm_add_epi8(nibbles, _mm_set1_epi8('0'));
	return _mm_add_epi8(base, _mm_and_si128(letter, _mm_set1_epi8('a' - '0' - 10)));
}

std::size_t write_blocks(char *out, const char *data, std::size_t n)
{
	const __m128i nibble = _mm_set1_epi8(0xf);
	std::size_t i = 0;
	for (; n - i >= 16; i += 16) {
		const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(data + i));
		const __m128i high = hex_digits(_mm_and_si128(_mm_srli_epi16(bytes, 4), nibble));
		const __m128i low = hex_digits(_mm_and_si128(bytes, nibble));
		_mm_storeu_si128(reinterpret_cast<__m128i *>(out + 2 * i), _mm_unpacklo_epi8(high, low));
		_mm_storeu_si128(
			reinterpret_cast<__m128i *>(out + 2 * i + 16), _mm_unpackhi_epi8(high, low));
	}
	return i;
}

#elif defined(CPP_OUTPUT_NEON)

std::size_t write_blocks(char *out, const char *data, std::size_t n)
{
	const uint8x16_t digits = vld1q_u8(reinterpret_cast<const std::uint8_t *>("0123456789abcdef"));
	std::size_t i = 0;
	for (; n - i >= 16; i += 16) {
		const uint8x16_t bytes = vld1q_u8(reinterpret_cast<const std::uint8_t *>(data + i));
		uint8x16x2_t pairs;
		pairs.val[0] = vqtbl1q_u8(digits, vshrq_n_u8(bytes, 4));
		pairs.val[1] = vqtbl1q_u8(digits, vandq_u8(bytes, vdupq_n_u8(0xf)));
		vst2q_u8(reinterpret_cast<std::uint8_t *>(out + 2 * i), pairs);
	}
	return i;
}

#else

std::size_t write_blocks(char *out, const char *data, std::size_t n)
{
	write_pairs(out, data, n);
	return n;
}

#endif

} // namespace

char *write_hex(char *out, const char *data, std::size_t n)
{
	std::size_t done = 0;
#if defined(CPP_OUTPUT_X86_DISPATCH)
	if (n >= 64 && __builtin_cpu_supports("avx2"))
		done = write_blocks_avx2(out, data, n);
#endif
	done += write_blocks(out + 2 * done, data + done, n - done);
	if (done < n && n >= 16) {
		// the last bytes in a block that overlaps what is done
		write_blocks(out + 2 * (n - 16), data + n - 16, 16);
		return out + 2 * n;
	}
	return write_pairs(out + 2 * done, data + done, n - done);
}

} // namespace cpp_output
