// Is this a JSON text, by the letter of RFC 8259, in UTF-8, with surrogates in pairs?
#pragma once

#include <string_view>

namespace cpp_output::fuzz
{

class strict_json
{
public:
	static bool valid(std::string_view text)
	{
		strict_json parser(text);
		return parser.value(0) && parser.at_ == text.size();
	}

private:
	static constexpr int deepest = 500;

	explicit strict_json(std::string_view text) : text_(text) {}

	int peek() const { return at_ < text_.size() ? static_cast<unsigned char>(text_[at_]) : -1; }
	bool take(char c)
	{
		if (peek() != static_cast<unsigned char>(c))
			return false;
		++at_;
		return true;
	}
	void space()
	{
		while (take(' ') || take('\t'))
			;
	}
	bool word(std::string_view expected)
	{
		if (text_.substr(at_, expected.size()) != expected)
			return false;
		at_ += expected.size();
		return true;
	}
	bool digit() const { return peek() >= '0' && peek() <= '9'; }
	bool digits()
	{
		if (!digit())
			return false;
		while (digit())
			++at_;
		return true;
	}

	bool value(int depth)
	{
		if (depth > deepest)
			return false;
		space();
		bool good;
		switch (peek()) {
		case '{':
			good = list(depth, '{', '}');
			break;
		case '[':
			good = list(depth, '[', ']');
			break;
		case '"':
			good = string();
			break;
		case 't':
			good = word("true");
			break;
		case 'f':
			good = word("false");
			break;
		case 'n':
			good = word("null");
			break;
		default:
			good = number();
		}
		space();
		return good;
	}

	bool list(int depth, char open, char close)
	{
		take(open);
		space();
		if (take(close))
			return true;
		do {
			space();
			if (open == '{') {
				if (!string())
					return false;
				space();
				if (!take(':'))
					return false;
			}
			if (!value(depth + 1))
				return false;
		} while (take(','));
		return take(close);
	}

	bool number()
	{
		take('-');
		if (!take('0') && !digits())
			return false;
		if (take('.') && !digits())
			return false;
		if (take('e') || take('E')) {
			if (!take('+'))
				take('-');
			return digits();
		}
		return true;
	}

	bool string()
	{
		if (!take('"'))
			return false;
		while (!take('"')) {
			if (peek() < 0x20)
				return false;
			if (!(peek() == '\\' ? escape() : character()))
				return false;
		}
		return true;
	}

	int unit()
	{
		int result = 0;
		for (int i = 0; i < 4; ++i) {
			const int c = peek();
			int nibble;
			if (digit())
				nibble = c - '0';
			else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
				nibble = (c | 0x20) - 'a' + 10;
			else
				return -1;
			result = result << 4 | nibble;
			++at_;
		}
		return result;
	}

	bool escape()
	{
		take('\\');
		if (!take('u')) {
			if (peek() < 0 ||
				std::string_view("\"\\/bfnrt").find(text_[at_]) == std::string_view::npos)
				return false;
			++at_;
			return true;
		}
		const int first = unit();
		if (first < 0 || (first >= 0xdc00 && first < 0xe000))
			return false;
		if (first < 0xd800 || first >= 0xdc00)
			return true;
		if (!word("\\u"))
			return false;
		const int second = unit();
		return second >= 0xdc00 && second < 0xe000;
	}

	bool character()
	{
		const int first = peek();
		++at_;
		if (first < 0x80)
			return true;
		const int more = first >= 0xc2 && first < 0xe0	 ? 1
						 : first >= 0xe0 && first < 0xf0 ? 2
						 : first >= 0xf0 && first < 0xf5 ? 3
														 : 0;
		if (more == 0)
			return false;
		long point = first & (0x3f >> more);
		for (int i = 0; i < more; ++i) {
			if (peek() < 0x80 || peek() >= 0xc0)
				return false;
			point = point << 6 | (peek() & 0x3f);
			++at_;
		}
		constexpr long least[] = {0, 0x80, 0x800, 0x10000};
		return point >= least[more] && point < 0x110000 && (point < 0xd800 || point >= 0xe000);
	}

	std::string_view text_;
	std::size_t at_ = 0;
};

} // namespace cpp_output::fuzz
