// A relation as the core keeps it: a deep copy of its description, what the filters say about it,
// and the plan that the format made of it.
#pragma once

#include "core.h"
#include "memory.h"

#include <memory_resource>

namespace cpp_output
{

class format;
struct settings;

// What a format precomputes for a relation. It lives in the relation's arena and is never
// destroyed: derived types hold only memory from there.
struct format_plan {
};

} // namespace cpp_output

struct CpoRelation {
	explicit CpoRelation(std::pmr::memory_resource *memory) noexcept : arena(memory) {}

	// Copies the description and asks filters and format what they make of it.
	void define(const CpoRelationInfo &source, const cpp_output::settings &settings,
		cpp_output::format &format);

	bool wants(CpoAct act) const noexcept { return (wanted_acts & (1U << act)) != 0; }

	/*
	 * Is there an identity for old rows? FULL counts; a primary key does under DEFAULT, an index
	 * under USING INDEX.
	 */
	bool has_identity() const noexcept { return identity; }

	std::pmr::monotonic_buffer_resource arena; // everything below points into it
	CpoRelationInfo info{};
	const bool *needed = nullptr; // one a column: not excluded
	const cpp_output::format_plan *plan = nullptr;
	unsigned wanted_acts = 0; // 1 << CpoAct
	bool identity = false;
	bool warned = false; // the missing identity was reported; survives define()
};
