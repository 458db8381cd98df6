/*
 * Each writer of src/core/text beside a plain way to the same bytes.
 *
 *		g++ -std=gnu++20 -O2 -Isrc/core bench/micro/text_benchmark.cc src/core/text/[a-z]*.cc \
 *			-lbenchmark -lbenchmark_main -lpthread -o text_benchmark
 *
 * Time is of one value; bytes_per_second counts the bytes of the input where
 * that is text or bytes, else of the output.
 */
#include "text/array_binary.h"
#include "text/array_text.h"
#include "text/base64.h"
#include "text/datetime.h"
#include "text/hex.h"
#include "text/integer.h"
#include "text/json_document.h"
#include "text/json_string.h"
#include "text/numeric.h"
#include "text/sql_literal.h"
#include "text/utf8.h"
#include "text/uuid.h"

#include <benchmark/benchmark.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <random>
#include <string>
#include <vector>

using namespace cpp_output;

namespace
{

// --- text of a given length ---------------------------------------------------

// Words; one byte in `rarity` is from `odd` (0: none).
std::string sample_text(std::size_t n, std::string_view odd, unsigned rarity)
{
	std::mt19937_64 random(n + rarity);
	std::string text;
	while (text.size() < n) {
		if (rarity != 0 && random() % rarity == 0)
			text += odd[random() % odd.size()];
		else
			text += static_cast<char>('a' + random() % 26);
	}
	return text;
}

std::string sample_bytes(std::size_t n)
{
	std::mt19937_64 random(n);
	std::string bytes(n, '\0');
	for (char &c : bytes)
		c = static_cast<char>(random());
	return bytes;
}

// Runs an appender on one text of range(0) bytes, again and again into the same buffer.
template <typename Append>
void run_append(benchmark::State &state, const std::string &text, Append append)
{
	byte_buffer out(std::pmr::new_delete_resource());
	for (auto _ : state) {
		out.clear();
		append(out, std::string_view(text));
		benchmark::DoNotOptimize(out.data());
		benchmark::ClobberMemory();
	}
	state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

std::size_t length(const benchmark::State &state)
{
	return static_cast<std::size_t>(state.range(0));
}

void plain_json(byte_buffer &out, std::string_view text)
{
	out.push_back('"');
	for (const char c : text) {
		switch (c) {
		case '"':
		case '\\':
			out.push_back('\\');
			out.push_back(c);
			break;
		case '\n':
			out.append("\\n");
			break;
		default:
			if (static_cast<unsigned char>(c) < 0x20) {
				char unit[8];
				std::snprintf(unit, sizeof unit, "\\u%04x", c);
				out.append(unit);
			} else {
				out.push_back(c);
			}
		}
	}
	out.push_back('"');
}

void json_string_fast(benchmark::State &state)
{
	run_append(state, sample_text(length(state), "\"\n", static_cast<unsigned>(state.range(1))),
		[](byte_buffer &out, std::string_view text) {
			append_json_string(out, text, text_mode::utf8);
		});
}
void json_string_plain(benchmark::State &state)
{
	run_append(state, sample_text(length(state), "\"\n", static_cast<unsigned>(state.range(1))),
		plain_json);
}
void json_string_ascii(benchmark::State &state)
{
	run_append(state, sample_text(length(state), "\"\n", static_cast<unsigned>(state.range(1))),
		[](byte_buffer &out, std::string_view text) {
			append_json_string(out, text, text_mode::ascii);
		});
}
void json_string_memcpy(benchmark::State &state)
{
	run_append(state, sample_text(length(state), "", 0),
		[](byte_buffer &out, std::string_view text) { out.append(text); });
}

void text_sizes(benchmark::internal::Benchmark *benchmark)
{
	for (const int n : {2, 5, 10, 15, 23, 31, 64, 200, 1000, 10000})
		benchmark->Args({n, 0});
	for (const int n : {10, 64, 1000})
		benchmark->Args({n, 20})->Args({n, 6});
}
BENCHMARK(json_string_fast)->Apply(text_sizes);
BENCHMARK(json_string_plain)->Apply(text_sizes);
BENCHMARK(json_string_ascii)->Args({64, 0})->Args({64, 20})->Args({1000, 20});
BENCHMARK(json_string_memcpy)->Arg(10)->Arg(64)->Arg(1000)->Arg(10000);

void json_document_fast(benchmark::State &state)
{
	run_append(
		state, sample_text(length(state), "\"\n", 10), [](byte_buffer &out, std::string_view text) {
			append_json_document(out, text, text_mode::utf8);
		});
}
void json_document_plain(benchmark::State &state)
{
	run_append(
		state, sample_text(length(state), "\"\n", 10), [](byte_buffer &out, std::string_view text) {
			for (const char c : text)
				out.push_back(static_cast<unsigned char>(c) < 0x20 ? ' ' : c);
		});
}
BENCHMARK(json_document_fast)->Arg(15)->Arg(64)->Arg(1000);
BENCHMARK(json_document_plain)->Arg(15)->Arg(64)->Arg(1000);

void sql_literal_fast(benchmark::State &state)
{
	run_append(state, sample_text(length(state), "'", 100), append_sql_literal_body);
}
void sql_literal_plain(benchmark::State &state)
{
	run_append(
		state, sample_text(length(state), "'", 100), [](byte_buffer &out, std::string_view text) {
			for (const char c : text) {
				if (c == '\'')
					out.push_back(c);
				out.push_back(c);
			}
		});
}
BENCHMARK(sql_literal_fast)->Arg(15)->Arg(64)->Arg(1000);
BENCHMARK(sql_literal_plain)->Arg(15)->Arg(64)->Arg(1000);

bool plain_is_utf8(std::string_view text)
{
	const char *at = text.data();
	const char *const end = at + text.size();
	while (at < end) {
		const std::size_t sequence = utf8_sequence(at, end);
		if (sequence == 0)
			return false;
		at += sequence;
	}
	return true;
}

template <typename Check> void run_check(benchmark::State &state, Check check)
{
	std::string text = sample_text(length(state), "", 0);
	for (std::size_t i = 0; state.range(1) != 0 && i + 1 < text.size();
		 i += static_cast<std::size_t>(state.range(1)))
		text.replace(i, 2, "\xc3\xa9");
	for (auto _ : state) {
		benchmark::DoNotOptimize(text.data());
		benchmark::DoNotOptimize(check(text));
	}
	state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}
void is_utf8_fast(benchmark::State &state)
{
	run_check(state, is_utf8);
}
void is_utf8_plain(benchmark::State &state)
{
	run_check(state, plain_is_utf8);
}
BENCHMARK(is_utf8_fast)->Args({64, 0})->Args({1000, 0})->Args({1000, 30})->Args({1000, 2});
BENCHMARK(is_utf8_plain)->Args({64, 0})->Args({1000, 0})->Args({1000, 30})->Args({1000, 2});

// --- bytes ----------------------------------------------------------------------

char *plain_hex(char *out, const char *data, std::size_t n)
{
	for (std::size_t i = 0; i < n; i++) {
		const auto c = static_cast<unsigned char>(data[i]);
		*out++ = "0123456789abcdef"[c >> 4];
		*out++ = "0123456789abcdef"[c & 0xf];
	}
	return out;
}

char *plain_base64(char *out, const char *data, std::size_t n)
{
	static constexpr char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0;
	int count = 0;
	char *const start = out;
	for (std::size_t i = 0; i < n; i++) {
		bits = bits << 8 | static_cast<unsigned char>(data[i]);
		for (count += 8; count >= 6; count -= 6)
			*out++ = alphabet[bits >> (count - 6) & 0x3f];
	}
	if (count > 0)
		*out++ = alphabet[bits << (6 - count) & 0x3f];
	while ((out - start) % 4 != 0)
		*out++ = '=';
	return out;
}

template <char *(*write)(char *, const char *, std::size_t)> void bytes(benchmark::State &state)
{
	const std::string data = sample_bytes(length(state));
	std::vector<char> out(2 * data.size() + 4);
	for (auto _ : state) {
		benchmark::DoNotOptimize(write(out.data(), data.data(), data.size()));
		benchmark::ClobberMemory();
	}
	state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * data.size()));
}
BENCHMARK_TEMPLATE(bytes, write_hex)
	->Name("hex_fast")
	->Arg(16)
	->Arg(63)
	->Arg(64)
	->Arg(1000)
	->Arg(10000);
