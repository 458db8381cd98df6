#include "format/test_decoding.h"

#include "format/server_text.h"
#include "text/datetime.h"
#include "text/hex.h"
#include "text/integer.h"
#include "text/numeric.h"
#include "text/sql_literal.h"

namespace cpp_output
{

namespace
{

enum class literal { quoted, bare, bits, boolean };

literal literal_of(CpoOid type)
{
	if (is_number_type(type))
		return literal::bare;
	switch (type) {
	case 1560: // bit
	case 1562: // varbit
		return literal::bits;
	case 16: // bool
		return literal::boolean;
	default:
		return literal::quoted;
	}
}

struct column_plan {
	std::string_view prefix; // ` name[type]:`
	CpoKind kind;
	literal style;
	bool skipped;
};

struct test_decoding_plan : format_plan {
	std::string_view head; // `table schema.name:`
	const column_plan *columns;
	std::size_t ncolumns;
};

void append_unsigned(byte_buffer &out, std::uint64_t value)
{
	out.commit(write_unsigned(out.reserve(integer_max), value));
}

// As quote_literal() has it: with a backslash the E'' form.
void append_quoted(byte_buffer &out, std::string_view text)
{
	const bool escape = text.find('\\') != std::string_view::npos;
	out.append(escape ? "E'" : "'");
	for (const char c : text) {
		if (c == '\'' || c == '\\')
			out.push_back(c);
		out.push_back(c);
	}
	out.push_back('\'');
}

// A value of a type that is printed between quotes.
void append_quoted_raw(byte_buffer &out, CpoKind kind, const CpoValue &value)
{
	const std::string_view bytes(value.data, value.len);
	if (kind == CPO_STRING) {
		append_sql_literal_body(out, bytes);
		return;
	}
	if (kind == CPO_BYTEA) {
		char *end = out.reserve(2 + 2 * bytes.size());
		*end++ = '\\';
		*end++ = 'x';
		out.commit(write_hex(end, bytes.data(), bytes.size()));
		return;
	}
	if (kind == CPO_NUMERIC) {
		append_numeric(out, bytes.data(), bytes.size());
		return;
	}
	out.commit(write_server_text(out.reserve(server_text_max), kind, value));
}

void append_value(byte_buffer &out, const column_plan &column, const CpoValue &value)
{
	const bool raw = value.form == CPO_RAW;
	switch (column.style) {
	case literal::bare:
		if (!raw)
			out.append({value.data, value.len});
		else if (column.kind == CPO_NUMERIC)
			append_numeric(out, value.data, value.len);
		else
			out.commit(write_integer(out.reserve(integer_max), value.integer));
		break;
	case literal::bits:
		out.append("B'");
		out.append({value.data, value.len});
		out.push_back('\'');
		break;
	case literal::boolean:
		out.append((raw ? value.integer != 0 : value.data[0] == 't') ? "true" : "false");
		break;
	case literal::quoted:
		out.push_back('\'');
		if (raw)
			append_quoted_raw(out, column.kind, value);
		else
			append_sql_literal_body(out, {value.data, value.len});
		out.push_back('\'');
		break;
	}
}

class test_decoding_format final : public format
{
public:
	explicit test_decoding_format(const settings &all)
		: own_(all.test_decoding), message_opens_(all.server_version >= 170000)
	{
	}

	void configure(CpoConfig &config) const override;
	format_traits traits() const override;
	bool wants_origin(std::uint32_t origin_id) const override
	{
		return !own_.only_local || origin_id == 0;
	}

	const format_plan *plan(const CpoRelation &relation, std::pmr::memory_resource &arena) override;

	void begin(message_writer &out, CpoLsn lsn, const transaction &txn, bool last) override
	{
		with_xid(out, lsn, "BEGIN", " ", txn.facts.xid, last);
	}
	void commit(message_writer &out, CpoLsn lsn, const transaction &txn) override;
	void change(message_writer &out, const CpoChange &change, transaction &txn) override;
	void truncate(message_writer &out, const CpoTruncation &truncation, transaction &txn) override;
	void message(message_writer &out, const CpoMessage &message, transaction *txn) override;

