// The lists in wal2json's options: its own syntax of tables and names.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

namespace cpp_output
{

/*
 * A comma-separated list of schema.table. A backslash takes the special meaning from the character
 * behind it (space, comma, period, asterisk, backslash); `*.table` is that table in all schemas,
 * `schema.*` are all tables of one. Case matters.
 */
class wal2json_tables
{
public:
	explicit wal2json_tables(std::pmr::memory_resource *memory) : entries_(memory) {}

	// Adds the tables of a list; false if it is malformed.
	bool add(std::string_view list);
	void clear() noexcept { entries_.clear(); }

	bool match(std::string_view schema, std::string_view table) const noexcept;

private:
	struct entry {
		std::pmr::string schema;
		std::pmr::string table;
		bool all_schemas;
		bool all_tables;
	};
	bool add_entry(std::string_view text);

	std::pmr::vector<entry> entries_;
};

/*
 * Words separated by commas, with white space around them. A backslash makes the character behind
 * it a part of the word, and stays in the word itself.
 */
class wal2json_words
{
public:
	explicit wal2json_words(std::pmr::memory_resource *memory) : words_(memory) {}

	bool add(std::string_view list);
	void clear() noexcept { words_.clear(); }

	bool empty() const noexcept { return words_.empty(); }
	bool contain(std::string_view word) const noexcept;
	const std::pmr::vector<std::pmr::string> &words() const noexcept { return words_; }

private:
	std::pmr::vector<std::pmr::string> words_;
};

// The number at the beginning of a word, as atoi() reads it.
std::uint32_t wal2json_number(std::string_view word) noexcept;

} // namespace cpp_output
