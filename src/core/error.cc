#include "error.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace cpp_output
{

core_error::core_error(const char *sqlstate, const char *format, ...) noexcept : record_{}
{
	std::memcpy(record_.sqlstate, sqlstate, sizeof(record_.sqlstate));
	va_list args;
	va_start(args, format);
	std::vsnprintf(record_.message, sizeof(record_.message), format, args);
	va_end(args);
}

core_error &core_error::detail(const char *format, ...) noexcept
{
	va_list args;
	va_start(args, format);
	std::vsnprintf(record_.detail, sizeof(record_.detail), format, args);
	va_end(args);
	return *this;
}

core_error &core_error::hint(const char *format, ...) noexcept
{
	va_list args;
	va_start(args, format);
	std::vsnprintf(record_.hint, sizeof(record_.hint), format, args);
	va_end(args);
	return *this;
}

} // namespace cpp_output
