/*
 * Copying of text in which few bytes need more than a copy: blocks are stored
 * first and looked at afterwards; what is wrong in them is written over.
 *
 * A rule says which bytes those are and what to write for them:
 *
 *		static constexpr std::size_t expansion; // bytes out for one byte in, at most
 *		static constexpr bool bytewise;			 // step() consumes one byte
 *		template <typename Block> static Block copied(Block);	// what is stored of a block
 *		template <typename Block> static Block special(Block);	// marks bytes that are not copied
 *		static char *step(char *out, const char *&at, const char *stop, const char *end);
 *
 * step() writes one character, special or not, or a run of those that begin
 * before stop, and moves `at` behind it. A character may reach beyond stop, up
 * to end. It may store up to 6 bytes behind what it returns.
 */
#pragma once

#include "text/buffer.h"
#include "text/simd.h"

namespace cpp_output
{

// For the end of a character that begins before stop, and for step()'s extra bytes.
inline constexpr std::size_t scan_copy_slack = 3 * 6 + 6;

/*
 * Text beyond this is done piece by piece, so that the worst case is reserved
 * for one piece only. Small, as a buffer with a limit can be filled no nearer
 * to it than that.
 */
inline constexpr std::size_t scan_copy_piece = 1024;

// Consumes [at, stop), and the rest of a character that begins before stop.
template <typename Rule>
char *scan_copy_one_piece(char *out, const char *&position, const char *stop, const char *end)
{
	const char *at = position;
	while (stop - at >= static_cast<std::ptrdiff_t>(vector_block::size)) {
		const vector_block block = vector_block::load(at);
		Rule::copied(block).store(out);
		const auto marks = Rule::special(block).marks();
		if (marks == 0) {
			at += vector_block::size;
			out += vector_block::size;
			continue;
		}
		if constexpr (Rule::bytewise) {
			// No second look at the same bytes: worth a factor of two where quotes are frequent.
			// What is stored behind each special byte may come from the next block.
			if (stop - at >= static_cast<std::ptrdiff_t>(2 * vector_block::size)) {
				std::size_t done = 0;
				for (auto left = marks; left != 0; left = vector_block::without_first(left)) {
					const std::size_t clean = vector_block::first(left);
					const char *special = at + clean;
					out = Rule::step(out + (clean - done), special, stop, end);
					done = clean + 1;
					Rule::copied(vector_block::load(at + done)).store(out);
				}
				at += vector_block::size;
				out += vector_block::size - done;
				continue;
			}
		}
		const std::size_t clean = vector_block::first(marks);
		at += clean;
		out = Rule::step(out + clean, at, stop, end);
	}

	// Two loads that overlap take in what is left of a vector.
	const std::ptrdiff_t left = stop - at;
	if (left >= 8) {
		const scalar_block first = scalar_block::load(at);
		const scalar_block last = scalar_block::load(stop - 8);
		if ((Rule::special(first) | Rule::special(last)).marks() == 0) {
			Rule::copied(first).store(out);
			Rule::copied(last).store(out + left - 8);
			position = stop;
			return out + left;
		}
	} else if (left >= 4) {
		const scalar_block halves = scalar_block::load_halves(at, stop - 4);
		if (Rule::special(halves).marks() == 0) {
			Rule::copied(halves).store_halves(out, out + left - 4);
			position = stop;
			return out + left;
		}
	}
	while (at < stop)
		out = Rule::step(out, at, stop, end);
	position = at;
	return out;
}

// Appends text, between double quotes if it is to be quoted.
template <typename Rule>
void append_scanned(byte_buffer &buffer, std::string_view text, bool quoted)
{
	constexpr std::size_t piece_max = Rule::expansion * scan_copy_piece + scan_copy_slack;
	const char *at = text.data();
	const char *const end = at + text.size();

	char *out = text.size() <= scan_copy_piece
					? buffer.reserve(Rule::expansion * text.size() + scan_copy_slack + 2)
					: buffer.reserve(text.size() + piece_max + 2); // spares moving what was written
	if (quoted)
		*out++ = '"';
	while (end - at > static_cast<std::ptrdiff_t>(scan_copy_piece)) {
		out = scan_copy_one_piece<Rule>(out, at, at + scan_copy_piece, end);
		buffer.commit(out);
		out = buffer.reserve(piece_max + 1);
	}
	out = scan_copy_one_piece<Rule>(out, at, end, end);
	if (quoted)
		*out++ = '"';
	buffer.commit(out);
}

} // namespace cpp_output
