#include "name_pattern.h"

#include "error.h"
#include "options.h"

#include <algorithm>
#include <array>

namespace cpp_output
{

namespace
{

// The first byte behind the character that starts at `at`; UTF-8 continuation bytes belong to it.
std::size_t after_character(std::string_view text, std::size_t at)
{
	++at;
	while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U)
		++at;
	return at;
}

constexpr std::array<const char *, 4> forms = {"", "names", "schema.table", "schema.table.column"};

} // namespace

bool name_glob::matches(std::string_view name) const noexcept
{
	// Greedy match with one point to come back to: the last `*` and where it stopped.
	std::size_t p = 0;
	std::size_t n = 0;
	std::size_t star = std::string_view::npos;
	std::size_t resume = 0;
	while (n < name.size()) {
		if (p < pieces_.size() && wild_[p] && pieces_[p] == '*') {
			star = p++;
			resume = n;
		} else if (p < pieces_.size() && wild_[p]) {
			n = after_character(name, n);
			++p;
		} else if (p < pieces_.size() && pieces_[p] == name[n]) {
			++p;
			++n;
		} else if (star != std::string_view::npos) {
			p = star + 1;
			resume = after_character(name, resume);
			n = resume;
		} else {
			return false;
		}
	}
	while (p < pieces_.size() && wild_[p] && pieces_[p] == '*')
		++p;
	return p == pieces_.size();
}

class pattern_parser
{
public:
	// Without `dotted` a dot is a character like any other.
	pattern_parser(std::string_view text, bool dotted, bool fold, std::pmr::memory_resource *memory)
		: text_(text), dotted_(dotted), fold_(fold), memory_(memory)
	{
	}

	// One dotted pattern; `at_` ends at a comma or the end of the text.
	std::pmr::vector<name_glob> pattern()
	{
		std::pmr::vector<name_glob> parts(memory_);
		skip_space();
		for (;;) {
			parts.push_back(part());
			skip_space();
			if (!at_dot())
				return parts;
			++at_;
			skip_space();
		}
	}

	bool take_comma()
	{
		if (at_ == text_.size())
			return false;
		++at_;
		return true;
	}
	bool at_separator() const { return at_ == text_.size() || text_[at_] == ','; }
	bool at_dot() const { return dotted_ && at_ < text_.size() && text_[at_] == '.'; }
	// What is wrong, or nullptr.
	const char *problem() const { return problem_; }

private:
	name_glob part()
	{
		name_glob glob(memory_);
		const std::size_t start = at_;
		while (!at_separator() && !at_dot() && !is_space(text_[at_])) {
			if (text_[at_] == '"')
				quoted(glob);
			else
				plain(glob, text_[at_++]);
		}
		if (at_ == start || glob.pieces_.empty())
			problem_ = "a name is empty";
		return glob;
	}

	void plain(name_glob &glob, char c)
	{
		if (fold_ && c >= 'A' && c <= 'Z')
			c = static_cast<char>(c - 'A' + 'a');
		add(glob, c, c == '*' || c == '?');
	}

	void quoted(name_glob &glob)
	{
		++at_;
		for (; at_ < text_.size(); ++at_) {
			if (text_[at_] != '"') {
				add(glob, text_[at_], false);
			} else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
				add(glob, '"', false);
				++at_;
			} else {
				++at_;
				return;
			}
		}
		problem_ = "a quoted name does not end";
	}

	static void add(name_glob &glob, char c, bool wild)
	{
		glob.pieces_.push_back(c);
		glob.wild_.push_back(wild);
	}

	void skip_space()
	{
		while (at_ < text_.size() && is_space(text_[at_]))
			++at_;
	}

	std::string_view text_;
	std::size_t at_ = 0;
	bool dotted_;
	bool fold_;
	std::pmr::memory_resource *memory_;
	const char *problem_ = nullptr;
};

void name_patterns::parse(std::string_view text, std::size_t parts, bool fold, const char *option)
{
	std::pmr::memory_resource *memory = patterns_.get_allocator().resource();
	std::pmr::vector<std::pmr::vector<name_glob>> parsed(memory);
	pattern_parser parser(text, parts > 1, fold, memory);
	do {
		parsed.push_back(parser.pattern());
		const char *problem = parser.problem();
		if (problem == nullptr && !parser.at_separator())
			problem = "a comma is missing between two names";
		if (problem == nullptr && parsed.back().size() != parts)
			problem = parsed.back().size() < parts ? "a name has too few parts"
												   : "a name has too many parts";
		if (problem != nullptr) {
			const std::string_view start = shown(text);
			throw core_error(sqlstate::invalid_parameter_value,
				"invalid value for option \"%s\": \"%.*s\"", option, static_cast<int>(start.size()),
				start.data())
				.detail("In element %zu of the list %s.", parsed.size(), problem)
				.hint("Give a comma-separated list of %s; * and ? are wildcards, double quotes "
					  "keep a name as it is.",
					forms[parts]);
		}
	} while (parser.take_comma());
	patterns_ = std::move(parsed);
}

bool name_patterns::match(std::string_view name) const noexcept
{
	return std::any_of(patterns_.begin(), patterns_.end(),
		[&](const auto &pattern) { return pattern[0].matches(name); });
}

bool name_patterns::match(std::string_view schema, std::string_view table) const noexcept
{
	return std::any_of(patterns_.begin(), patterns_.end(), [&](const auto &pattern) {
		return pattern[0].matches(schema) && pattern[1].matches(table);
	});
}

bool name_patterns::match(
	std::string_view schema, std::string_view table, std::string_view column) const noexcept
{
	return std::any_of(patterns_.begin(), patterns_.end(), [&](const auto &pattern) {
		return pattern[0].matches(schema) && pattern[1].matches(table) &&
			   pattern[2].matches(column);
	});
}

} // namespace cpp_output
