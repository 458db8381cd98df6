/*
 * Arrays and rows in text, as array_out and record_out give them.
 *
 * Both readers hand out one event a call:
 *
 *		byte_buffer scratch(memory);
 *		std::string_view element;
 *		while ((event = reader.next(element, scratch)) != text_event::end &&
 *			   event != text_event::malformed)
 *			...
 *
 * An element's text is a part of the input, or, if it had escapes, of scratch,
 * which is then overwritten: it is valid until scratch is used again. Elements
 * that are arrays or rows themselves need a reader of their own, and a scratch
 * of their own. The input must outlive the reader.
 */
#pragma once

#include "text/buffer.h"

namespace cpp_output
{

enum class text_event {
	open,	 // of an array (each dimension) or a row
	close,	 // of the same
	element, // with its text
	null,
	end,	  // of the input, after the last close
	malformed // nothing follows
};

class array_text_reader
{
public:
	// delimiter is the element type's pg_type.typdelim
	explicit array_text_reader(std::string_view text, char delimiter = ',') noexcept;

	text_event next(std::string_view &element, byte_buffer &scratch);

	// How many opened braces are not closed yet.
	int depth() const noexcept { return depth_; }

private:
	enum class state { start, first, after_item, after_delimiter, failed };

	text_event fail() noexcept;
	text_event read_element(std::string_view &element, byte_buffer &scratch);

	const char *at_;
	const char *end_;
	char delimiter_;
	state state_ = state::start;
	int depth_ = 0;
};

/*
 * Events: open, then an element or null for each field, then close and end.
 * "()" reads as one null: a row without any columns has the same text as a row
 * of a single null.
 */
class record_text_reader
{
public:
	explicit record_text_reader(std::string_view text) noexcept;

	text_event next(std::string_view &element, byte_buffer &scratch);

private:
	enum class state { start, field, after_field, closed, failed };

	text_event fail() noexcept;

	const char *at_;
	const char *end_;
	state state_ = state::start;
};

} // namespace cpp_output
