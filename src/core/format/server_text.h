// Values of fixed width as the server's own output functions print them.
#pragma once

#include "core.h"
#include "text/datetime.h"

#include <cstddef>

namespace cpp_output
{

constexpr std::size_t server_text_max = datetime_max;

/*
 * Writes a raw value of a number (but numeric), bool, date, time, timestamp or uuid, in the form of
 * DateStyle ISO. Throws core_error for another kind.
 */
char *write_server_text(char *out, CpoKind kind, const CpoValue &value);

// The types that the peers print without quotes, by their fixed oids in pg_type.
bool is_number_type(CpoOid type) noexcept;

} // namespace cpp_output