BENCHMARK_TEMPLATE(bytes, plain_hex)->Name("hex_plain")->Arg(16)->Arg(64)->Arg(1000);
BENCHMARK_TEMPLATE(bytes, write_base64)
	->Name("base64_fast")
	->Arg(16)
	->Arg(27)
	->Arg(64)
	->Arg(1000)
	->Arg(10000);
BENCHMARK_TEMPLATE(bytes, plain_base64)->Name("base64_plain")->Arg(16)->Arg(64)->Arg(1000);

// --- values ---------------------------------------------------------------------

constexpr std::size_t value_count = 1024;

// Runs a writer on many values in turn.
template <typename Value, typename Write>
void run_write(benchmark::State &state, const std::vector<Value> &values, Write write)
{
	char out[128];
	std::size_t i = 0;
	std::size_t total = 0;
	for (auto _ : state) {
		const char *const end = write(out, values[i]);
		total += static_cast<std::size_t>(end - out);
		benchmark::ClobberMemory();
		i = (i + 1) % values.size();
	}
	state.SetBytesProcessed(static_cast<std::int64_t>(total));
}

std::vector<std::int64_t> sample_integers(std::int64_t limit)
{
	std::mt19937_64 random(1);
	std::vector<std::int64_t> values(value_count);
	for (auto &value : values)
		value = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
	return values;
}

