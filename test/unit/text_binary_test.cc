// hex, base64, uuid
#include "text/base64.h"
#include "text/hex.h"
#include "text/uuid.h"

#include <gtest/gtest.h>

#include "text_support.h"

using namespace cpp_output;
using namespace cpp_output::test;

namespace
{

std::string plain_hex(std::string_view bytes)
{
	std::string text;
	for (const char c : bytes) {
		char pair[3];
		std::snprintf(pair, sizeof pair, "%02x", static_cast<unsigned char>(c));
		text += pair;
	}
	return text;
}

std::string plain_base64(std::string_view bytes)
{
	static constexpr char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	std::string text;
	unsigned bits = 0;
	int count = 0;
	for (const char c : bytes) {
		bits = bits << 8 | static_cast<unsigned char>(c);
		for (count += 8; count >= 6; count -= 6)
			text += alphabet[bits >> (count - 6) & 0x3f];
	}
	if (count > 0)
		text += alphabet[bits << (6 - count) & 0x3f];
	while (text.size() % 4 != 0)
		text += '=';
	return text;
}

std::string fast_hex(std::string_view bytes)
{
	const exact_copy data(bytes, bytes.size() % 3);
	return written(hex_size(bytes.size()),
		[&](char *out) { return write_hex(out, data.data(), bytes.size()); });
}

std::string fast_base64(std::string_view bytes)
{
	const exact_copy data(bytes, bytes.size() % 3);
	return written(base64_size(bytes.size()),
		[&](char *out) { return write_base64(out, data.data(), bytes.size()); });
}

TEST(hex, every_byte_and_length)
{
	EXPECT_EQ(fast_hex(""), "");
	EXPECT_EQ(fast_hex({"\x00\xff\x5a", 3}), "00ff5a");
	std::string all;
	for (int i = 0; i < 256; i++)
		all += static_cast<char>(i);
	for (std::size_t n = 0; n <= all.size(); n++)
		ASSERT_EQ(fast_hex(all.substr(256 - n)), plain_hex(all.substr(256 - n)));
	random_source random(6);
	for (int i = 0; i < 500; i++) {
		const std::string bytes = random.bytes(random.below(1000));
		ASSERT_EQ(fast_hex(bytes), plain_hex(bytes));
	}
}

TEST(base64, rfc_4648)
{
	EXPECT_EQ(fast_base64(""), "");
	EXPECT_EQ(fast_base64("f"), "Zg==");
	EXPECT_EQ(fast_base64("fo"), "Zm8=");
	EXPECT_EQ(fast_base64("foo"), "Zm9v");
	EXPECT_EQ(fast_base64("foob"), "Zm9vYg==");
	EXPECT_EQ(fast_base64("fooba"), "Zm9vYmE=");
	EXPECT_EQ(fast_base64("foobar"), "Zm9vYmFy");
}

TEST(base64, every_character_and_length)
{
	// all fields of six bits in turn, in each of the four places
	std::string fields;
	for (unsigned i = 0; i < 64; i++) {
		const unsigned bits =
			i << 18 | ((i + 16) & 63) << 12 | ((i + 32) & 63) << 6 | ((i + 48) & 63);
		fields +=
			{static_cast<char>(bits >> 16), static_cast<char>(bits >> 8), static_cast<char>(bits)};
	}
	for (std::size_t n = 0; n <= fields.size(); n++)
		ASSERT_EQ(fast_base64(fields.substr(0, n)), plain_base64(fields.substr(0, n)));
	random_source random(7);
	for (int i = 0; i < 500; i++) {
		const std::string bytes = random.bytes(random.below(1000));
		ASSERT_EQ(fast_base64(bytes), plain_base64(bytes));
	}
}

TEST(uuid, canonical_form)
{
	const std::string bytes = from_hex("a0eebc999c0b4ef8bb6d6bb9bd380a11");
	const exact_copy data(bytes);
	EXPECT_EQ(written(uuid_max, [&](char *out) { return write_uuid(out, data.data()); }),
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
}

} // namespace
