/*
 * A plain model of reorder_logs, and a driver that takes both through the same events and
 * compares them. What happens next is asked of a source of decisions: random numbers in the
 * tests, the input in the fuzzer. The first difference is thrown as a model_mismatch.
 */
#pragma once

#include "reorder/reorder_logs.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace cpp_output::model
{

class model_mismatch : public std::runtime_error
{
public:
	using std::runtime_error::runtime_error;
};

inline void require(bool holds, const char *what)
{
	if (!holds)
		throw model_mismatch(what);
}

class decisions
{
public:
	virtual ~decisions() = default;
	virtual std::uint32_t below(std::uint32_t limit) = 0; // limit > 0
	bool one_in(std::uint32_t n) { return below(n) == n - 1; }
};

// Counts, and refuses the allocations that it is told to.
class counting_memory final : public std::pmr::memory_resource
{
public:
	std::uint64_t allocations = 0;
	std::uint64_t fail_at = 0;	  // number of the allocation that fails, 0: none
	std::uint64_t fail_every = 0; // 0: never
	std::size_t in_use = 0;
	std::size_t peak = 0;

private:
	void *do_allocate(std::size_t bytes, std::size_t) override
	{
		++allocations;
		if (allocations == fail_at || (fail_every != 0 && allocations % fail_every == 0))
			throw std::bad_alloc();
		in_use += bytes;
		peak = std::max(peak, in_use);
		return std::malloc(bytes);
	}
	void do_deallocate(void *p, std::size_t bytes, std::size_t) override
	{
		in_use -= bytes;
		std::free(p);
	}
	bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override
	{
		return this == &other;
	}
};

// The temporary files as the shell would keep them.
class file_store
{
public:
	void perform(const io_request &request)
	{
		switch (request.what) {
		case io_request::kind::none:
			break;
		case io_request::kind::write: {
			require(!dropped_.contains(request.file), "a write to a file that was removed");
			const auto [owner, is_new] = owners_.try_emplace(request.file, request.xid);
			require(is_new || owner->second == request.xid, "two transactions share a file");
			std::string &file = files_[request.file];
			require(request.offset <= file.size(), "a write leaves a hole");
			if (file.size() < request.offset + request.len)
				file.resize(request.offset + request.len);
			std::memcpy(file.data() + request.offset, request.data, request.len);
			written += request.len;
			break;
		}
		case io_request::kind::read: {
			const auto file = files_.find(request.file);
			require(file != files_.end(), "a read of a file that is not there");
			require(owners_[request.file] == request.xid, "a read of another's file");
			require(request.offset + request.len <= file->second.size(), "a read past the end");
			std::memcpy(request.data, file->second.data() + request.offset, request.len);
			break;
		}
		case io_request::kind::drop:
			files_.erase(request.file);
			dropped_.insert(request.file);
			break;
		}
	}

	std::size_t count() const { return files_.size(); }
	std::uint64_t bytes() const
	{
		std::uint64_t sum = 0;
		for (const auto &[number, file] : files_)
			sum += file.size();
		return sum;
	}
	std::string &content(std::uint32_t number) { return files_.at(number); }

	std::uint64_t written = 0;

private:
	std::map<std::uint32_t, std::string> files_;
	std::map<std::uint32_t, CpoXid> owners_;
	std::set<std::uint32_t> dropped_;
};

class driver
{
public:
	driver(decisions &next, const reorder_logs::settings &how, counting_memory &memory)
		: next_(next), how_(how), memory_(memory), logs_(&memory, how, counters_)
	{
	}

	void step()
	{
		begin_event();
		switch (next_.below(16)) {
		case 0:
			begin();
			break;
		case 1:
			savepoint();
			break;
		case 2:
			release();
			break;
		case 3:
		case 4:
			rollback_to();
			break;
		case 5:
			cut_anywhere();
			break;
		case 6:
			if (next_.one_in(3))
				end_one(false);
			break;
		case 7:
			if (next_.one_in(2))
				end_one(true);
			break;
		case 8:
			misuse();
			break;
		default:
			write();
		}
		check();
		drain(true);
	}

	// Ends all transactions: nothing may be left of them.
	void finish()
	{
		begin_event();
		while (!model_.empty())
			replay(model_.begin()->first, false);
		drain(false);
		check();
		require(counters_.logs == 0, "a log is left");
		require(counters_.memory_bytes == 0, "memory is left");
		require(counters_.files == 0 && files_.count() == 0, "a file is left");
		require(counters_.file_bytes == 0, "bytes of a file are left");
	}

	CpoCounters counters() const { return counters_; }
	std::uint64_t failures() const { return failures_; }

private:
	struct message {
		CpoLsn lsn;
		std::uint32_t gap;
		std::uint8_t flags;
		std::string bytes;
		CpoLsn place = 0;
	};
	struct log {
		CpoLsn reach = 0;
		std::vector<message> messages;
		std::vector<CpoLsn> savepoints; // first LSN of each open subtransaction
		std::uint64_t writes = 0;		// acknowledged
	};

	// An operation that fails for want of memory leaves all as it was, and works when repeated.
	template <class F> auto retried(F operation, bool counters_stay = true)
	{
		for (;;) {
			const CpoCounters before = counters_;
			try {
				return operation();
			} catch (const std::bad_alloc &) {
				++failures_;
				require(!counters_stay || std::memcmp(&before, &counters_, sizeof before) == 0,
					"a failed operation left a trace");
			}
		}
	}

	log *pick(CpoXid &xid)
	{
		if (model_.empty())
			return nullptr;
		// mostly the same one for a while, as the server does it
		auto at = model_.find(current_);
		if (at == model_.end() || next_.one_in(4))
			at = std::next(model_.begin(), next_.below(static_cast<std::uint32_t>(model_.size())));
		xid = current_ = at->first;
		return &at->second;
	}

	void begin_event()
	{
		logs_.begin_event();
		request_ = {};
	}

	void begin()
	{
		if (model_.size() >= 6)
			return;
		const CpoXid xid = ++last_xid_;
		lsn_ += 8;
		retried([&] { logs_.open(xid); });
		logs_.open(xid); // known already
		model_[xid];
		current_ = xid;
	}

	std::string some_bytes()
	{
		std::size_t len = next_.below(120);
		if (next_.one_in(24))
			len = next_.below(static_cast<std::uint32_t>(3 * how_.chunk_size));
		std::string bytes(len, static_cast<char>('a' + next_.below(26)));
		if (next_.one_in(2)) {
			std::uint32_t state = next_.below(1u << 16) + 1;
			for (char &c : bytes)
				c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
		}
		return bytes;
	}

	void write()
	{
		CpoXid xid;
		log *to = pick(xid);
		if (!to)
			return begin();
		for (std::uint32_t n = 1 + next_.below(12); n > 0; --n) {
			lsn_ += next_.below(3);
			const CpoLsn step_back = next_.one_in(8) ? next_.below(4) : 0;
			message m{lsn_ - step_back, next_.one_in(4) ? next_.below(1000) : UINT32_MAX,
				static_cast<std::uint8_t>(next_.below(256)), some_bytes()};
			// a write that is outstanding, carried out or not, is void once its log changes
			if (next_.one_in(16)) {
				has_left_ = true;
				retried([&] { return next_io(); }, false);
				if (request_.xid != xid || next_.one_in(2))
					files_.perform(request_);
			}
			m.place = m.lsn - next_.below(2);
			retried([&] { logs_.append(xid, {m.lsn, m.gap, m.flags, m.bytes, m.place}); });
			if (request_.what == io_request::kind::write && request_.xid == xid)
				request_ = {};
			to->reach = std::max(to->reach, m.place);
			to->messages.push_back(std::move(m));
			if (next_.one_in(2))
				drain(true);
		}
	}

	void savepoint()
	{
		CpoXid xid;
		if (log *at = pick(xid)) {
			lsn_ += 1 + next_.below(2);
			at->savepoints.push_back(lsn_);
		}
	}

	void release()
	{
		CpoXid xid;
		log *at = pick(xid);
		if (at && !at->savepoints.empty())
			at->savepoints.pop_back();
	}

	// The server tells of the descendants first, in the order in which they began.
	void rollback_to()
	{
		CpoXid xid;
		log *at = pick(xid);
		if (!at || at->savepoints.empty())
			return;
		const std::size_t depth = next_.below(static_cast<std::uint32_t>(at->savepoints.size()));
		for (std::size_t i = depth + 1; i < at->savepoints.size(); ++i)
			cut(xid, *at, at->savepoints[i]);
		cut(xid, *at, at->savepoints[depth]);
		at->savepoints.resize(depth);
		lsn_ += 1;
	}

	void cut_anywhere()
	{
		CpoXid xid;
		log *at = pick(xid);
		if (!at)
			return;
		const CpoLsn reach = std::min<CpoLsn>(lsn_ + 2, next_.one_in(4) ? 1u << 20 : 40);
		cut(xid, *at, lsn_ + 2 - next_.below(static_cast<std::uint32_t>(reach)));
	}

	void cut(CpoXid xid, log &at, CpoLsn from)
	{
		logs_.cut(xid, from);
		if (!at.messages.empty() && from <= at.reach) {
			++discarded_subtransactions_;
			at.reach = from - (from != 0);
		}
		std::erase_if(at.messages, [from](const message &m) { return m.place >= from; });
	}

	void end_one(bool commit)
	{
		CpoXid xid;
		if (!pick(xid))
			return;
		if (commit)
			return replay(xid, true);
		logs_.drop(xid);
		++discarded_transactions_;
		model_.erase(xid);
	}

	void replay(CpoXid xid, bool may_leave)
	{
		const bool leaves = may_leave && next_.one_in(4);
		const log &expected = model_.at(xid);
		std::size_t at = 0;
		logs_.start_replay(xid);
		in_replay_ = true;
		for (;;) {
			replayed got;
			io_request request;
			const auto step = retried([&] { return logs_.replay_next(got, request); }, false);
			if (leaves && next_.one_in(8)) {
				if (step == reorder_logs::step::record && next_.one_in(2))
					logs_.drop(xid);
				begin_event();
				break;
			}
			if (step == reorder_logs::step::done) {
				require(at == expected.messages.size(), "messages are missing");
				break;
			}
			if (step == reorder_logs::step::io) {
				require(request.what == io_request::kind::read, "not a read");
				files_.perform(request);
				if (next_.one_in(8))
					drain(false);
				continue;
			}
			require(at < expected.messages.size(), "a message too many");
			const message &m = expected.messages[at++];
			require(got.lsn == m.lsn && got.gap == m.gap && got.flags == m.flags,
				"a message's facts differ");
			require(std::string_view(got.data, got.len) == m.bytes, "a message's bytes differ");
			std::memset(got.data - CPO_HEADROOM, 0xee, CPO_HEADROOM + got.len);
			if (next_.one_in(16))
				drain(false);
		}
		in_replay_ = false;
		model_.erase(xid);
	}

	void misuse()
	{
		const record any{lsn_, 0, 0, "x"};
		require(refused([&] { logs_.append(last_xid_ + 1, any); }), "no log, but an append");
		require(refused([&] { logs_.start_replay(last_xid_ + 1); }), "no log, but a replay");
		logs_.cut(last_xid_ + 1, 0);
		logs_.drop(last_xid_ + 1);
	}

	template <class F> static bool refused(F operation)
	{
		try {
			operation();
			return false;
		} catch (const reorder_misuse &) {
			return true;
		}
	}

	// Carries out what the engine asks for, or leaves in the middle, before or after the deed.
	void drain(bool may_leave)
	{
		const bool leaves = may_leave && next_.one_in(6);
		for (;;) {
			// next_io() acknowledges before it can fail
			const io_request request = retried([&] { return next_io(); }, false);
			if (request.what == io_request::kind::none)
				break;
			require(request.what != io_request::kind::read, "a read without a replay");
			const bool leave = leaves && next_.one_in(3);
			if (leave)
				has_left_ = true;
			if (!leave || next_.one_in(2))
				files_.perform(request);
			if (leave)
				return begin_event();
		}
		check_bounds();
	}

	io_request next_io()
	{
		if (request_.what == io_request::kind::write) {
			++spill_writes_;
			spilled_bytes_ += request_.len;
			if (const auto at = model_.find(request_.xid); at != model_.end())
				spilled_transactions_ += at->second.writes++ == 0;
		}
		request_ = {};
		return request_ = logs_.next_io();
	}

	void check() const
	{
		require(counters_.logs == model_.size(), "logs");
		require(counters_.discarded_transactions == discarded_transactions_, "discarded");
		require(
			counters_.discarded_subtransactions == discarded_subtransactions_, "discarded parts");
		require(counters_.spill_writes == spill_writes_, "spill_writes");
		require(counters_.spilled_transactions == spilled_transactions_, "spilled_transactions");
		require(how_.spill_compression == compression::off
					? counters_.spilled_bytes == spilled_bytes_
					: counters_.spilled_bytes >= spilled_bytes_,
			"spilled_bytes");
	}

	// What holds once the engine asks for nothing more.
	void check_bounds() const
	{
		// where the driver left after a write, or before it, the engine cannot know which
		require(has_left_ ? files_.count() <= counters_.files : files_.count() == counters_.files,
			"files");
		require(has_left_ || files_.bytes() == counters_.file_bytes, "file_bytes");

		std::size_t about_blocks = 0;
		for (const auto &[xid, log] : model_)
			if (log.writes != 0 || has_left_)
				about_blocks += std::max<std::size_t>(16, 2 * log.writes) * sizeof(spilled_block);
		if (!in_replay_)
			require(counters_.memory_bytes <= how_.memory_limit + about_blocks, "memory_bytes");
		require(counters_.memory_bytes <= memory_.in_use, "memory_bytes and real memory");
	}

	decisions &next_;
	reorder_logs::settings how_;
	counting_memory &memory_;
	CpoCounters counters_{};
	reorder_logs logs_;
	file_store files_;
	io_request request_; // not acknowledged yet
	bool in_replay_ = false;

	std::map<CpoXid, log> model_;
	CpoXid last_xid_ = 700;
	CpoXid current_ = 0;
	CpoLsn lsn_ = 1000;
	bool has_left_ = false;
	std::uint64_t failures_ = 0;
	std::uint64_t spill_writes_ = 0;
	std::uint64_t spilled_bytes_ = 0; // as stored
	std::uint64_t spilled_transactions_ = 0;
	std::uint64_t discarded_transactions_ = 0;
	std::uint64_t discarded_subtransactions_ = 0;
};

} // namespace cpp_output::model
