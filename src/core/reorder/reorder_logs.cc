#include "reorder/reorder_logs.h"

#include <algorithm>
#include <new>

namespace cpp_output
{

namespace
{

constexpr std::size_t usual_chunk = 64 * 1024;
constexpr std::size_t most_spare_chunks = 16;

// A block's length has to fit in 32 bits.
constexpr std::size_t longest_record = std::size_t{1} << 31;

std::size_t chunk_size(const reorder_logs::settings &how) noexcept
{
	return how.chunk_size != 0 ? how.chunk_size : std::min(usual_chunk, how.memory_limit / 8);
}

std::size_t spare_chunks(const reorder_logs::settings &how) noexcept
{
	const std::size_t fit = how.memory_limit / 8 / std::max<std::size_t>(chunk_size(how), 1);
	return std::clamp<std::size_t>(fit, 1, most_spare_chunks);
}

} // namespace

reorder_logs::reorder_logs(
	std::pmr::memory_resource *memory, const settings &how, CpoCounters &counters)
	: memory_(memory), memory_limit_(how.memory_limit), counters_(counters),
	  pool_(memory, chunk_size(how), spare_chunks(how)), codec_(pool_, how.spill_compression),
	  logs_(memory)
{
}

reorder_logs::~reorder_logs()
{
	for (auto &[xid, log] : logs_)
		if (log.file)
			destroy(log.file);
	condemned_.clear_and_dispose([this](spill_file *file) { destroy(file); });
}

void reorder_logs::destroy(spill_file *file) noexcept
{
	std::pmr::polymorphic_allocator<spill_file>(memory_).delete_object(file);
}

change_log *reorder_logs::find(CpoXid xid) noexcept
{
	if (recent_ && recent_->xid == xid)
		return recent_;
	const auto found = logs_.find(xid);
	if (found == logs_.end())
		return nullptr;
	return recent_ = &found->second;
}

void reorder_logs::settle(change_log &log, footprint before) noexcept
{
	const footprint now = footprint_of(log);
	if (now.chunks != before.chunks) {
		chunk_bytes_ += now.chunks - before.chunks;
		// the key has changed already, but taking a node out compares nothing
		if (!log.replaying) {
			by_memory_.erase(by_memory_.iterator_to(log));
			by_memory_.insert(log);
		}
	}
	counters_.memory_bytes += (now.chunks + now.blocks) - (before.chunks + before.blocks);
}

// --- changes of logs ---------------------------------------------------------

void reorder_logs::open(CpoXid xid)
{
	const auto [place, is_new] = logs_.try_emplace(xid, pool_, memory_, xid);
	if (!is_new)
		return;
	by_memory_.insert(place->second);
	++counters_.logs;
}

void reorder_logs::append(CpoXid xid, const record &message)
{
	change_log *log = find(xid);
	if (!log || log->replaying)
		throw reorder_misuse("a message for a transaction whose log is not open");
	if (message.bytes.size() > longest_record)
		throw reorder_misuse("a message is too long");

	if (!log->has_room(message.bytes.size())) {
		chunk_pool::handle fresh = pool_.take(record_size(message.bytes.size()));
		const footprint before = footprint_of(*log);
		log->add_chunk(std::move(fresh));
		settle(*log, before);
	}
	forget_request_for(*log);
	log->put(message);
}

void reorder_logs::cut(CpoXid xid, CpoLsn from)
{
	change_log *log = find(xid);
	if (!log)
		return;
	if (log->replaying)
		throw reorder_misuse("a cut of a log that is being replayed");
	forget_request_for(*log);
	const footprint before = footprint_of(*log);
	if (log->cut(from, records_searched_))
		++counters_.discarded_subtransactions;
	settle(*log, before);
	if (log->empty())
		condemn_file(*log);
}

void reorder_logs::drop(CpoXid xid) noexcept
{
	change_log *log = find(xid);
	if (!log)
		return;
	if (!log->replaying)
		++counters_.discarded_transactions;
	remove(*log);
}

void reorder_logs::condemn_file(change_log &log) noexcept
{
	if (log.file)
		condemned_.push_back(*std::exchange(log.file, nullptr));
}

void reorder_logs::remove(change_log &log) noexcept
{
	forget_request_for(log);
	condemn_file(log);
	if (log.replaying) {
		replay_ = {};
		codec_.release();
	} else {
		by_memory_.erase(by_memory_.iterator_to(log));
	}
	chunk_bytes_ -= log.chunk_bytes();
	counters_.memory_bytes -= log.chunk_bytes() + log.block_bytes();
	--counters_.logs;
	if (recent_ == &log)
		recent_ = nullptr;
	logs_.erase(logs_.find(log.xid));
}

// --- spilling ----------------------------------------------------------------

io_request reorder_logs::next_io()
{
	acknowledge();
	if (!condemned_.empty()) {
		request_ = {io_request::kind::drop, 0, condemned_.front().number, 0, nullptr, 0};
	} else if (change_log *victim = choose_victim()) {
		request_ = write_of(*victim);
		request_log_ = victim;
	}
	return request_;
}

/*
 * What is kept about blocks stays in memory. Where that alone reaches the limit, spilling all
 * else would put every single record in a block of its own, and so need even more. So it drives
 * out full chunks only; those that still grow have to go when chunks alone are above the limit.
 * During a replay nothing grows, and the codec's buffer may be in use.
 */
change_log *reorder_logs::choose_victim() noexcept
{
	if (counters_.memory_bytes <= memory_limit_ || replay_.log || by_memory_.empty())
		return nullptr;
	change_log &largest = *by_memory_.rbegin();
	if (!largest.oldest_chunk())
		return nullptr;
	if (chunk_bytes_ > memory_limit_ || largest.has_full_chunk())
		return &largest;
	return nullptr;
}

io_request reorder_logs::write_of(change_log &log)
{
	chunk &c = *log.oldest_chunk();
	const footprint before = footprint_of(log);
	log.reserve_block();
	settle(log, before);

	std::span<char> stored = codec_.encode({c.data(), c.used});
	if (stored.empty())
		stored = {c.data(), c.used};
	if (!log.file) {
		log.file =
			std::pmr::polymorphic_allocator<spill_file>(memory_).new_object<spill_file>(next_file_);
		++next_file_;
		++counters_.files;
	}
	return {io_request::kind::write, log.xid, log.file->number, log.file_end(), stored.data(),
		stored.size()};
}

void reorder_logs::acknowledge() noexcept
{
	if (request_.what == io_request::kind::drop) {
		--counters_.files;
		counters_.file_bytes -= condemned_.front().size;
		condemned_.pop_front_and_dispose([this](spill_file *file) { destroy(file); });
	} else if (request_.what == io_request::kind::write) {
		change_log &log = *request_log_;
		++counters_.spill_writes;
		counters_.spilled_bytes += log.oldest_chunk()->used;
		if (!std::exchange(log.ever_spilled, true))
			++counters_.spilled_transactions;
		const footprint before = footprint_of(log);
		log.chunk_spilled(static_cast<std::uint32_t>(request_.len));
		settle(log, before);
		if (log.file_end() > log.file->size) {
			counters_.file_bytes += log.file_end() - log.file->size;
			log.file->size = log.file_end();
		}
	}
	forget_request();
}

void reorder_logs::forget_request() noexcept
{
	request_ = {};
	request_log_ = nullptr;
	if (!replay_.reading)
		codec_.release();
}

void reorder_logs::begin_event() noexcept
{
	forget_request();
	if (replay_.log)
		remove(*replay_.log);
}

} // namespace cpp_output