void integer_fast(benchmark::State &state)
{
	run_write(state, sample_integers(state.range(0)), write_integer);
}
void integer_to_chars(benchmark::State &state)
{
	run_write(state, sample_integers(state.range(0)), [](char *out, std::int64_t value) {
		return std::to_chars(out, out + integer_max, value).ptr;
	});
}
void integer_snprintf(benchmark::State &state)
{
	run_write(state, sample_integers(state.range(0)), [](char *out, std::int64_t value) {
		return out + std::snprintf(out, 32, "%lld", static_cast<long long>(value));
	});
}
BENCHMARK(integer_fast)->Arg(10)->Arg(10000)->Arg(1'000'000'000)->Arg(INT64_MAX);
BENCHMARK(integer_to_chars)->Arg(10)->Arg(10000)->Arg(1'000'000'000)->Arg(INT64_MAX);
BENCHMARK(integer_snprintf)->Arg(10000)->Arg(INT64_MAX);

// 2000 to 2031
void timestamp_fast(benchmark::State &state)
{
	run_write(state, sample_integers(1'000'000'000'000'000),
		[](char *out, std::int64_t us) { return write_timestamp(out, us, ' '); });
}
void timestamptz_fast(benchmark::State &state)
{
	run_write(state, sample_integers(1'000'000'000'000'000),
		[](char *out, std::int64_t us) { return write_timestamptz(out, us, 3600, ' '); });
}
void timestamp_gmtime(benchmark::State &state)
{
	run_write(state, sample_integers(1'000'000'000'000'000), [](char *out, std::int64_t us) {
		const std::time_t seconds = 946684800 + us / 1'000'000;
		std::tm tm;
		gmtime_r(&seconds, &tm);
		return out + std::snprintf(out, 64, "%04d-%02d-%02d %02d:%02d:%02d.%06d", tm.tm_year + 1900,
						 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
						 static_cast<int>(us % 1'000'000));
	});
}
void date_fast(benchmark::State &state)
{
	run_write(state, sample_integers(11574), write_date);
}
BENCHMARK(timestamp_fast);
BENCHMARK(timestamptz_fast);
BENCHMARK(timestamp_gmtime);
BENCHMARK(date_fast);

void uuid_fast(benchmark::State &state)
{
	const std::string data = sample_bytes(16);
	run_write(state, std::vector<const char *>(16, data.data()), write_uuid);
}
void uuid_snprintf(benchmark::State &state)
{
	const std::string data = sample_bytes(16);
	run_write(state, std::vector<const char *>(16, data.data()), [](char *out, const char *bytes) {
		for (int i = 0; i < 16; i++)
			out += std::snprintf(out, 4, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
				static_cast<unsigned char>(bytes[i]));
		return out;
	});
}
BENCHMARK(uuid_fast);
BENCHMARK(uuid_snprintf);

// A numeric of this many digits in base 10000, one of them behind the point.
std::string sample_numeric(std::size_t ndigits)
{
	std::vector<std::uint16_t> words{static_cast<std::uint16_t>(0x8000 | 2 << 7 | (ndigits - 2))};
	for (std::size_t i = 0; i < ndigits; i++)
		words.push_back(static_cast<std::uint16_t>(1234 + 777 * i));
	return {reinterpret_cast<const char *>(words.data()), 2 * words.size()};
}

void plain_numeric(byte_buffer &out, std::string_view data)
{
	std::uint16_t word;
	std::memcpy(&word, data.data(), 2);
	const int weight = word & 0x3f;
	const int scale = word >> 7 & 0x3f;
	char group[8];
	for (int i = 0; i <= weight + (scale + 3) / 4; i++) {
		std::memcpy(&word, data.data() + 2 + 2 * i, 2);
		if (i == weight + 1)
			out.push_back('.');
		const int n = std::snprintf(group, sizeof group, i == 0 ? "%d" : "%04d", word);
		out.append({group, static_cast<std::size_t>(n)});
	}
	out.truncate(out.size() - static_cast<std::size_t>((4 - scale % 4) % 4));
}

void numeric_fast(benchmark::State &state)
{
	run_append(state, sample_numeric(length(state)), [](byte_buffer &out, std::string_view data) {
		append_numeric(out, data.data(), data.size());
	});
}
void numeric_plain(benchmark::State &state)
{
	run_append(state, sample_numeric(length(state)), plain_numeric);
}
BENCHMARK(numeric_fast)->Arg(2)->Arg(3)->Arg(8);
BENCHMARK(numeric_plain)->Arg(2)->Arg(3)->Arg(8);

// --- arrays of 100 integers: binary beside text ------------------------------------

void array_binary_of_integers(benchmark::State &state)
{
	alignas(8) std::int32_t words[6 + 100] = {};
	words[0] = static_cast<std::int32_t>(sizeof words << 2);
	words[1] = 1;
	words[3] = 23;
	words[4] = 100;
	std::int64_t sum = 0;
	for (auto _ : state) {
		array_binary_reader array(reinterpret_cast<const char *>(words), sizeof words, 4, 'i');
		std::string_view element;
		while (array.next(element) == array_item::value) {
			std::int32_t value;
			std::memcpy(&value, element.data(), sizeof value);
			sum += value;
		}
	}
	benchmark::DoNotOptimize(sum);
}
void array_text_of_integers(benchmark::State &state)
{
	std::string text = "{";
	for (int i = 0; i < 100; i++)
		text += std::to_string(12345 + i) + (i < 99 ? "," : "}");
	byte_buffer scratch(std::pmr::new_delete_resource());
	std::size_t total = 0;
	for (auto _ : state) {
		array_text_reader array(text);
		std::string_view element;
		text_event event;
		while ((event = array.next(element, scratch)) != text_event::end)
			total += element.size();
	}
	benchmark::DoNotOptimize(total);
}
BENCHMARK(array_binary_of_integers);
BENCHMARK(array_text_of_integers);

} // namespace
