// Options of format test_decoding.
#pragma once

namespace cpp_output
{

struct test_decoding_settings {
	bool include_xids = true;
	bool include_timestamp = false;
	bool force_binary = false;
	bool skip_empty_xacts = false;
	bool only_local = false;
	bool include_rewrites = false;
};

} // namespace cpp_output
