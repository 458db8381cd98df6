// What the reorder engine throws besides std::bad_alloc.
#pragma once

#include <exception>

namespace cpp_output
{

// The text is a literal: std::logic_error would copy it with global new.
class reorder_error : public std::exception
{
public:
	explicit reorder_error(const char *what) noexcept : what_(what) {}
	const char *what() const noexcept override { return what_; }

private:
	const char *what_;
};

// A call that the contract rules out: an unknown transaction, a message that is too long.
class reorder_misuse final : public reorder_error
{
public:
	using reorder_error::reorder_error;
};

// A temporary file did not give back what was written to it.
class spill_corrupted final : public reorder_error
{
public:
	using reorder_error::reorder_error;
};

} // namespace cpp_output
