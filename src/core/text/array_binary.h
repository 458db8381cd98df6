// Arrays in the server's own binary form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cpp_output
{

enum class array_item {
	value,
	null,
	compressed, // an element that only the server can unpack
	end,		// no more elements
	malformed	// not an array that the server would make; nothing follows
};

/*
 * Steps through the elements of an array in row-major order:
 *
 *		array_binary_reader array(data, len, typlen, typalign);
 *		std::string_view element;
 *		while ((item = array.next(element)) == array_item::value || ...)
 *
 * The varlena is whole: 4-byte length word, neither compressed nor external,
 * in memory aligned to 8 bytes. Nothing beyond len is ever read, whatever the
 * bytes say. typlen and typalign are the element type's, as in pg_type.
 */
class array_binary_reader
{
public:
	static constexpr int max_dimensions = 6;

	array_binary_reader(
		const char *data, std::size_t len, std::int16_t typlen, char typalign) noexcept;

	bool malformed() const noexcept { return malformed_; }

	// Number of dimensions; 0 for an empty array, and for a malformed one.
	int ndim() const noexcept { return ndim_; }
	// The length of each dimension, ndim() of them, none negative.
	const std::int32_t *dims() const noexcept { return dims_; }
	// The product of all dims; 0 where there are none.
	std::size_t count() const noexcept { return count_; }
	// The element type's oid.
	std::uint32_t element_type() const noexcept { return element_type_; }

	/*
	 * The next element. For a value, `element` is its bytes without any length
	 * word or end mark; else it is left empty. A fixed-width element is as the
	 * server stores it, in the machine's byte order and at its own alignment.
	 * After a compressed element the reader can go on.
	 */
	array_item next(std::string_view &element) noexcept;

private:
	array_item fail() noexcept;

	const char *data_;
	std::size_t len_ = 0;
	std::size_t at_ = 0;	 // offset of the next element that is not null
	std::size_t bitmap_ = 0; // offset of the null bitmap, 0 for none
	std::size_t index_ = 0;
	std::size_t count_ = 0;
	std::size_t align_ = 1;
	std::uint32_t element_type_ = 0;
	std::int32_t dims_[max_dimensions] = {};
	int ndim_ = 0;
	std::int16_t typlen_;
	bool malformed_ = false;
};

} // namespace cpp_output