	void begin_prepare(message_writer &out, CpoLsn lsn, const transaction &txn, bool last) override
	{
		begin(out, lsn, txn, last);
	}
	void prepare(message_writer &out, CpoLsn lsn, const transaction &txn) override
	{
		prepared(out, lsn, "PREPARE TRANSACTION ", txn);
	}
	void commit_prepared(message_writer &out, CpoLsn lsn, const transaction &txn) override
	{
		prepared(out, lsn, "COMMIT PREPARED ", txn);
	}
	void rollback_prepared(message_writer &out, CpoLsn lsn, const transaction &txn) override
	{
		prepared(out, lsn, "ROLLBACK PREPARED ", txn);
	}

	void stream_start(message_writer &out, CpoLsn lsn, const transaction &txn, bool last) override
	{
		with_xid(
			out, lsn, "opening a streamed block for transaction", " TXN ", txn.facts.xid, last);
	}
	void stream_stop(message_writer &out, CpoLsn lsn, const transaction &txn) override
	{
		with_xid(
			out, lsn, "closing a streamed block for transaction", " TXN ", txn.facts.xid, true);
	}
	void stream_abort(
		message_writer &out, CpoLsn lsn, const transaction & /* txn */, CpoXid subxid) override
	{
		with_xid(out, lsn, "aborting streamed (sub)transaction", " TXN ", subxid, true);
	}
	void stream_prepare(message_writer &out, CpoLsn lsn, const transaction &txn) override;
	void stream_commit(message_writer &out, CpoLsn lsn, const transaction &txn) override;

	// The peer says "(no-tuple-data)" in the change and nothing else.
	void missing_identity(byte_buffer &, const CpoRelation &) const override {}

private:
	static void append_row(message_writer &out, byte_buffer &text, const test_decoding_plan &plan,
		const CpoValue *row, bool skip_nulls);
	void append_xid(
		byte_buffer &text, std::string_view what, std::string_view before, CpoXid xid) const;
	void append_time(byte_buffer &text, const transaction &txn) const;
	void append_gid(byte_buffer &text, const transaction &txn) const;

	void with_xid(message_writer &out, CpoLsn lsn, std::string_view what, std::string_view before,
		CpoXid xid, bool last) const;
	void streamed(
		message_writer &out, CpoLsn lsn, std::string_view what, const transaction &txn) const;
	void prepared(
		message_writer &out, CpoLsn lsn, std::string_view what, const transaction &txn) const;

