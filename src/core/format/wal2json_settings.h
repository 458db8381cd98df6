// Options of format wal2json.
#pragma once

#include "format/wal2json_filter.h"

#include <cstdint>
#include <memory_resource>
#include <vector>

namespace cpp_output
{

struct wal2json_settings {
	explicit wal2json_settings(std::pmr::memory_resource *memory)
		: filter_tables(memory), add_tables(memory), filter_origins(memory),
		  filter_msg_prefixes(memory), add_msg_prefixes(memory)
	{
	}

	int format_version = 1;
	bool include_transaction = true;
	bool include_empty_transaction = true;
	bool include_xids = false;
	bool include_timestamp = false;
	bool include_origin = false;
	bool include_lsn = false;
	bool include_schemas = true;
	bool include_types = true;
	bool include_type_oids = false;
	bool include_typmod = true;
	bool include_domain_data_type = false;
	bool include_column_positions = false;
	bool include_not_null = false;
	bool include_default = false;
	bool include_pk = false;
	bool partition_root = false;
	bool pretty_print = false;
	bool write_in_chunks = false;
	bool numeric_data_types_as_string = false;

	wal2json_tables filter_tables; // win over add_tables
	wal2json_tables add_tables;
	bool all_tables = true; // add_tables was not given
	std::pmr::vector<std::uint32_t> filter_origins;
	wal2json_words filter_msg_prefixes;
	wal2json_words add_msg_prefixes; // empty: all
};

} // namespace cpp_output
