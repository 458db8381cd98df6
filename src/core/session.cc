#include "session.h"

#include "error.h"

#include <algorithm>
#include <utility>

using namespace cpp_output;

namespace
{

// Flags of a record in a log.
constexpr std::uint8_t record_more = 1;	 // message::more
constexpr std::uint8_t record_last = 2;	 // message::last
constexpr std::uint8_t record_opens = 4; // makes the transaction worth sending

CpoSpan span(const std::pmr::string &text)
{
	return {text.data(), text.size()};
}

} // namespace

CpoSession::CpoSession(
	const CpoMemory &hooks, const CpoServer &server, std::span<const CpoOption> options)
	: memory_(hooks), settings_(&memory_), format_((read_options(settings_, server, options),
											   settings_.format->make(&memory_, settings_))),
	  traits_(format_->traits()), relations_(&memory_), streams_(&memory_),
	  logs_(&memory_, {settings_.reorder_work_mem, 0, settings_.spill_compression}, counters_),
	  complete_(&memory_),
	  writer_(&memory_, server.message_limit != 0 ? server.message_limit : CPO_MESSAGE_LIMIT),
	  warning_(&memory_), filled_(&memory_)
{
	config_.streaming = settings_.streaming;
	config_.two_phase = settings_.two_phase;
	config_.filter_origin_names = !settings_.exclude_origins.empty();
	format_->configure(config_);
	// Filters have to see the relation.
	config_.opaque_stream = config_.opaque_stream && settings_.streaming == CPO_STREAMING_ON &&
							settings_.acts == all_acts && settings_.tables.empty() &&
							settings_.exclude_tables.empty();
}

bool CpoSession::wants_origin(std::uint32_t origin_id, std::string_view name) const noexcept
{
	if (origin_id != 0 && (settings_.skip_origins || settings_.exclude_origins.match(name)))
		return false;
	return format_->wants_origin(origin_id);
}

CpoRelation &CpoSession::define(const CpoRelationInfo &info)
{
	CpoRelation &relation = relations_.try_emplace(info.oid, &memory_).first->second;
	relation.define(info, settings_, *format_);
	return relation;
}

void CpoSession::begin_event() noexcept
{
	logs_.begin_event();
	if (replay_.txn != nullptr) {
		streams_.erase(replay_.place.xid);
		replay_ = {};
	}
	writer_.clear();
	next_message_ = 0;
	warning_.shrink();
	skipped_ = ends_ = false;
	writing_ = nullptr;
}

// --- transactions ---

void CpoSession::learn(transaction &txn, const CpoTransaction &facts) const
{
	txn.facts = facts;
	if (facts.origin_name.data != nullptr)
		txn.origin_name = view(facts.origin_name);
	if (facts.gid.data != nullptr)
		txn.gid = view(facts.gid);
	txn.facts.origin_name = span(txn.origin_name);
	txn.facts.gid = span(txn.gid);
}

void CpoSession::write_begin(transaction &txn, CpoLsn lsn, bool prepared, bool last)
{
	if (prepared)
		format_->begin_prepare(writer_, lsn, txn, last);
	else
		format_->begin(writer_, lsn, txn, last);
}

void CpoSession::begin(const CpoPlace &place, const CpoTransaction &facts, bool prepared)
{
	transaction &txn = complete_;
	txn.origin_name.clear();
	txn.gid.clear();
	txn.sent_relations.clear();
	txn.begun = txn.late_text_written = false;
	txn.complete = true;
	message_open_ = false; // of a transaction that ended early
	learn(txn, facts);
	current_ = &txn;
	current_prepared_ = prepared;
	write_xid_ = place.xid;
	writer_.belongs_to(*format_, txn);
	if (!lazy(prepared)) {
		write_begin(txn, place.lsn, prepared, true);
		txn.begun = true;
	}
}

void CpoSession::commit(const CpoPlace &place, const CpoTransaction &facts, bool prepared)
{
	transaction &txn = complete_;
	learn(txn, facts);
	current_ = nullptr;
	write_xid_ = place.xid;
	ends_ = true;
	skipped_ = !txn.begun;
	if (skipped_) {
		++counters_.skipped_transactions;
		return;
	}
	++counters_.transactions;
	if (prepared)
		format_->prepare(writer_, place.lsn, txn);
	else
		format_->commit(writer_, place.lsn, txn);
}

/*
 * There may be a log still: after a restart the server streams again what was prepared before,
 * without a PREPARE that would end it.
 */
void CpoSession::forget_stream(CpoXid xid) noexcept
{
	logs_.drop(xid);
	streams_.erase(xid);
}

