// What the options of a slot come to.
#pragma once

#include "core.h"
#include "format/json_settings.h"
#include "format/test_decoding_settings.h"
#include "format/wal2json_settings.h"
#include "name_pattern.h"
#include "reorder/reorder_logs.h"

#include <memory_resource>

namespace cpp_output
{

struct format_entry;

// A bit for each CpoAct.
constexpr unsigned act_bit(CpoAct act)
{
	return 1U << static_cast<unsigned>(act);
}
constexpr unsigned all_acts =
	act_bit(CPO_INSERT) | act_bit(CPO_UPDATE) | act_bit(CPO_DELETE) | act_bit(CPO_TRUNCATE);

struct settings {
	explicit settings(std::pmr::memory_resource *memory)
		: tables(memory), exclude_tables(memory), exclude_columns(memory), exclude_origins(memory),
		  message_prefixes(memory), wal2json(memory)
	{
	}

	const format_entry *format = nullptr;
	int server_version = 0;
	bool ascii_only = false;
	bool unchecked_text = false;

	CpoStreaming streaming = CPO_STREAMING_OFF;
	std::size_t reorder_work_mem = std::size_t{64} << 20;
	compression spill_compression = compression::off;
	CpoTwoPhase two_phase = CPO_TWO_PHASE_SLOT;

	name_patterns tables; // empty: all
	name_patterns exclude_tables;
	name_patterns exclude_columns;
	unsigned acts = all_acts;
	bool skip_origins = false;
	name_patterns exclude_origins;
	bool messages = true;
	name_patterns message_prefixes; // empty: all

	json_settings json;
	test_decoding_settings test_decoding;
	wal2json_settings wal2json;
};

} // namespace cpp_output
