// The options: one table that drives parsing, checks, cpp_output_options() and doc/options.md.
#pragma once

#include "core.h"
#include "settings.h"

#include <memory_resource>
#include <span>
#include <string_view>

namespace cpp_output
{

// An option as it came, for the function that takes it.
struct option_value {
	const char *name;	   // as the table spells it
	std::string_view text; // empty where there is none
	bool given;			   // false: a bare option
};

struct option {
	const char *name; // with '-'
	const char *type;
	const char *default_value; // nullptr: none
	const char *allowed;
	const char *description;
	// Checks the value and stores it; throws core_error.
	void (*set)(settings &, const option_value &);
};

// Reads all options into `result`, the format first. Throws core_error.
void read_options(settings &result, const CpoServer &server, std::span<const CpoOption> options);

// The options that every format has.
std::span<const option> common_options() noexcept;

// --- for the tables ---

// The first bytes of a text that may be long, for an error message; never cut inside a character.
std::string_view shown(std::string_view text) noexcept;

// White space around the elements of a list, as isspace() has it in the C locale.
constexpr bool is_space(char c) noexcept
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

// As the server's parse_bool(): unique prefixes of true, false, yes, no; on, off; 1, 0.
bool parse_boolean(std::string_view text, bool &result) noexcept;

// A boolean in our own formats; a bare option means true.
bool boolean_value(const option_value &value);

// The error that the peers raise for a value; `part` is what of it is wrong.
[[noreturn]] void cannot_parse(
	const char *sqlstate, const option_value &value, std::string_view part, const char *allowed);

// A boolean in the peers' formats; a bare option leaves `flag` as it is.
void peer_boolean(const option_value &value, bool &flag);

template <typename T> struct choice {
	std::string_view name;
	T value;
};

inline constexpr choice<CpoAct> act_choices[] = {{"insert", CPO_INSERT}, {"update", CPO_UPDATE},
	{"delete", CPO_DELETE}, {"truncate", CPO_TRUNCATE}};

[[noreturn]] void bad_value(const option_value &value, const char *allowed);

template <typename T, std::size_t N>
T choice_value(const option_value &value, const choice<T> (&choices)[N], const char *allowed)
{
	for (const choice<T> &c : choices)
		if (value.given && c.name == value.text)
			return c.value;
	bad_value(value, allowed);
}

} // namespace cpp_output