void CpoSession::commit_prepared(const CpoPlace &place, const CpoTransaction &facts)
{
	forget_stream(facts.xid);
	learn(complete_, facts);
	write_xid_ = place.xid;
	ends_ = true;
	format_->commit_prepared(writer_, place.lsn, complete_);
}

void CpoSession::rollback_prepared(const CpoPlace &place, const CpoTransaction &facts)
{
	forget_stream(facts.xid);
	learn(complete_, facts);
	write_xid_ = place.xid;
	ends_ = true;
	format_->rollback_prepared(writer_, place.lsn, complete_);
}

// --- what transactions consist of ---

/*
 * Runs `write`, which writes the messages of one change, in the transaction at hand: with an
 * opening message in front where that is due, and into the log where the transaction has one.
 * `opens` says that the change makes the transaction worth sending.
 */
template <typename Write>
void CpoSession::in_transaction(const CpoPlace &place, bool opens, Write write, bool at_end)
{
	transaction &txn = *current_;
	write_xid_ = place.xid;
	writer_.belongs_to(*format_, txn);
	if (!txn.complete && !txn.streamed) {
		write(txn);
		append_to_log(place, opens, at_end);
		return;
	}
	const bool open = opens && !(txn.streamed ? txn.block_begun : txn.begun);
	if (open && txn.streamed)
		format_->stream_start(writer_, place.lsn, txn, false);
	else if (open)
		write_begin(txn, place.lsn, current_prepared_, false);
	const std::size_t opening = writer_.messages().size();
	write(txn);
	if (open && writer_.messages().size() == opening) {
		writer_.clear(); // the format had nothing to say
		return;
	}
	++counters_.changes;
	if (opens)
		txn.begun = txn.block_begun = true;
}

/*
 * `at_end`: the LSN is the end of the change's record. That is where the next record starts, and
 * with it maybe a subtransaction, whose cut must not take away what lies before it: a byte less is
 * still behind the start of the record.
 */
void CpoSession::append_to_log(const CpoPlace &place, bool opens, bool at_end)
{
	for (const cpp_output::message &m : writer_.messages()) {
		std::uint8_t flags = opens ? record_opens : 0;
		flags |= m.more ? record_more : 0;
		flags |= m.last ? record_last : 0;
		logs_.append(
			place.xid, {m.lsn, m.gap, flags, {writer_.data(m), m.len}, at_end ? m.lsn - 1 : m.lsn});
		counters_.streamed_bytes += m.len;
	}
	++counters_.changes;
	writer_.clear();
}

void CpoSession::change(const CpoChange &change)
{
	if (current_ == nullptr || (change.relation != nullptr && !change.relation->wants(change.act)))
		return;
	writing_ = change.relation;
	if (change.relation != nullptr && change.act != CPO_INSERT && change.old_row == nullptr &&
		!change.relation->has_identity())
		warn_missing_identity(*change.relation);
	in_transaction(
		change.place, true, [&](transaction &txn) { format_->change(writer_, change, txn); });
}

void CpoSession::truncate(const CpoTruncation &truncation)
{
	if (current_ == nullptr)
		return;
	in_transaction(truncation.place, true,
		[&](transaction &txn) { format_->truncate(writer_, truncation, txn); });
}

void CpoSession::message(const CpoMessage &message)
{
	if (!settings_.messages || !format_->wants_message(view(message.prefix)) ||
		(!settings_.message_prefixes.empty() &&
			!settings_.message_prefixes.match(view(message.prefix))))
		return;
	if (!message.transactional) {
		message_open_ = false;
		write_xid_ = message.place.xid;
		ends_ = true;
		format_->message(writer_, message, nullptr);
		return;
	}
	if (current_ == nullptr)
		return;
	// the server gives a message the end of its record as LSN
	constexpr bool at_end = true;
	in_transaction(
		message.place, traits_.message_opens,
		[&](transaction &txn) { format_->message(writer_, message, &txn); }, at_end);
}

void CpoSession::warn_missing_identity(CpoRelation &relation)
{
	if (relation.warned)
		return;
	format_->missing_identity(warning_, relation);
	relation.warned = true;
}

// --- transactions in progress ---

transaction *CpoSession::find_stream(CpoXid xid) noexcept
{
	const auto found = streams_.find(xid);
	return found == streams_.end() ? nullptr : &found->second;
}

