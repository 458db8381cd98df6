#include "text/array_binary.h"

#include <bit>
#include <cstring>

namespace cpp_output
{

namespace
{

// Offsets in the array's header; the dims come after it, then the lower bounds.
constexpr std::size_t offset_length = 0;
constexpr std::size_t offset_ndim = 4;
constexpr std::size_t offset_data = 8; // 0: no null bitmap
constexpr std::size_t offset_element_type = 12;
constexpr std::size_t offset_dims = 16;
// What is stored for the elements starts at a multiple of this.
constexpr std::size_t data_alignment = 8;
// The server's own limit: 1 GB of pointers.
constexpr std::int64_t elements_max = 0x3fffffff / 8;

std::uint32_t load_32(const char *at)
{
	std::uint32_t value;
	std::memcpy(&value, at, sizeof value);
	return value;
}

std::size_t aligned(std::size_t offset, std::size_t alignment)
{
	return (offset + alignment - 1) & ~(alignment - 1);
}

enum class varlena_form { plain, compressed, brief, external };

// The two bits that tell are the lowest or the highest ones of the first byte.
varlena_form form_of(unsigned char first)
{
	if constexpr (std::endian::native == std::endian::little) {
		if ((first & 0x01) != 0)
			return first == 0x01 ? varlena_form::external : varlena_form::brief;
		return (first & 0x02) != 0 ? varlena_form::compressed : varlena_form::plain;
	} else {
		if ((first & 0x80) != 0)
			return first == 0x80 ? varlena_form::external : varlena_form::brief;
		return (first & 0x40) != 0 ? varlena_form::compressed : varlena_form::plain;
	}
}

// Both include the length word itself.
std::size_t brief_length(unsigned char first)
{
	return std::endian::native == std::endian::little ? first >> 1 : first & 0x7f;
}

std::size_t length_of_word(std::uint32_t word)
{
	return std::endian::native == std::endian::little ? word >> 2 : word & 0x3fffffff;
}

// 0 for what is no alignment.
std::size_t alignment_of(char typalign)
{
	switch (typalign) {
	case 'c':
		return 1;
	case 's':
		return 2;
	case 'i':
		return 4;
	case 'd':
		return 8;
	default:
		return 0;
	}
}

} // namespace

array_binary_reader::array_binary_reader(
	const char *data, std::size_t len, std::int16_t typlen, char typalign) noexcept
	: data_(data), align_(alignment_of(typalign)), typlen_(typlen)
{
	malformed_ = true; // until all is checked
	if (align_ == 0 || typlen == 0 || typlen < -2)
		return;
	if (len < offset_dims || form_of(static_cast<unsigned char>(*data)) != varlena_form::plain)
		return;
	len_ = length_of_word(load_32(data + offset_length));
	if (len_ > len || len_ < offset_dims)
		return;

	const auto ndim = static_cast<std::int32_t>(load_32(data + offset_ndim));
	if (ndim < 0 || ndim > max_dimensions)
		return;
	const std::size_t header = offset_dims + 8 * static_cast<std::size_t>(ndim);
	if (len_ < header)
		return;

	std::int64_t count = ndim == 0 ? 0 : 1;
	for (int i = 0; i < ndim; i++) {
		dims_[i] = static_cast<std::int32_t>(
			load_32(data + offset_dims + 4 * static_cast<std::size_t>(i)));
		if (dims_[i] < 0)
			return;
		count *= dims_[i];
		if (count > elements_max)
			return;
	}

	const std::size_t start = load_32(data + offset_data);
	if (start == 0) {
		at_ = aligned(header, data_alignment);
	} else {
		const std::size_t bitmap_size = (static_cast<std::size_t>(count) + 7) / 8;
		if (start > len_ || start < header + bitmap_size || start % data_alignment != 0)
			return;
		bitmap_ = header;
		at_ = start;
	}
	element_type_ = load_32(data + offset_element_type);
	ndim_ = ndim;
	count_ = static_cast<std::size_t>(count);
	malformed_ = false;
}

array_item array_binary_reader::fail() noexcept
{
	malformed_ = true;
	return array_item::malformed;
}

array_item array_binary_reader::next(std::string_view &element) noexcept
{
	element = {};
	if (malformed_)
		return array_item::malformed;
	if (index_ == count_)
		return array_item::end;

	const std::size_t index = index_++;
	if (bitmap_ != 0) {
		const unsigned bits = static_cast<unsigned char>(data_[bitmap_ + index / 8]);
		if ((bits >> index % 8 & 1) == 0)
			return array_item::null;
	}

	// padding after the last element may reach beyond the end
	if (at_ > len_)
		return fail();
	const std::size_t room = len_ - at_;
	const char *const at = data_ + at_;
	std::size_t header = 0;
	std::size_t size; // of header and content
	std::size_t end_mark = 0;
	array_item item = array_item::value;

	if (typlen_ > 0) {
		size = static_cast<std::size_t>(typlen_);
	} else if (typlen_ == -1) {
		if (room == 0)
			return fail();
		const unsigned char first = static_cast<unsigned char>(*at);
		switch (form_of(first)) {
		case varlena_form::brief:
			header = 1;
			size = brief_length(first);
			break;
		case varlena_form::plain:
		case varlena_form::compressed:
			if (room < 4)
				return fail();
			header = 4;
			size = length_of_word(load_32(at));
			if (form_of(first) == varlena_form::compressed)
				item = array_item::compressed;
			break;
		default:
			return fail();
		}
	} else {
		const void *mark = room == 0 ? nullptr : std::memchr(at, '\0', room);
		if (mark == nullptr)
			return fail();
		end_mark = 1;
		size = static_cast<std::size_t>(static_cast<const char *>(mark) - at) + end_mark;
	}
	if (size < header || size > room)
		return fail();

	if (item == array_item::value)
		element = {at + header, size - header - end_mark};
	at_ = aligned(at_ + size, align_);
	return item;
}

} // namespace cpp_output
