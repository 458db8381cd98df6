// The fuzzer's bytes as a source of decisions, and what is made of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace cpp_output::fuzz
{

class input
{
public:
	input(const std::uint8_t *data, std::size_t len) : at_(data), end_(data + len) {}

	bool more() const { return at_ != end_; }
	std::uint8_t byte() { return at_ == end_ ? 0 : *at_++; }
	std::uint32_t below(std::uint32_t limit) { return limit <= 1 ? 0 : byte() % limit; }
	bool flip() { return (byte() & 1) != 0; }
	std::uint64_t bits()
	{
		std::uint64_t value = 0;
		for (unsigned n = below(9); n > 0; --n)
			value = value << 8 | byte();
		return value;
	}

	// Any bytes; now and then long ones, at no cost of input.
	std::string bytes(std::size_t most = 40)
	{
		std::string text;
		const std::size_t length = byte() % (most + 1);
		while (text.size() < length && more())
			text.push_back(static_cast<char>(byte()));
		if (length > most - most / 16 && !text.empty())
			while (text.size() < 3000)
				text += text;
		return text;
	}

	// UTF-8 without NUL, as in a server's text.
	std::string text(std::size_t most = 40)
	{
		std::string result;
		for (const unsigned char c : bytes(most)) {
			if (c == 0)
				result += "\xf0\x9f\xa6\x8a";
			else if (c < 0x80)
				result.push_back(static_cast<char>(c));
			else if (c < 0xc0)
				(result += '\xc3').push_back(static_cast<char>(c));
			else if (c < 0xe0)
				(result += "\xe6\x97").push_back(static_cast<char>(c & 0xbf));
			else
				result += c & 1 ? "\xef\xbf\xbf" : "\xed\x9f\xbf";
		}
		return result;
	}

private:
	const std::uint8_t *at_;
	const std::uint8_t *end_;
};

} // namespace cpp_output::fuzz