void CpoSession::stream_start(const CpoPlace &place, const CpoTransaction &facts)
{
	const auto [position, fresh] = streams_.try_emplace(facts.xid, &memory_);
	transaction &txn = position->second;
	txn.streamed = config_.streaming == CPO_STREAMING_ON;
	txn.block_begun = false;
	txn.first_block = !txn.begun; // of those that the consumer sees
	if (fresh)
		++counters_.streamed_transactions;
	++counters_.streamed_blocks;
	learn(txn, facts);
	current_ = &txn;
	current_prepared_ = false;
	write_xid_ = place.xid;
	if (!txn.streamed) {
		logs_.open(facts.xid);
	} else if (!traits_.lazy_stream_start) {
		format_->stream_start(writer_, place.lsn, txn, true);
		txn.begun = txn.block_begun = true;
	}
}

void CpoSession::stream_stop(const CpoPlace &place)
{
	const transaction *txn = current_;
	current_ = nullptr;
	write_xid_ = place.xid;
	ends_ = true;
	if (txn != nullptr && txn->block_begun)
		format_->stream_stop(writer_, place.lsn, *txn);
}

void CpoSession::stream_abort(
	const CpoPlace &place, CpoXid top_xid, CpoXid subxid, CpoLsn first_lsn)
{
	current_ = nullptr;
	write_xid_ = place.xid;
	ends_ = true;
	transaction *txn = find_stream(top_xid);
	if (txn == nullptr)
		return;
	if (txn->streamed && txn->begun)
		format_->stream_abort(writer_, place.lsn, *txn, subxid);
	if (top_xid == subxid) {
		logs_.drop(top_xid);
		streams_.erase(top_xid);
	} else {
		logs_.cut(top_xid, first_lsn);
		std::erase_if(txn->sent_relations, [&](const auto &sent) { return sent.lsn >= first_lsn; });
	}
}

void CpoSession::stream_commit(const CpoPlace &place, const CpoTransaction &facts, bool prepared)
{
	current_ = nullptr;
	write_xid_ = place.xid;
	ends_ = true;
	transaction *txn = find_stream(facts.xid);
	if (txn == nullptr)
		return;
	learn(*txn, facts);
	txn->complete = true;
	if (!txn->streamed) {
		replay_ = {};
		replay_.txn = txn;
		replay_.prepared = prepared;
		replay_.place = place;
		return;
	}
	if (!txn->begun && prepared && !traits_.lazy_begin_prepare) {
		// Left empty, but its COMMIT PREPARED will come and has to find it.
		txn->first_block = true;
		format_->stream_start(writer_, place.lsn, *txn, true);
		format_->stream_stop(writer_, place.lsn, *txn);
		txn->begun = true;
	}
	skipped_ = !txn->begun;
	if (!skipped_ && prepared)
		format_->stream_prepare(writer_, place.lsn, *txn);
	else if (!skipped_)
		format_->stream_commit(writer_, place.lsn, *txn);
	++(skipped_ ? counters_.skipped_transactions : counters_.transactions);
	// A prepared one may still be aborted, namely when its COMMIT PREPARED is filtered out.
	if (!prepared)
		streams_.erase(facts.xid);
}

// --- actions ---

void CpoSession::next(CpoAction &action)
{
	action = {};
	if (!warning_.empty()) {
		const std::string_view text = warning_.view();
		const std::size_t detail = text.find('\0') + 1;
		const std::size_t hint = text.find('\0', detail) + 1;
		action.kind = CPO_WARN;
		action.data = warning_.data();
		action.len = detail - 1;
		action.detail = action.data + detail;
		action.hint = action.data + hint;
		warning_.clear(); // the bytes stay until the next event
		return;
	}
	while (!take_message(action) && !take_replayed(action)) {
		if (next_message_ < writer_.messages().size() || replay_.txn != nullptr)
			continue; // the replay wrote something, or goes on
		if (take_io(action))
			return;
		if (skipped_)
			action.kind = CPO_SKIPPED;
		skipped_ = false;
		return;
	}
}

bool CpoSession::take_message(CpoAction &action) noexcept
{
	if (next_message_ == writer_.messages().size())
		return false;
	const cpp_output::message &m = writer_.messages()[next_message_++];
	send(action, m.lsn, writer_.data(m), m.len, m.more, m.last);
	action.flush = ends_ && replay_.txn == nullptr && next_message_ == writer_.messages().size();
	return true;
}

void CpoSession::send(
	CpoAction &action, CpoLsn lsn, char *data, std::size_t len, bool more, bool last) noexcept
{
	action.kind = CPO_SEND;
	action.xid = write_xid_;
	action.lsn = lsn;
	action.data = data;
	action.len = len;
	action.last = last;
	// A message of several pieces that grows beyond the limit becomes several messages.
	action.split = message_open_ && open_bytes_ + len > writer_.message_limit();
	action.continues = message_open_ && !action.split;
	action.more = more;
	open_bytes_ = more ? (action.continues ? open_bytes_ : 0) + len : 0;
	message_open_ = more;
	counters_.messages_out += action.continues ? 0 : 1;
	counters_.bytes_out += len;
}

