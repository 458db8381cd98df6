// Drives the core through core.h as the shell does, with memory, files and messages kept here.
#pragma once

#include "core.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cpp_output::driver
{

class broken_contract : public std::runtime_error
{
public:
	using std::runtime_error::runtime_error;
};

inline void require(bool holds, const char *what)
{
	if (!holds)
		throw broken_contract(what);
}

/*
 * The memory hooks: they count, refuse what they are told to, check the size at release, and align
 * to 8 bytes and no more.
 */
class memory_hooks
{
public:
	std::uint64_t allocations = 0;
	std::uint64_t fail_at = 0;	  // number of the allocation that fails, 0: none
	bool fail_ever_after = false; // and all after it
	std::size_t in_use = 0;
	bool mismatch = false;

	CpoMemory record() { return {this, allocate, release}; }

private:
	static void *allocate(void *arg, std::size_t bytes)
	{
		auto *self = static_cast<memory_hooks *>(arg);
		++self->allocations;
		if (self->fail_at != 0 && (self->allocations == self->fail_at ||
									  (self->fail_ever_after && self->allocations > self->fail_at)))
			return nullptr;
		char *chunk = static_cast<char *>(std::malloc(bytes + sizeof(bytes)));
		std::memcpy(chunk, &bytes, sizeof(bytes));
		self->in_use += bytes;
		return chunk + sizeof(bytes);
	}

	static void release(void *arg, void *data, std::size_t bytes)
	{
		auto *self = static_cast<memory_hooks *>(arg);
		char *chunk = static_cast<char *>(data) - sizeof(bytes);
		std::size_t known;
		std::memcpy(&known, chunk, sizeof(known));
		self->mismatch = self->mismatch || known != bytes;
		self->in_use -= known;
		std::free(chunk);
	}
};

inline CpoSpan span(std::string_view text)
{
	return {text.data(), text.size()};
}

struct sent_message {
	CpoLsn lsn;
	CpoXid xid;
	std::string bytes;

	bool operator==(const sent_message &) const = default;
};

class core_driver
{
public:
	using option = std::pair<std::string, std::string>;

	explicit core_driver(memory_hooks &memory) : hooks_(memory.record()) {}
	core_driver(const core_driver &) = delete;
	core_driver &operator=(const core_driver &) = delete;
	~core_driver() { cpo_close(&hooks_, session); }

	bool open(const CpoServer &server, const std::vector<option> &given)
	{
		std::vector<CpoOption> options;
		for (const auto &[name, value] : given)
			options.push_back({span(name), span(value)});
		failed =
			cpo_open(&hooks_, &server, options.data(), options.size(), &session, &error) != CPO_OK;
		require(failed == (session == nullptr), "a session if and only if it worked");
		return !failed;
	}

	// After an event: carries out what the core asks for. False once something failed.
	bool drain(CpoStatus status)
	{
		for (CpoAction action{}; status == CPO_OK;) {
			status = cpo_next(session, &action);
			if (status == CPO_OK && action.kind == CPO_DONE)
				return true;
			if (status == CPO_OK)
				perform(action);
		}
		failed = true;
		error = *cpo_error(session);
		return false;
	}

	CpoSession *session = nullptr;
	bool failed = false;
	CpoError error{};
	std::vector<sent_message> messages;
	std::vector<std::string> warnings;
	std::map<std::uint32_t, std::string> files;
	std::uint64_t reads = 0;

private:
	void perform(const CpoAction &action)
	{
		switch (action.kind) {
		case CPO_SEND:
			std::memset(action.data - CPO_HEADROOM, 'w', CPO_HEADROOM);
			if (action.split)
				messages.push_back(std::exchange(open_, {}));
			if (!action.continues)
				open_ = {action.lsn, action.xid, {}};
			open_.bytes.append(action.data, action.len);
			if (!action.more)
				messages.push_back(std::exchange(open_, {}));
			break;
		case CPO_WARN:
			require(std::strlen(action.data) == action.len, "a warning has its length");
			warnings.emplace_back(action.data);
			warnings.back() += action.detail;
			warnings.back() += action.hint;
			break;
		case CPO_SKIPPED:
			break;
		case CPO_SPILL_WRITE: {
			std::string &file = files[action.file];
			require(action.offset <= file.size(), "files have no holes");
			if (file.size() < action.offset + action.len)
				file.resize(action.offset + action.len);
			file.replace(action.offset, action.len, action.data, action.len);
			break;
		}
		case CPO_SPILL_READ: {
			const auto file = files.find(action.file);
			require(file != files.end() && action.offset + action.len <= file->second.size(),
				"what is read was written");
			file->second.copy(action.data, action.len, action.offset);
			++reads;
			break;
		}
		case CPO_SPILL_DROP:
			files.erase(action.file);
			break;
		case CPO_DONE:
			break;
		}
	}

	CpoMemory hooks_;
	sent_message open_{};
};

} // namespace cpp_output::driver
