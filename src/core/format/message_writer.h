// Where formats write their messages, and the session picks them up.
#pragma once

#include "core.h"
#include "text/buffer.h"

#include <cstdint>
#include <memory_resource>
#include <vector>

namespace cpp_output
{

class format;
struct transaction;

constexpr std::uint32_t no_late_text = UINT32_MAX;

// A finished message, or a piece of one, in the writer's buffer.
struct message {
	std::size_t start; // of its first byte; CPO_HEADROOM bytes lie before
	std::size_t len;
	CpoLsn lsn;
	std::uint32_t gap; // offset in the message at which late text belongs, or no_late_text
	bool more;		   // the next piece continues this message
	bool last;		   // last_write of OutputPluginWrite
};

/*
 * Collects the messages of one event. A format calls open(), appends to the buffer that it gets,
 * and close(). Where facts belong that may be known at COMMIT only (the commit time, say), it
 * calls late(), once in a message: format::late_text() writes them, at once where the
 * transaction is complete, else when it is.
 */
class message_writer
{
public:
	message_writer(std::pmr::memory_resource *memory, std::size_t message_limit)
		: buffer_(memory), messages_(memory), message_limit_(message_limit)
	{
	}

	byte_buffer &open(CpoLsn lsn);
	void late();
	// Ends a message. `last` is false for one that is sent ahead of another in the same event.
	void close(bool last = true) { finish(false, last); }
	// Ends a piece of a message that goes on with the next one.
	void close_piece() { finish(true, true); }

	// Whose messages follow: late() asks these.
	void belongs_to(const format &writing, transaction &txn) noexcept
	{
		format_ = &writing;
		transaction_ = &txn;
	}

	// Says which column is being written, for the error about a message that is too long.
	void at_column(std::size_t index) noexcept { column_ = index; }
	std::size_t column() const noexcept { return column_; }
	static constexpr std::size_t no_column = SIZE_MAX;

	std::size_t message_limit() const noexcept { return message_limit_; }
	const std::pmr::vector<message> &messages() const noexcept { return messages_; }
	char *data(const message &m) noexcept { return buffer_.data() + m.start; }
	void clear() noexcept;

private:
	void finish(bool more, bool last);

	byte_buffer buffer_;
	std::pmr::vector<message> messages_;
	std::size_t message_limit_;
	std::size_t start_ = 0;
	std::size_t column_ = no_column;
	CpoLsn lsn_ = 0;
	std::uint32_t gap_ = no_late_text;
	const format *format_ = nullptr;
	transaction *transaction_ = nullptr;
};

} // namespace cpp_output
