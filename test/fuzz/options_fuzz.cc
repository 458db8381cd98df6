/*
 * Opens sessions with any options. Whatever they are, the session opens or the error is one about
 * options, in texts that end; and what a list of patterns lets through is asked for, too.
 *
 * The input: names and values, each ended by a NUL; the value "\1" stands for none.
 */
#include "core_driver.h"
#include "fuzz_input.h"

#include <iterator>

using namespace cpp_output;

namespace
{

// So that the fuzzer need not find out the names first.
std::string name_of(std::string_view given)
{
	CpoOptionInfo info;
	if (given.size() == 1 && cpo_option_info(static_cast<unsigned char>(given[0]) % 64, &info))
		return info.name;
	return std::string(given);
}

void try_table(driver::core_driver &core, std::string_view name)
{
	CpoType type{25, CPO_STRING, -1, 'i', ',', nullptr, 0, nullptr};
	CpoColumn column{};
	column.name = column.quoted_name = column.type_name = column.typmod_name = driver::span(name);
	column.base_typmod_name = column.catalog_name = column.base_catalog_name = driver::span(name);
	column.position = 1;
	column.type = &type;
	CpoRelationInfo info{};
	info.oid = 1;
	info.schema = info.name = info.quoted_name = driver::span(name);
	info.replica_identity = 'd';
	info.ncolumns = 1;
	info.columns = &column;
	CpoRelation *relation = nullptr;
	driver::require(cpo_relation_define(core.session, &info, &relation) == CPO_OK, "define");
	cpo_relation_wants(relation, CPO_INSERT);
	driver::require(cpo_relation_columns(relation) != nullptr, "flags of columns");
	cpo_wants_origin(core.session, 1, driver::span(name));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t len)
{
	std::vector<std::string> words(1);
	for (std::size_t i = 0; i < len; ++i) {
		if (data[i] == 0)
			words.emplace_back();
		else
			words.back().push_back(static_cast<char>(data[i]));
	}
	std::vector<std::string> names;
	std::vector<CpoOption> options;
	for (std::size_t i = 0; i + 1 < words.size(); i += 2)
		names.push_back(name_of(words[i]));
	for (std::size_t i = 0; i + 1 < words.size(); i += 2)
		options.push_back({driver::span(names[i / 2]),
			words[i + 1] == "\1" ? CpoSpan{nullptr, 0} : driver::span(words[i + 1])});

	constexpr std::string_view plugins[] = {"cpp_output", "wal2json", "test_decoding", "other"};
	CpoServer server{};
	server.version_num = 150020;
	server.plugin_name = driver::span(plugins[len % std::size(plugins)]);
	server.ascii_only = len % 3 == 0;
	driver::memory_hooks memory;
	{
		driver::core_driver core(memory);
		const CpoMemory hooks = memory.record();
		const CpoStatus status =
			cpo_open(&hooks, &server, options.data(), options.size(), &core.session, &core.error);
		if (status == CPO_OK) {
			for (const std::string_view name :
				{std::string_view("public"), std::string_view("t"), std::string_view(words.back())})
				try_table(core, name);
		} else {
			const std::string_view state(core.error.sqlstate);
			driver::require(
				state == "22023" || state == "54000" || state == "0A000" || state == "42602",
				core.error.sqlstate);
			driver::require(core.error.message[0] != '\0', "an error says something");
			for (const char *text : {core.error.message, core.error.detail, core.error.hint})
				driver::require(
					std::memchr(text, 0, sizeof(core.error.message)) != nullptr, "texts end");
		}
	}
	driver::require(memory.in_use == 0 && !memory.mismatch, "memory leaked");
	return 0;
}
