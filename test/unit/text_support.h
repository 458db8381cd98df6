// What the tests of src/core/text share.
#pragma once

#include "text/buffer.h"

#include <cstdint>
#include <cstdio>
#include <memory>
#include <memory_resource>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cpp_output::test
{

// A copy in memory of its own and of exactly its size, so that ASan sees each read beyond it.
class exact_copy
{
public:
	explicit exact_copy(std::string_view text, std::size_t offset = 0)
		: bytes_(std::make_unique<char[]>(text.size() + offset)), size_(text.size()),
		  offset_(offset)
	{
		text.copy(bytes_.get() + offset, text.size());
	}
	const char *data() const { return bytes_.get() + offset_; }
	std::string_view view() const { return {data(), size_}; }

private:
	std::unique_ptr<char[]> bytes_;
	std::size_t size_;
	std::size_t offset_;
};

// What a fixed-size writer writes into memory of exactly `max` bytes.
template <typename Writer> std::string written(std::size_t max, Writer write)
{
	const auto out = std::make_unique<char[]>(max);
	const char *const end = write(out.get());
	return {out.get(), static_cast<std::size_t>(end - out.get())};
}

// What an appender appends to a buffer that has content already.
template <typename Appender> std::string appended(Appender append)
{
	byte_buffer out(std::pmr::new_delete_resource());
	out.append("before");
	append(out);
	const std::string result(out.view());
	EXPECT_EQ(result.substr(0, 6), "before");
	return result.substr(6);
}

/*
 * The same in a buffer that has no byte more than what the appender asks for,
 * so that ASan sees each store beyond it. Slow: tries every limit.
 */
template <typename Appender> std::string appended_tightly(Appender append)
{
	const std::string before(256, '-');
	for (std::size_t limit = before.size();; limit++) {
		byte_buffer out(std::pmr::new_delete_resource());
		out.append(before);
		out.set_limit(limit);
		try {
			append(out);
		} catch (const std::length_error &) {
			continue;
		}
		return std::string(out.view().substr(before.size()));
	}
}

class random_source
{
public:
	explicit random_source(std::uint64_t seed) : engine_(seed) {}

	// 0 to n - 1
	std::uint64_t below(std::uint64_t n) { return engine_() % n; }
	std::uint64_t bits() { return engine_(); }
	bool one_in(std::uint64_t n) { return below(n) == 0; }
	// As many values of each number of bits.
	std::int64_t integer()
	{
		const std::uint64_t value = engine_() >> below(64);
		return static_cast<std::int64_t>(one_in(2) ? value : 0 - value);
	}
	std::string bytes(std::size_t n)
	{
		std::string text(n, '\0');
		for (char &c : text)
			c = static_cast<char>(engine_());
		return text;
	}
	// Text in which most characters are plain, some are from `odd`, some are random.
	std::string text(std::size_t n, std::string_view odd, unsigned rarity)
	{
		std::string text;
		while (text.size() < n) {
			if (!one_in(rarity))
				text += static_cast<char>('a' + below(26));
			else if (one_in(2))
				text += odd[below(odd.size())];
			else
				text += random_character();
		}
		return text;
	}
	// Anything: a character of UTF-8, a part of one, a control, a random byte.
	std::string random_character()
	{
		static constexpr std::string_view samples[] = {"\xc3\xa9", "\xe2\x82\xac",
			"\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xed\xa0\x80", "\xee\x80\x80", "\xf4\x8f\xbf\xbf",
			"\xf4\x90\x80\x80", "\xc0\x80", "\xc1\xbf", "\xc2\x80", "\xe0\x80\x80", "\xe0\xa0\x80",
			"\xf0\x80\x80\x80", "\xf0\x90\x80\x80", "\xef\xbf\xbd", "\xe2\x82", "\xf0\x9f\x98",
			"\x80", "\xff", "\xfe", "\xf5", "\x1f", "\x7f", "\x01"};
		if (one_in(3))
			return std::string(1, static_cast<char>(engine_()));
		return std::string(samples[below(std::size(samples))]);
	}

private:
	std::mt19937_64 engine_;
};

inline std::string from_hex(std::string_view hex)
{
	const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
	std::string bytes;
	for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
		bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
	return bytes;
}

} // namespace cpp_output::test
