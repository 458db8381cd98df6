// The half of reorder_logs that reads a log back.
#include "reorder/reorder_logs.h"

#include <cstring>
#include <limits>

namespace cpp_output
{

namespace
{
constexpr CpoLsn everything = std::numeric_limits<CpoLsn>::max();
} // namespace

void reorder_logs::start_replay(CpoXid xid)
{
	change_log *log = find(xid);
	if (!log || replay_.log)
		throw reorder_misuse("a replay of an unknown transaction, or during another one");
	forget_request_for(*log);
	// what is about to be sent is not worth writing out any more
	by_memory_.erase(by_memory_.iterator_to(*log));
	log->replaying = true;
	replay_.log = log;
}

reorder_logs::step reorder_logs::replay_next(replayed &message, io_request &request)
{
	if (!replay_.log)
		throw reorder_misuse("no log is being replayed");
	for (;;) {
		if (replay_.reading)
			take_block();
		if (next_record(message))
			return step::record;
		leave_chunk();

		change_log &log = *replay_.log;
		if (replay_.next_block < log.blocks().size()) {
			request = ask_for_block();
			return step::io;
		}
		replay_.buffer.reset();
		replay_.current = log.oldest_chunk();
		replay_.reach = everything;
		if (!replay_.current) {
			remove(log);
			return step::done;
		}
	}
}

// All the memory that take_block() needs is found here, where the caller can still try again.
io_request reorder_logs::ask_for_block()
{
	const change_log &log = *replay_.log;
	const spilled_block &block = log.blocks()[replay_.next_block];
	if (!replay_.buffer || replay_.buffer->capacity < block.raw) {
		replay_.buffer.reset();
		replay_.buffer = pool_.take(block.raw);
	}
	char *to = block.stored < block.raw ? codec_.stage(block.stored) : replay_.buffer->data();
	replay_.reading = true;
	return {io_request::kind::read, log.xid, log.file->number, replay_.offset, to, block.stored};
}

void reorder_logs::take_block()
{
	const spilled_block &block = replay_.log->blocks()[replay_.next_block];
	if (block.stored < block.raw)
		codec_.decode(block.stored, {replay_.buffer->data(), block.raw});
	replay_.buffer->used = block.raw;
	replay_.current = replay_.buffer.get();
	replay_.reach = block.reach;
	replay_.reading = false;
	replay_.offset += block.stored;
	++replay_.next_block;
}

bool reorder_logs::next_record(replayed &message)
{
	while (replay_.current && replay_.position != replay_.current->used) {
		const std::size_t left = replay_.current->used - replay_.position;
		char *at = replay_.current->data() + replay_.position;
		record_header header;
		if (left < sizeof header)
			throw spill_corrupted("a temporary file's block ends within a record");
		std::memcpy(&header, at, sizeof header);
		if (record_size(header.len) > left)
			throw spill_corrupted("a temporary file's block ends within a record");
		replay_.position += record_size(header.len);
		if (header.place <= replay_.reach) {
			message = {header.lsn, header.gap, header.flags, at + sizeof header, header.len};
			return true;
		}
	}
	return false;
}

void reorder_logs::leave_chunk() noexcept
{
	if (replay_.current && replay_.current != replay_.buffer.get()) {
		const footprint before = footprint_of(*replay_.log);
		replay_.log->drop_oldest_chunk();
		settle(*replay_.log, before);
	}
	replay_.current = nullptr;
	replay_.position = 0;
}

} // namespace cpp_output
