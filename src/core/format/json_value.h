// Values of the native JSON format.
#pragma once

#include "core.h"
#include "format/json_settings.h"
#include "text/buffer.h"
#include "text/json_string.h"

#include <memory_resource>

namespace cpp_output
{

class json_value_writer
{
public:
	json_value_writer(
		std::pmr::memory_resource *memory, const json_settings &settings, text_mode mode)
		: memory_(memory), settings_(settings), mode_(mode)
	{
	}

	// Any value but an unchanged one, as a JSON value.
	void append(byte_buffer &out, const CpoType &type, const CpoValue &value) const;

	// What a type's output function gave, as a JSON value.
	void append_text(byte_buffer &out, const CpoType &type, std::string_view text) const;

	void append_string(byte_buffer &out, std::string_view text) const
	{
		append_json_string(out, text, mode_);
	}
	void append_base64(byte_buffer &out, std::string_view bytes) const;

private:
	void append_raw(byte_buffer &out, const CpoType &type, const CpoValue &value) const;
	void append_number(byte_buffer &out, CpoKind kind, std::string_view text) const;
	void append_bytea(byte_buffer &out, std::string_view bytes) const;
	void append_bytea_text(byte_buffer &out, std::string_view text) const;
	void append_time_text(byte_buffer &out, CpoKind kind, std::string_view text) const;
	bool append_array(byte_buffer &out, const CpoType &element, const CpoValue &value) const;
	bool append_array_text(byte_buffer &out, const CpoType &element, std::string_view text) const;
	bool append_record_text(byte_buffer &out, const CpoType &type, std::string_view text) const;
	bool as_string(CpoKind kind) const noexcept;

	std::pmr::memory_resource *memory_;
	json_settings settings_;
	text_mode mode_;
};

} // namespace cpp_output
