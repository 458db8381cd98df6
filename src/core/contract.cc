/*
 * The core's border: every function of core.h. Nothing is thrown past here.
 */
#include "core.h"

#include "error.h"
#include "session.h"

#include <new>
#include <stdexcept>

using namespace cpp_output;

namespace
{

// The error record for the exception that is being handled.
CpoError describe(const CpoSession *session) noexcept
{
	try {
		throw;
	} catch (const core_error &error) {
		return error.record();
	} catch (const std::bad_alloc &) {
		return core_error(sqlstate::out_of_memory, "out of memory").record();
	} catch (const std::length_error &) {
		return session != nullptr
				   ? session->too_long()
				   : core_error(sqlstate::program_limit_exceeded, "an option is too long").record();
	} catch (const spill_corrupted &error) {
		return core_error(sqlstate::data_corrupted, "a spilled transaction cannot be read back")
			.detail("%s", error.what())
			.hint("The temporary file was damaged. The transaction is decoded again when the "
				  "client reconnects.")
			.record();
	} catch (const std::exception &error) {
		return core_error(sqlstate::internal_error, "%s", error.what()).record();
	} catch (...) {
		return core_error(sqlstate::internal_error, "unknown exception").record();
	}
}

template <typename Action> CpoStatus guarded(CpoSession *session, Action action) noexcept
{
	try {
		action();
		return CPO_OK;
	} catch (...) {
		session->error = describe(session);
		return CPO_FAILED;
	}
}

template <typename Action> CpoStatus event(CpoSession *session, Action action) noexcept
{
	session->begin_event();
	return guarded(session, action);
}

} // namespace

CpoStatus cpo_open(const CpoMemory *memory, const CpoServer *server, const CpoOption *options,
	size_t noptions, CpoSession **session, CpoError *error) noexcept
{
	*session = nullptr;
	void *raw = memory->allocate(memory->arg, sizeof(CpoSession));
	try {
		if (raw == nullptr)
			throw std::bad_alloc();
		*session = new (raw) CpoSession(*memory, *server, {options, noptions});
		return CPO_OK;
	} catch (...) {
		*error = describe(nullptr);
		if (raw != nullptr)
			memory->release(memory->arg, raw, sizeof(CpoSession));
		return CPO_FAILED;
	}
}

void cpo_close(const CpoMemory *memory, CpoSession *session) noexcept
{
	if (session == nullptr)
		return;
	session->~CpoSession();
	memory->release(memory->arg, session, sizeof(CpoSession));
}

const CpoConfig *cpo_config(const CpoSession *session) noexcept
{
	return &session->config();
}

const CpoError *cpo_error(const CpoSession *session) noexcept
{
	return &session->error;
}

bool cpo_wants_origin(const CpoSession *session, uint32_t origin_id, CpoSpan name) noexcept
{
	return session->wants_origin(origin_id, view(name));
}

CpoStatus cpo_relation_define(
	CpoSession *session, const CpoRelationInfo *info, CpoRelation **relation) noexcept
{
	return guarded(session, [&] { *relation = &session->define(*info); });
}

void cpo_relation_drop(CpoSession *session, CpoRelation *relation) noexcept
{
	session->forget(*relation);
}

bool cpo_relation_wants(const CpoRelation *relation, CpoAct act) noexcept
{
	return relation->wants(act);
}

const bool *cpo_relation_columns(const CpoRelation *relation) noexcept
{
	return relation->needed;
}

CpoStatus cpo_begin(CpoSession *s, const CpoPlace *place, const CpoTransaction *txn) noexcept
{
	return event(s, [&] { s->begin(*place, *txn, false); });
}

CpoStatus cpo_change(CpoSession *s, const CpoChange *change) noexcept
{
	return event(s, [&] { s->change(*change); });
}

CpoStatus cpo_truncate(CpoSession *s, const CpoTruncation *truncation) noexcept
{
	return event(s, [&] { s->truncate(*truncation); });
}

CpoStatus cpo_message(CpoSession *s, const CpoMessage *message) noexcept
{
	return event(s, [&] { s->message(*message); });
}

CpoStatus cpo_commit(CpoSession *s, const CpoPlace *place, const CpoTransaction *txn) noexcept
{
	return event(s, [&] { s->commit(*place, *txn, false); });
}

CpoStatus cpo_begin_prepare(
	CpoSession *s, const CpoPlace *place, const CpoTransaction *txn) noexcept
{
	return event(s, [&] { s->begin(*place, *txn, true); });
}

CpoStatus cpo_prepare(CpoSession *s, const CpoPlace *place, const CpoTransaction *txn) noexcept
{
	return event(s, [&] { s->commit(*place, *txn, true); });
}

CpoStatus cpo_commit_prepared(
	CpoSession *s, const CpoPlace *place, const CpoTransaction *txn) noexcept
{
	return event(s, [&] { s->commit_prepared(*place, *txn); });
}

CpoStatus cpo_rollback_prepared(
	CpoSession *s, const CpoPlace *place, const CpoTransaction *txn) noexcept
{
	return event(s, [&] { s->rollback_prepared(*place, *txn); });
}

CpoStatus cpo_stream_start(CpoSession *s, const CpoPlace *place, const CpoTransaction *txn) noexcept
{
	return event(s, [&] { s->stream_start(*place, *txn); });
}

CpoStatus cpo_stream_stop(CpoSession *s, const CpoPlace *place) noexcept
{
	return event(s, [&] { s->stream_stop(*place); });
}

CpoStatus cpo_stream_abort(
	CpoSession *s, const CpoPlace *place, CpoXid top_xid, CpoXid subxid, CpoLsn first_lsn) noexcept
{
	return event(s, [&] { s->stream_abort(*place, top_xid, subxid, first_lsn); });
}

CpoStatus cpo_stream_prepare(
	CpoSession *s, const CpoPlace *place, const CpoTransaction *txn) noexcept
{
	return event(s, [&] { s->stream_commit(*place, *txn, true); });
}

CpoStatus cpo_stream_commit(
	CpoSession *s, const CpoPlace *place, const CpoTransaction *txn) noexcept
{
	return event(s, [&] { s->stream_commit(*place, *txn, false); });
}

CpoStatus cpo_next(CpoSession *session, CpoAction *action) noexcept
{
	return guarded(session, [&] { session->next(*action); });
}

const CpoCounters *cpo_counters(CpoSession *session) noexcept
{
	return &session->counters();
}
