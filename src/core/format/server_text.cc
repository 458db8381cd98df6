#include "format/server_text.h"

#include "error.h"
#include "text/integer.h"
#include "text/uuid.h"

namespace cpp_output
{

static_assert(server_text_max >= integer_max && server_text_max >= uuid_max);

char *write_server_text(char *out, CpoKind kind, const CpoValue &value)
{
	switch (kind) {
	case CPO_INTEGER:
	case CPO_BIGINT:
	case CPO_OIDS:
		return write_integer(out, value.integer);
	case CPO_BOOL:
		*out = value.integer != 0 ? 't' : 'f';
		return out + 1;
	case CPO_DATE:
		return write_date(out, value.integer);
	case CPO_TIME:
		return write_time(out, value.integer);
	case CPO_TIMESTAMP:
		return write_timestamp(out, value.integer, ' ');
	case CPO_TIMESTAMPTZ:
		return write_timestamptz(out, value.integer, static_cast<std::int32_t>(value.len), ' ');
	case CPO_UUID:
		return write_uuid(out, value.data);
	default:
		throw core_error(sqlstate::internal_error, "unexpected raw value of kind %d", kind);
	}
}

bool is_number_type(CpoOid type) noexcept
{
	switch (type) {
	case 20:   // int8
	case 21:   // int2
	case 23:   // int4
	case 26:   // oid
	case 700:  // float4
	case 701:  // float8
	case 1700: // numeric
		return true;
	default:
		return false;
	}
}

} // namespace cpp_output
