#include "text/array_binary.h"

#include <gtest/gtest.h>

#include "text_support.h"

#include <bit>
#include <optional>
#include <vector>

using namespace cpp_output;
using namespace cpp_output::test;

namespace
{

constexpr bool little = std::endian::native == std::endian::little;

void put_32(std::string &bytes, std::size_t at, std::uint32_t value)
{
	std::memcpy(bytes.data() + at, &value, 4);
}

std::uint32_t length_word(std::size_t length)
{
	return static_cast<std::uint32_t>(little ? length << 2 : length);
}

// How an element of a variable-length type is stored.
enum class header { plain, brief, compressed };

std::string varlena(std::string_view content, header form)
{
	if (form == header::brief) {
		const std::size_t length = content.size() + 1;
		return static_cast<char>(little ? length << 1 | 1 : length | 0x80) + std::string(content);
	}
	std::uint32_t word = length_word(content.size() + 4);
	if (form == header::compressed)
		word |= little ? 0x02 : 0x40000000;
	return std::string(reinterpret_cast<const char *>(&word), 4) + std::string(content);
}

// Elements as they are stored, nullopt for null.
std::string packed(const std::vector<std::int32_t> &dims, std::uint32_t type,
	const std::vector<std::optional<std::string>> &elements, std::size_t align)
{
	std::string bytes(16 + 8 * dims.size(), '\0');
	for (std::size_t i = 0; i < dims.size(); i++) {
		put_32(bytes, 16 + 4 * i, static_cast<std::uint32_t>(dims[i]));
		put_32(bytes, 16 + 4 * (dims.size() + i), 1);
	}
	bool nulls = false;
	for (const auto &element : elements)
		nulls = nulls || !element.has_value();
	if (nulls) {
		const std::size_t bitmap = bytes.size();
		bytes.resize(bitmap + (elements.size() + 7) / 8);
		for (std::size_t i = 0; i < elements.size(); i++) {
			if (elements[i].has_value())
				bytes[bitmap + i / 8] = static_cast<char>(bytes[bitmap + i / 8] | 1 << i % 8);
		}
	}
	bytes.resize((bytes.size() + 7) / 8 * 8);
	put_32(bytes, 4, static_cast<std::uint32_t>(dims.size()));
	put_32(bytes, 8, nulls ? static_cast<std::uint32_t>(bytes.size()) : 0);
	put_32(bytes, 12, type);
	for (const auto &element : elements) {
		if (element.has_value()) {
			bytes += *element;
			bytes.resize((bytes.size() + align - 1) / align * align);
		}
	}
	put_32(bytes, 0, length_word(bytes.size()));
	return bytes;
}

// "1 null [compressed]" and so on, then "end" or "malformed".
std::string listed(std::string_view bytes, std::int16_t typlen, char typalign)
{
	const exact_copy copy(bytes);
	array_binary_reader array(copy.data(), bytes.size(), typlen, typalign);
	std::string list;
	for (;;) {
		std::string_view element;
		switch (array.next(element)) {
		case array_item::value:
			list += std::string(element) + ' ';
			break;
		case array_item::null:
			list += "null ";
			break;
		case array_item::compressed:
			list += "[compressed] ";
			break;
		case array_item::end:
			EXPECT_EQ(array.next(element), array_item::end);
			return list + "end";
		case array_item::malformed:
			EXPECT_TRUE(array.malformed());
			EXPECT_EQ(array.next(element), array_item::malformed);
			return list + "malformed";
		}
	}
}

std::int32_t as_int(std::string_view bytes)
{
	std::int32_t value = -1;
	EXPECT_EQ(bytes.size(), sizeof value);
	std::memcpy(&value, bytes.data(), sizeof value);
	return value;
}

// From PostgreSQL 15.20, with the length word in its four-byte form.
TEST(array_binary, of_the_server)
{
	if (!little)
		GTEST_SKIP();
	// '[0:1][2:3]={{1,NULL},{3,4}}'::int[]
	const std::string ints = from_hex("d0000000020000002800000017000000020000000200000000000000"
									  "020000000d00000000000000010000000300000004000000");
	const exact_copy copy(ints);
	array_binary_reader array(copy.data(), ints.size(), 4, 'i');
	ASSERT_FALSE(array.malformed());
	EXPECT_EQ(array.ndim(), 2);
	EXPECT_EQ(array.dims()[0], 2);
	EXPECT_EQ(array.dims()[1], 2);
	EXPECT_EQ(array.count(), 4U);
	EXPECT_EQ(array.element_type(), 23U);
	std::string_view element;
	EXPECT_EQ(array.next(element), array_item::value);
	EXPECT_EQ(as_int(element), 1);
	EXPECT_EQ(array.next(element), array_item::null);
	EXPECT_EQ(array.next(element), array_item::value);
	EXPECT_EQ(as_int(element), 3);
	EXPECT_EQ(array.next(element), array_item::value);
	EXPECT_EQ(as_int(element), 4);
	EXPECT_EQ(array.next(element), array_item::end);

	// array['a','bcd',null,'']::text[]
	const std::string texts = from_hex("d000000001000000200000001900000004000000010000000b000000"
									   "0000000014000000610000001c0000006263640010000000");
	EXPECT_EQ(listed(texts, -1, 'i'), "a bcd null  end");
	// '{}'::int2[]
	EXPECT_EQ(listed(from_hex("40000000000000000000000015000000"), 2, 's'), "end");
}

TEST(array_binary, lengths_of_elements)
{
	EXPECT_EQ(listed(packed({3}, 1, {"a", std::nullopt, "b"}, 1), 1, 'c'), "a null b end");
	EXPECT_EQ(listed(packed({2}, 1, {"ab", "cd"}, 2), 2, 's'), "ab cd end");
	EXPECT_EQ(listed(packed({2}, 1, {"abcdefgh", "ijklmnop"}, 8), 8, 'd'), "abcdefgh ijklmnop end");
	EXPECT_EQ(listed(packed({2}, 1, {"abcdef", "ghijkl"}, 4), 6, 'i'), "abcdef ghijkl end");
	const std::string first("one\0", 4), second("\0", 1);
	EXPECT_EQ(listed(packed({2}, 1, {first, second}, 1), -2, 'c'), "one  end");
	EXPECT_EQ(listed(packed({4}, 1,
						 {varlena("plain", header::plain), varlena("brief", header::brief),
							 varlena("12345678", header::compressed), varlena("", header::brief)},
						 4),
				  -1, 'i'),
		"plain brief [compressed]  end");
}

TEST(array_binary, nothing_in_it)
{
	EXPECT_EQ(listed(packed({}, 23, {}, 4), 4, 'i'), "end");
	EXPECT_EQ(listed(packed({0}, 23, {}, 4), 4, 'i'), "end");
	EXPECT_EQ(listed(packed({2}, 23, {std::nullopt, std::nullopt}, 4), 4, 'i'), "null null end");
}

TEST(array_binary, malformed)
{
	const std::string good = packed({2}, 23, {"abcd", std::nullopt}, 4);
	ASSERT_EQ(listed(good, 4, 'i'), "abcd null end");
	const auto with = [&](std::size_t at, std::uint32_t value) {
		std::string bytes = good;
		put_32(bytes, at, value);
		return listed(bytes, 4, 'i');
	};
	EXPECT_EQ(with(0, length_word(good.size() + 1)), "malformed");
	EXPECT_EQ(with(0, length_word(8)), "malformed");
	EXPECT_EQ(with(0, 0), "malformed");
	EXPECT_EQ(with(0, UINT32_MAX), "malformed");
	EXPECT_EQ(with(4, 7), "malformed");
	EXPECT_EQ(with(4, UINT32_MAX), "malformed");
	EXPECT_EQ(with(4, 6), "malformed");
	EXPECT_EQ(with(8, 24), "malformed");
	EXPECT_EQ(with(8, 30), "malformed");
	EXPECT_EQ(with(8, UINT32_MAX), "malformed");
	EXPECT_EQ(with(16, UINT32_MAX), "malformed");
	EXPECT_EQ(with(16, INT32_MAX), "malformed");
	EXPECT_EQ(with(16, 1000), "malformed");
	EXPECT_EQ(listed("", 4, 'i'), "malformed");
	EXPECT_EQ(listed(good.substr(0, 15), 4, 'i'), "malformed");
	EXPECT_EQ(listed(good, 0, 'i'), "malformed");
	EXPECT_EQ(listed(good, -3, 'i'), "malformed");
	EXPECT_EQ(listed(good, 4, 'x'), "malformed");
	EXPECT_EQ(listed(good, 5, 'i'), "malformed");

	const std::string two =
		packed({2}, 25, {varlena("a", header::plain), varlena("b", header::plain)}, 4);
	std::string bytes = two;
	put_32(bytes, 24, length_word(3));
	EXPECT_EQ(listed(bytes, -1, 'i'), "malformed");
	bytes = two;
	put_32(bytes, 32, length_word(9));
	EXPECT_EQ(listed(bytes, -1, 'i'), "a malformed");
	bytes[32] = little ? '\x01' : '\x80'; // stored elsewhere
	EXPECT_EQ(listed(bytes, -1, 'i'), "a malformed");
	EXPECT_EQ(listed(packed({1}, 1, {"no end"}, 1), -2, 'c'), "malformed");
}

TEST(array_binary, never_reads_beyond_its_end)
{
	random_source random(13);
	for (int i = 0; i < 20000; i++) {
		std::vector<std::optional<std::string>> elements;
		const std::size_t n = random.below(12);
		for (std::size_t k = 0; k < n; k++) {
			if (random.one_in(4))
				elements.emplace_back();
			else
				elements.push_back(
					varlena(random.bytes(random.below(10)), static_cast<header>(random.below(3))));
		}
		std::string bytes = packed({static_cast<std::int32_t>(n)}, 25, elements, 4);
		if (random.one_in(2))
			bytes[random.below(bytes.size())] = static_cast<char>(random.bits());
		if (random.one_in(2))
			bytes.resize(random.below(bytes.size() + 1));
		const std::int16_t typlens[] = {-2, -1, -1, -1, 1, 4, 8, 100};
		listed(bytes, typlens[random.below(std::size(typlens))], "csid"[random.below(4)]);
	}
}

TEST(array_binary, random_ones)
{
	random_source random(14);
	for (int i = 0; i < 5000; i++) {
		const std::int32_t rows = static_cast<std::int32_t>(1 + random.below(5));
		const std::int32_t columns = static_cast<std::int32_t>(1 + random.below(5));
		std::vector<std::optional<std::string>> elements;
		std::string expected;
		for (std::int32_t k = 0; k < rows * columns; k++) {
			if (random.one_in(5)) {
				elements.emplace_back();
				expected += "null ";
				continue;
			}
			const std::string content = random.bytes(random.below(40));
			elements.push_back(varlena(content, random.one_in(2) ? header::plain : header::brief));
			expected += content + ' ';
		}
		ASSERT_EQ(listed(packed({rows, columns}, 25, elements, 4), -1, 'i'), expected + "end");
	}
}

} // namespace
