#include "text/array_text.h"

#include "text/simd.h"

namespace cpp_output
{

namespace
{

// The first quote or backslash from `at` on, or end.
const char *find_quote_or_backslash(const char *at, const char *end)
{
	for (; end - at >= static_cast<std::ptrdiff_t>(vector_block::size); at += vector_block::size) {
		const vector_block block = vector_block::load(at);
		const auto marks = (block.equal('"') | block.equal('\\')).marks();
		if (marks != 0)
			return at + vector_block::first(marks);
	}
	while (at < end && *at != '"' && *at != '\\')
		at++;
	return at;
}

std::string_view between(const char *from, const char *to)
{
	return {from, static_cast<std::size_t>(to - from)};
}

/*
 * Reads a quoted text from behind its first quote to behind its last one,
 * which `at` is moved to. A backslash stands before a character that is meant
 * as such; so does a quote before another, if quotes are `doubled`. False if
 * the text has no end.
 */
bool read_quoted(
	const char *&at, const char *end, bool doubled, std::string_view &text, byte_buffer &scratch)
{
	const char *from = at;
	bool unescaped = false;
	for (;;) {
		at = find_quote_or_backslash(at, end);
		if (at == end)
			return false;
		const bool escape = *at == '\\' || (doubled && end - at >= 2 && at[1] == '"');
		if (!escape)
			break;
		if (end - at < 2)
			return false;
		if (!unescaped)
			scratch.clear();
		unescaped = true;
		scratch.append(between(from, at));
		from = at + 1;
		at += 2;
	}
	text = between(from, at++);
	if (unescaped) {
		scratch.append(text);
		text = scratch.view();
	}
	return true;
}

bool is_null_word(std::string_view text)
{
	constexpr std::string_view word = "null";
	if (text.size() != word.size())
		return false;
	for (std::size_t i = 0; i < word.size(); i++) {
		if ((text[i] | 0x20) != word[i])
			return false;
	}
	return true;
}

} // namespace

array_text_reader::array_text_reader(std::string_view text, char delimiter) noexcept
	: at_(text.data()), end_(text.data() + text.size()), delimiter_(delimiter)
{
	// lower bounds other than 1: "[0:2][5:6]="
	if (at_ == end_ || *at_ != '[')
		return;
	while (at_ != end_ && *at_ != '=') {
		constexpr std::string_view allowed = "[]:+-0123456789";
		if (allowed.find(*at_) == std::string_view::npos)
			break;
		at_++;
	}
	if (at_ == end_ || *at_ != '=')
		state_ = state::failed;
	else
		at_++;
}

text_event array_text_reader::fail() noexcept
{
	state_ = state::failed;
	return text_event::malformed;
}

text_event array_text_reader::next(std::string_view &element, byte_buffer &scratch)
{
	element = {};
	if (state_ == state::failed)
		return text_event::malformed;

	if (state_ == state::after_item) {
		if (depth_ == 0)
			return at_ == end_ ? text_event::end : fail();
		if (at_ == end_)
			return fail();
		// a delimiter is never a brace
		if (*at_ == delimiter_) {
			at_++;
			state_ = state::after_delimiter;
		} else if (*at_ != '}') {
			return fail();
		}
	}
	if (at_ == end_)
		return fail();
	if (*at_ == '{') {
		at_++;
		depth_++;
		state_ = state::first;
		return text_event::open;
	}
	if (*at_ == '}' && (state_ == state::first || state_ == state::after_item)) {
		at_++;
		depth_--;
		state_ = state::after_item;
		return text_event::close;
	}
	if (state_ == state::start)
		return fail();
	return read_element(element, scratch);
}

text_event array_text_reader::read_element(std::string_view &element, byte_buffer &scratch)
{
	if (*at_ == '"') {
		at_++;
		if (!read_quoted(at_, end_, false, element, scratch))
			return fail();
		state_ = state::after_item;
		return text_event::element;
	}

	const char *const from = at_;
	while (at_ != end_ && *at_ != delimiter_ && *at_ != '}') {
		// would have been quoted
		if (*at_ == '{' || *at_ == '"' || *at_ == '\\')
			return fail();
		at_++;
	}
	if (at_ == from || at_ == end_)
		return fail();
	state_ = state::after_item;
	element = between(from, at_);
	if (!is_null_word(element))
		return text_event::element;
	element = {};
	return text_event::null;
}

record_text_reader::record_text_reader(std::string_view text) noexcept
	: at_(text.data()), end_(text.data() + text.size())
{
}

text_event record_text_reader::fail() noexcept
{
	state_ = state::failed;
	return text_event::malformed;
}

text_event record_text_reader::next(std::string_view &element, byte_buffer &scratch)
{
	element = {};
	switch (state_) {
	case state::failed:
		return text_event::malformed;
	case state::closed:
		return at_ == end_ ? text_event::end : fail();
	case state::start:
		if (at_ == end_ || *at_ != '(')
			return fail();
		at_++;
		state_ = state::field;
		return text_event::open;
	case state::after_field:
		if (at_ == end_)
			return fail();
		if (*at_ == ')') {
			at_++;
			state_ = state::closed;
			return text_event::close;
		}
		if (*at_ != ',')
			return fail();
		at_++;
		break;
	case state::field:
		break;
	}

	if (at_ == end_)
		return fail();
	state_ = state::after_field;
	if (*at_ == '"') {
		at_++;
		return read_quoted(at_, end_, true, element, scratch) ? text_event::element : fail();
	}
	const char *const from = at_;
	while (at_ != end_ && *at_ != ',' && *at_ != ')') {
		// would have been quoted
		if (*at_ == '(' || *at_ == '"' || *at_ == '\\')
			return fail();
		at_++;
	}
	if (at_ == end_)
		return fail();
	if (at_ == from)
		return text_event::null;
	element = between(from, at_);
	return text_event::element;
}

} // namespace cpp_output
