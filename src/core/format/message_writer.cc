#include "format/message_writer.h"

#include "format/format.h"

#include <stdexcept>

namespace cpp_output
{

byte_buffer &message_writer::open(CpoLsn lsn)
{
	buffer_.commit(buffer_.reserve(CPO_HEADROOM) + CPO_HEADROOM);
	start_ = buffer_.size();
	buffer_.set_limit(start_ + message_limit_);
	gap_ = no_late_text;
	column_ = no_column;
	lsn_ = lsn;
	return buffer_;
}

void message_writer::late()
{
	if (transaction_->complete) {
		format_->late_text(buffer_, *transaction_, !transaction_->late_text_written);
		transaction_->late_text_written = true;
	} else {
		gap_ = static_cast<std::uint32_t>(buffer_.size() - start_);
	}
}

void message_writer::finish(bool more, bool last)
{
	// What was reserved before the limit was set is not checked by the buffer.
	if (buffer_.size() - start_ > message_limit_)
		throw std::length_error("message_writer");
	messages_.push_back({start_, buffer_.size() - start_, lsn_, gap_, more, last});
	column_ = no_column;
}

void message_writer::clear() noexcept
{
	messages_.clear();
	buffer_.shrink();
}

} // namespace cpp_output
