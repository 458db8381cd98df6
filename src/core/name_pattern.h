// Patterns for qualified names: globs in SQL spelling.
#pragma once

#include "core.h"

#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

namespace cpp_output
{

/*
 * One part of a pattern. Outside double quotes `*` stands for any run of characters, `?` for one,
 * and letters are folded to lower case as SQL does; inside quotes everything stands for itself.
 */
class name_glob
{
public:
	explicit name_glob(std::pmr::memory_resource *memory) : pieces_(memory), wild_(memory) {}

	bool matches(std::string_view name) const noexcept;

private:
	friend class pattern_parser;

	// The bytes of the pattern; wild_[i] says that pieces_[i] is a wildcard, not a character.
	std::pmr::string pieces_;
	std::pmr::vector<bool> wild_;
};

// A comma-separated list of dotted patterns, each with the same number of parts.
class name_patterns
{
public:
	explicit name_patterns(std::pmr::memory_resource *memory) : patterns_(memory) {}

	/*
	 * Replaces the content by what `text` holds. `parts` is how many names a pattern has: 1 for
	 * an origin or a prefix, which may have dots, 2 for schema.table, 3 for
	 * schema.table.column; `fold` says whether unquoted letters are folded. Throws core_error
	 * (invalid_parameter_value) that names `option` and shows the right form.
	 */
	void parse(std::string_view text, std::size_t parts, bool fold, const char *option);

	bool empty() const noexcept { return patterns_.empty(); }

	bool match(std::string_view name) const noexcept;
	bool match(std::string_view schema, std::string_view table) const noexcept;
	bool match(
		std::string_view schema, std::string_view table, std::string_view column) const noexcept;

private:
	std::pmr::vector<std::pmr::vector<name_glob>> patterns_;
};

} // namespace cpp_output