	test_decoding_settings own_;
	bool message_opens_; // since PostgreSQL 17
};

// --- the plan ---

void test_decoding_format::configure(CpoConfig &config) const
{
	config.binary_output = own_.force_binary;
	config.receive_rewrites = own_.include_rewrites;
	config.skip_nodecode_gids = true;
	config.opaque_stream = true;
	config.wants = CPO_WANT_QUOTED_NAMES | CPO_WANT_TYPE_NAMES;
}

format_traits test_decoding_format::traits() const
{
	format_traits traits;
	traits.lazy_begin = own_.skip_empty_xacts;
	traits.lazy_begin_prepare = own_.skip_empty_xacts;
	traits.lazy_stream_start = own_.skip_empty_xacts;
	traits.message_opens = message_opens_;
	return traits;
}

const format_plan *test_decoding_format::plan(
	const CpoRelation &relation, std::pmr::memory_resource &arena)
{
	byte_buffer text(&arena);
	text.append("table ");
	text.append(view(relation.info.quoted_name));
	text.push_back(':');
	auto *plan = std::pmr::polymorphic_allocator<>(&arena).new_object<test_decoding_plan>();
	plan->head = keep(text.view(), arena);
	plan->ncolumns = relation.info.ncolumns;
	auto *columns = static_cast<column_plan *>(
		arena.allocate(plan->ncolumns * sizeof(column_plan), alignof(column_plan)));
	for (std::size_t i = 0; i < plan->ncolumns; ++i) {
		const CpoColumn &column = relation.info.columns[i];
		text.clear();
		text.push_back(' ');
		text.append(view(column.quoted_name));
		text.push_back('[');
		text.append(view(column.type_name));
		text.append("]:");
		new (&columns[i]) column_plan{keep(text.view(), arena), column.type->kind,
			literal_of(column.type_oid), !relation.needed[i]};
	}
	plan->columns = columns;
	return plan;
}

// --- events ---

void test_decoding_format::commit(message_writer &out, CpoLsn lsn, const transaction &txn)
{
	byte_buffer &text = out.open(lsn);
	append_xid(text, "COMMIT", " ", txn.facts.xid);
	append_time(text, txn);
	out.close();
}

void test_decoding_format::change(message_writer &out, const CpoChange &change, transaction &txn)
{
	if (txn.streamed) {
		streamed(out, change.place.lsn, "streaming change for ", txn);
		return;
	}
	const auto &plan = *static_cast<const test_decoding_plan *>(change.relation->plan);
	byte_buffer &text = out.open(change.place.lsn);
	text.append(plan.head);
	switch (change.act) {
	case CPO_INSERT:
		text.append(" INSERT:");
		append_row(out, text, plan, change.new_row, false);
		break;
	case CPO_UPDATE:
		text.append(" UPDATE:");
		if (change.old_row != nullptr) {
			text.append(" old-key:");
			append_row(out, text, plan, change.old_row, true);
			text.append(" new-tuple:");
		}
		append_row(out, text, plan, change.new_row, false);
		break;
	default:
		text.append(" DELETE:");
		append_row(out, text, plan, change.old_row, true);
		break;
	}
	out.close();
}

void test_decoding_format::truncate(
	message_writer &out, const CpoTruncation &truncation, transaction &txn)
{
	if (txn.streamed) {
		streamed(out, truncation.place.lsn, "streaming truncate for ", txn);
		return;
	}
	byte_buffer &text = out.open(truncation.place.lsn);
	text.append("table ");
	for (std::size_t i = 0; i < truncation.nrelations; ++i) {
		if (i != 0)
			text.append(", ");
		text.append(view(truncation.relations[i]->info.quoted_name));
	}
	text.append(": TRUNCATE:");
	if (truncation.restart_identity)
		text.append(" restart_seqs");
	if (truncation.cascade)
		text.append(" cascade");
	if (!truncation.restart_identity && !truncation.cascade)
		text.append(" (no-flags)");
	out.close();
}

void test_decoding_format::message(message_writer &out, const CpoMessage &message, transaction *txn)
{
	const bool in_stream = txn != nullptr && txn->streamed;
	byte_buffer &text = out.open(message.place.lsn);
	text.append(in_stream ? "streaming message: transactional: " : "message: transactional: ");
	text.push_back(message.transactional ? '1' : '0');
	text.append(" prefix: ");
	text.append(view(message.prefix));
	text.append(", sz: ");
	append_unsigned(text, message.content.len);
	if (!in_stream) {
		text.append(" content:");
		text.append(view(message.content));
	}
	out.close();
}

void test_decoding_format::stream_prepare(message_writer &out, CpoLsn lsn, const transaction &txn)
{
	byte_buffer &text = out.open(lsn);
	text.append(own_.include_xids ? "preparing streamed transaction TXN "
								  : "preparing streamed transaction ");
	append_gid(text, txn);
	append_time(text, txn);
	out.close();
}

void test_decoding_format::stream_commit(message_writer &out, CpoLsn lsn, const transaction &txn)
{
	byte_buffer &text = out.open(lsn);
	append_xid(text, "committing streamed transaction", " TXN ", txn.facts.xid);
	append_time(text, txn);
	out.close();
}

// --- pieces of text ---

void test_decoding_format::append_row(message_writer &out, byte_buffer &text,
	const test_decoding_plan &plan, const CpoValue *row, bool skip_nulls)
{
	if (row == nullptr) {
		text.append(" (no-tuple-data)");
		return;
	}
	for (std::size_t i = 0; i < plan.ncolumns; ++i) {
		const column_plan &column = plan.columns[i];
		const CpoValue &value = row[i];
		if (column.skipped || (value.form == CPO_NULL && skip_nulls))
			continue;
		out.at_column(i);
		text.append(column.prefix);
		if (value.form == CPO_NULL)
			text.append("null");
		else if (value.form == CPO_UNCHANGED)
			text.append("unchanged-toast-datum");
		else
			append_value(text, column, value);
	}
}

void test_decoding_format::append_xid(
	byte_buffer &text, std::string_view what, std::string_view before, CpoXid xid) const
{
	text.append(what);
	if (own_.include_xids) {
		text.append(before);
		append_unsigned(text, xid);
	}
}

void test_decoding_format::with_xid(message_writer &out, CpoLsn lsn, std::string_view what,
	std::string_view before, CpoXid xid, bool last) const
{
	append_xid(out.open(lsn), what, before, xid);
	out.close(last);
}

void test_decoding_format::streamed(
	message_writer &out, CpoLsn lsn, std::string_view what, const transaction &txn) const
{
	byte_buffer &text = out.open(lsn);
	text.append(what);
	if (own_.include_xids) {
		text.append("TXN ");
		append_unsigned(text, txn.facts.xid);
	} else {
		text.append("transaction");
	}
	out.close();
}

void test_decoding_format::append_time(byte_buffer &text, const transaction &txn) const
{
	if (!own_.include_timestamp)
		return;
	text.append(" (at ");
	text.commit(write_timestamptz(
		text.reserve(datetime_max), txn.facts.commit_time, txn.facts.commit_offset, ' '));
	text.push_back(')');
}

void test_decoding_format::append_gid(byte_buffer &text, const transaction &txn) const
{
	append_quoted(text, view(txn.facts.gid));
	if (own_.include_xids) {
		text.append(", txid ");
		append_unsigned(text, txn.facts.xid);
	}
}

void test_decoding_format::prepared(
	message_writer &out, CpoLsn lsn, std::string_view what, const transaction &txn) const
{
	byte_buffer &text = out.open(lsn);
	text.append(what);
	append_gid(text, txn);
	append_time(text, txn);
	out.close();
}

// --- options ---

template <bool test_decoding_settings::*member, bool missing>
void set_flag(settings &s, const option_value &value)
{
	s.test_decoding.*member = missing;
	peer_boolean(value, s.test_decoding.*member);
}

using own = test_decoding_settings;
constexpr option options[] = {
	{"include-xids", "boolean", "on", "on, off", "Transaction ids in BEGIN and COMMIT.",
		set_flag<&own::include_xids, true>},
	{"include-timestamp", "boolean", "off", "on, off", "The commit time in COMMIT.",
		set_flag<&own::include_timestamp, true>},
	{"force-binary", "boolean", "off", "on, off",
		"Declares the output as binary, for the binary SQL functions only.",
		set_flag<&own::force_binary, false>},
	{"skip-empty-xacts", "boolean", "off", "on, off",
		"No BEGIN and COMMIT of transactions without changes.",
		set_flag<&own::skip_empty_xacts, true>},
	{"only-local", "boolean", "off", "on, off", "No changes that were replicated from elsewhere.",
		set_flag<&own::only_local, true>},
	{"include-rewrites", "boolean", "off", "on, off",
		"The rows that a table rewrite (ALTER TABLE) writes.",
		set_flag<&own::include_rewrites, false>},
	{"stream-changes", "boolean", "off", "on, off", "The same as streaming=on.",
		[](settings &s, const option_value &value) {
			bool on = false;
			peer_boolean(value, on);
			s.streaming = on ? CPO_STREAMING_ON : CPO_STREAMING_OFF;
		}},
};

} // namespace

pmr_ptr<format> make_test_decoding_format(std::pmr::memory_resource *memory, const settings &all)
{
	return make_pmr<test_decoding_format>(memory, all);
}

std::span<const option> test_decoding_options() noexcept
{
	return options;
}

} // namespace cpp_output
