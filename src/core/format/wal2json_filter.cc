#include "format/wal2json_filter.h"

#include "options.h"

#include <algorithm>

namespace cpp_output
{

namespace
{

// Calls add(word) for each word of a list; false if the list is malformed, or add() says so.
template <typename Add> bool split(std::string_view list, Add add)
{
	std::size_t at = 0;
	const auto skip_spaces = [&] {
		while (at < list.size() && is_space(list[at]))
			++at;
	};
	skip_spaces();
	if (at == list.size())
		return true;
	for (;;) {
		const std::size_t start = at;
		while (at < list.size() && list[at] != ',' && !is_space(list[at]))
			at += list[at] == '\\' ? 2 : 1;
		// A backslash at the very end has nothing to stand before.
		if (at == start || at > list.size() || !add(list.substr(start, at - start)))
			return false;
		skip_spaces();
		if (at == list.size())
			return true;
		if (list[at++] != ',')
			return false;
		skip_spaces();
	}
}

// Takes backslashes out, up to `stop` where that is not 0; returns what follows it.
std::string_view unescape(std::pmr::string &result, std::string_view text, char stop)
{
	std::size_t at = 0;
	for (; at < text.size() && (stop == '\0' || text[at] != stop); ++at) {
		if (text[at] == '\\')
			++at;
		result.push_back(text[at]);
	}
	return text.substr(at);
}

} // namespace

bool wal2json_tables::add(std::string_view list)
{
	return split(list, [&](std::string_view word) { return add_entry(word); });
}

bool wal2json_tables::add_entry(std::string_view text)
{
	std::pmr::memory_resource *memory = entries_.get_allocator().resource();
	entry made{
		std::pmr::string(memory), std::pmr::string(memory), text.substr(0, 2) == "*.", false};
	std::string_view table = unescape(made.schema, text, '.');
	if (table.empty())
		return false;
	table.remove_prefix(1);
	made.all_tables = table == "*";
	unescape(made.table, table, '\0');
	entries_.push_back(std::move(made));
	return true;
}

bool wal2json_tables::match(std::string_view schema, std::string_view table) const noexcept
{
	return std::any_of(entries_.begin(), entries_.end(), [&](const entry &e) {
		return (e.all_schemas || e.schema == schema) && (e.all_tables || e.table == table);
	});
}

bool wal2json_words::add(std::string_view list)
{
	return split(list, [&](std::string_view word) {
		words_.emplace_back(word);
		return true;
	});
}

bool wal2json_words::contain(std::string_view word) const noexcept
{
	return std::find(words_.begin(), words_.end(), word) != words_.end();
}

std::uint32_t wal2json_number(std::string_view word) noexcept
{
	const bool negative = !word.empty() && word.front() == '-';
	if (!word.empty() && (negative || word.front() == '+'))
		word.remove_prefix(1);
	std::uint32_t number = 0;
	for (const char c : word) {
		if (c < '0' || c > '9')
			break;
		number = number * 10 + static_cast<std::uint32_t>(c - '0');
	}
	return negative ? 0 - number : number;
}

} // namespace cpp_output
