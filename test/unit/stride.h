// How far a loop over many cases goes at a time: 1, or more where each case is slow.
#pragma once

#include <cstdlib>

namespace cpp_output::test
{

// CPO_UNIT_STRIDE=11 does an eleventh of the cases, the first among them. A prime, or a loop
// over pairs of bytes leaves out bytes.
inline int stride()
{
	static const int cases = [] {
		const char *given = std::getenv("CPO_UNIT_STRIDE");
		const int value = given != nullptr ? std::atoi(given) : 1;
		return value > 0 ? value : 1;
	}();
	return cases;
}

} // namespace cpp_output::test