// One step of the replay; true if it gave an action.
bool CpoSession::take_replayed(CpoAction &action)
{
	if (replay_.txn == nullptr)
		return false;
	transaction &txn = *replay_.txn;
	if (!replay_.started) {
		replay_.started = true;
		message_open_ = false;
		logs_.start_replay(replay_.place.xid);
		if (!lazy(replay_.prepared)) {
			writer_.clear();
			next_message_ = 0;
			write_begin(txn, txn.facts.first_lsn, replay_.prepared, true);
			txn.begun = true;
			return false;
		}
	}
	if (!replay_.record_waits) {
		io_request io;
		const auto step = logs_.replay_next(replay_.record, io);
		if (step == reorder_logs::step::io) {
			action.kind = CPO_SPILL_READ;
			action.xid = io.xid;
			action.file = io.file;
			action.offset = io.offset;
			action.data = io.data;
			action.len = io.len;
			return true;
		}
		if (step == reorder_logs::step::done) {
			finish_replay();
			return false;
		}
		if (!txn.begun && (replay_.record.flags & record_opens) != 0) {
			writer_.clear();
			next_message_ = 0;
			write_begin(txn, replay_.record.lsn, replay_.prepared, false);
			txn.begun = true;
			replay_.record_waits = true;
			return false;
		}
	}
	replay_.record_waits = false;
	if (replay_.record.gap != no_late_text)
		fill_gap(txn);
	const replayed &record = replay_.record;
	send(action, record.lsn, record.data, record.len, (record.flags & record_more) != 0,
		(record.flags & record_last) != 0);
	return true;
}

// Makes the record's message anew, with the format's late text in its gap.
void CpoSession::fill_gap(transaction &txn)
{
	replayed &record = replay_.record;
	filled_.clear();
	filled_.commit(filled_.reserve(CPO_HEADROOM) + CPO_HEADROOM);
	filled_.append({record.data, record.gap});
	format_->late_text(filled_, txn, !txn.late_text_written);
	txn.late_text_written = true;
	filled_.append({record.data + record.gap, record.len - record.gap});
	record.data = filled_.data() + CPO_HEADROOM;
	record.len = filled_.size() - CPO_HEADROOM;
}

void CpoSession::finish_replay()
{
	const transaction &txn = *std::exchange(replay_.txn, nullptr);
	skipped_ = !txn.begun;
	writer_.clear();
	next_message_ = 0;
	filled_.shrink();
	if (!skipped_ && replay_.prepared)
		format_->prepare(writer_, replay_.place.lsn, txn);
	else if (!skipped_)
		format_->commit(writer_, replay_.place.lsn, txn);
	++(skipped_ ? counters_.skipped_transactions : counters_.transactions);
	streams_.erase(replay_.place.xid);
}

bool CpoSession::take_io(CpoAction &action)
{
	const io_request io = logs_.next_io();
	if (io.what == io_request::kind::none)
		return false;
	action.kind = io.what == io_request::kind::write ? CPO_SPILL_WRITE : CPO_SPILL_DROP;
	action.xid = io.xid;
	action.file = io.file;
	action.offset = io.offset;
	action.data = io.data;
	action.len = io.len;
	return true;
}

CpoError CpoSession::too_long() const noexcept
{
	core_error error(sqlstate::program_limit_exceeded,
		"a message of logical decoding would be longer than %llu bytes",
		static_cast<unsigned long long>(writer_.message_limit()));
	if (writing_ != nullptr) {
		const CpoRelationInfo &info = writing_->info;
		const std::size_t index = writer_.column();
		const CpoSpan column = index < info.ncolumns ? info.columns[index].name : CpoSpan{"", 0};
		error = core_error(sqlstate::program_limit_exceeded,
			"a row of table \"%.*s.%.*s\" is too long for a message of logical decoding",
			static_cast<int>(info.schema.len), info.schema.data, static_cast<int>(info.name.len),
			info.name.data);
		error.detail("The message would pass %llu bytes in column \"%.*s\".",
			static_cast<unsigned long long>(writer_.message_limit()), static_cast<int>(column.len),
			column.data);
		error.hint("Leave the column out with the option exclude-columns, or the table with "
				   "exclude-tables.");
	}
	return error.record();
}
