#include "text/base64.h"

#include "text/simd.h"

namespace cpp_output
{

namespace
{

constexpr char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/*
 * How the block writers below work, on x86 (after Mula and Lemire, "Faster
 * Base64 Encoding and Decoding using AVX2 Instructions", 2018): three bytes
 * go into each 32-bit lane, in the order 2nd, 1st, 3rd, 2nd, so that the four
 * fields of 6 bits lie in two 16-bit halves; multiplications shift them into
 * bytes. A field becomes a character by adding an offset for its range, which
 * a table gives: index 0 for a-z, 1 to 10 for digits, 11 and 12 for + and /,
 * 13 for A-Z.
 *
 * Each takes whole blocks as long as its load stays inside the input, and
 * returns the number of bytes consumed, a multiple of 3.
 */
#if defined(CPP_OUTPUT_X86_DISPATCH)

__attribute__((target("ssse3"))) inline __m128i spread_order()
{
	return _mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10);
}

inline __m128i range_offsets()
{
	constexpr char digit = '0' - 52;
	return _mm_setr_epi8('a' - 26, digit, digit, digit, digit, digit, digit, digit, digit, digit,
		digit, '+' - 62, '/' - 63, 'A', 0, 0);
}

__attribute__((target("ssse3"))) std::size_t write_blocks_ssse3(
	char *out, const char *data, std::size_t n)
{
	const __m128i order = spread_order();
	const __m128i offsets = range_offsets();
	std::size_t i = 0;
	for (; n - i >= 16; i += 12, out += 16) {
		const __m128i in =
			_mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i *>(data + i)), order);
		const __m128i odd = _mm_mulhi_epu16(
			_mm_and_si128(in, _mm_set1_epi32(0x0fc0fc00)), _mm_set1_epi32(0x04000040));
		const __m128i even = _mm_mullo_epi16(
			_mm_and_si128(in, _mm_set1_epi32(0x003f03f0)), _mm_set1_epi32(0x01000010));
		const __m128i fields = _mm_or_si128(odd, even);
		const __m128i capital =
			_mm_and_si128(_mm_cmpgt_epi8(_mm_set1_epi8(26), fields), _mm_set1_epi8(13));
		const __m128i range = _mm_or_si128(_mm_subs_epu8(fields, _mm_set1_epi8(51)), capital);
		const __m128i text = _mm_add_epi8(fields, _mm_shuffle_epi8(offsets, range));
		_mm_storeu_si128(reinterpret_cast<__m128i *>(out), text);
	}
	return i;
}

// The same in two lanes.
__attribute__((target("avx2"))) std::size_t write_blocks_avx2(
	char *out, const char *data, std::size_t n)
{
	const __m256i order = _mm256_broadcastsi128_si256(spread_order());
	const __m256i offsets = _mm256_broadcastsi128_si256(range_offsets());
	std::size_t i = 0;
	for (; n - i >= 28; i += 24, out += 32) {
		const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i *>(data + i));
		const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i *>(data + i + 12));
		const __m256i in = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), order);
		const __m256i odd = _mm256_mulhi_epu16(
			_mm256_and_si256(in, _mm256_set1_epi32(0x0fc0fc00)), _mm256_set1_epi32(0x04000040));
		const __m256i even = _mm256_mullo_epi16(
			_mm256_and_si256(in, _mm256_set1_epi32(0x003f03f0)), _mm256_set1_epi32(0x01000010));
		const __m256i fields = _mm256_or_si256(odd, even);
		const __m256i capital =
			_mm256_and_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(26), fields), _mm256_set1_epi8(13));
		const __m256i range =
			_mm256_or_si256(_mm256_subs_epu8(fields, _mm256_set1_epi8(51)), capital);
		const __m256i text = _mm256_add_epi8(fields, _mm256_shuffle_epi8(offsets, range));
		_mm256_storeu_si256(reinterpret_cast<__m256i *>(out), text);
	}
	return i;
}

std::size_t write_blocks(char *out, const char *data, std::size_t n)
{
	std::size_t done = 0;
	if (n >= 28 && __builtin_cpu_supports("avx2"))
		done = write_blocks_avx2(out, data, n);
	if (n - done >= 16 && __builtin_cpu_supports("ssse3"))
		done += write_blocks_ssse3(out + done / 3 * 4, data + done, n - done);
	return done;
}

#elif defined(CPP_OUTPUT_NEON)

std::size_t write_blocks(char *out, const char *data, std::size_t n)
{
	const auto *letters = reinterpret_cast<const std::uint8_t *>(alphabet);
	const uint8x16x4_t table = vld1q_u8_x4(letters);
	const uint8x16_t field = vdupq_n_u8(0x3f);
	std::size_t i = 0;
	for (; n - i >= 48; i += 48, out += 64) {
		const uint8x16x3_t in = vld3q_u8(reinterpret_cast<const std::uint8_t *>(data + i));
		uint8x16x4_t fields;
		fields.val[0] = vshrq_n_u8(in.val[0], 2);
		fields.val[1] =
			vandq_u8(vorrq_u8(vshlq_n_u8(in.val[0], 4), vshrq_n_u8(in.val[1], 4)), field);
		fields.val[2] =
			vandq_u8(vorrq_u8(vshlq_n_u8(in.val[1], 2), vshrq_n_u8(in.val[2], 6)), field);
		fields.val[3] = vandq_u8(in.val[2], field);
		for (auto &value : fields.val)
			value = vqtbl4q_u8(table, value);
		vst4q_u8(reinterpret_cast<std::uint8_t *>(out), fields);
	}
	return i;
}

#else

std::size_t write_blocks(char *, const char *, std::size_t)
{
	return 0;
}

#endif

} // namespace

char *write_base64(char *out, const char *data, std::size_t n)
{
	const std::size_t done = write_blocks(out, data, n);
	out += done / 3 * 4;
	const auto *at = reinterpret_cast<const unsigned char *>(data) + done;
	std::size_t left = n - done;

	for (; left >= 3; left -= 3, at += 3) {
		const unsigned bits = unsigned{at[0]} << 16 | unsigned{at[1]} << 8 | at[2];
		*out++ = alphabet[bits >> 18];
		*out++ = alphabet[bits >> 12 & 0x3f];
		*out++ = alphabet[bits >> 6 & 0x3f];
		*out++ = alphabet[bits & 0x3f];
	}
	if (left > 0) {
		const unsigned bits = unsigned{at[0]} << 16 | (left > 1 ? unsigned{at[1]} << 8 : 0);
		*out++ = alphabet[bits >> 18];
		*out++ = alphabet[bits >> 12 & 0x3f];
		*out++ = left > 1 ? alphabet[bits >> 6 & 0x3f] : '=';
		*out++ = '=';
	}
	return out;
}

} // namespace cpp_output
