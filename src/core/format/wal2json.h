// The format of wal2json, versions 1 and 2.
#pragma once

#include "format/format.h"

namespace cpp_output
{

pmr_ptr<format> make_wal2json_format(std::pmr::memory_resource *, const settings &);
std::span<const option> wal2json_options() noexcept;
// Of options that go together; throws core_error.
void check_wal2json(settings &);

} // namespace cpp_output
