// The format of contrib/test_decoding.
#pragma once

#include "format/format.h"

namespace cpp_output
{

pmr_ptr<format> make_test_decoding_format(std::pmr::memory_resource *, const settings &);
std::span<const option> test_decoding_options() noexcept;

} // namespace cpp_output
