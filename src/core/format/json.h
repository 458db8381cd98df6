// Our native format: one JSON object a message.
#pragma once

#include "format/format.h"

namespace cpp_output
{

pmr_ptr<format> make_json_format(std::pmr::memory_resource *, const settings &);
std::span<const option> json_options() noexcept;

} // namespace cpp_output
