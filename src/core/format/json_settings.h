// Options of format json.
#pragma once

namespace cpp_output
{

enum class numbers_as_string { off, wide, all };
enum class bytea_style { base64, hex };

struct json_settings {
	bool include_transaction = true;
	bool include_xids = false;
	bool include_lsn = false;
	bool include_timestamp = false;
	bool include_origin = false;
	bool include_relations = false;
	numbers_as_string numbers = numbers_as_string::off;
	bytea_style bytea = bytea_style::base64;
};

} // namespace cpp_output
