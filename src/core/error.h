// The exception that carries an error to the user.
#pragma once

#include "core.h"

namespace cpp_output
{

namespace sqlstate
{
constexpr const char *invalid_parameter_value = "22023";
constexpr const char *invalid_name = "42602";
constexpr const char *feature_not_supported = "0A000";
constexpr const char *program_limit_exceeded = "54000";
constexpr const char *out_of_memory = "53200";
constexpr const char *internal_error = "XX000";
constexpr const char *data_corrupted = "XX001";
} // namespace sqlstate

/*
 * Thrown inside the core, turned into CPO_FAILED at its border. Texts follow PostgreSQL's style
 * and are cut at the size of CpoError's arrays; no memory is allocated.
 */
class core_error
{
public:
	__attribute__((format(printf, 3, 4)))
	core_error(const char *sqlstate, const char *format, ...) noexcept;
	__attribute__((format(printf, 2, 3))) core_error &detail(const char *format, ...) noexcept;
	__attribute__((format(printf, 2, 3))) core_error &hint(const char *format, ...) noexcept;

	const CpoError &record() const noexcept { return record_; }

private:
	CpoError record_;
};

} // namespace cpp_output
