// The reorder engine, one promise at a time.
#include "reorder_model.h"

#include <gtest/gtest.h>
#include <random>

namespace cpp_output
{
namespace
{

using model::counting_memory;
using model::file_store;

class reorder_logs_test : public testing::Test
{
protected:
	void make(std::size_t memory_limit, std::size_t chunk_size = 256,
		compression method = compression::off)
	{
		files = {};
		counters = {};
		logs.emplace(&memory, reorder_logs::settings{memory_limit, chunk_size, method}, counters);
	}

	void append(CpoXid xid, CpoLsn lsn, std::string_view bytes)
	{
		logs->append(xid, {lsn, 0, 0, bytes});
	}

	void drain()
	{
		for (;;) {
			const io_request request = logs->next_io();
			if (request.what == io_request::kind::none)
				break;
			files.perform(request);
		}
	}

	// The messages in order, each as LSN:bytes.
	std::vector<std::string> replay(CpoXid xid)
	{
		std::vector<std::string> all;
		replayed message;
		io_request request;
		logs->start_replay(xid);
		for (;;) {
			switch (logs->replay_next(message, request)) {
			case reorder_logs::step::done:
				return all;
			case reorder_logs::step::io:
				files.perform(request);
				++reads;
				break;
			case reorder_logs::step::record:
				all.push_back(
					std::to_string(message.lsn) + ":" + std::string(message.data, message.len));
			}
		}
	}

	using strings = std::vector<std::string>;

	counting_memory memory;
	CpoCounters counters{};
	file_store files;
	std::uint64_t reads = 0;
	std::optional<reorder_logs> logs;
};

TEST_F(reorder_logs_test, replay_gives_what_was_appended)
{
	make(1 << 20);
	logs->open(1);
	logs->open(2);
	logs->append(1, {10, 3, 0x85, "abcdef"});
	append(2, 11, "two");
	append(1, 12, "");
	append(1, 12, "same LSN");

	replayed message;
	io_request request;
	logs->start_replay(1);
	ASSERT_EQ(logs->replay_next(message, request), reorder_logs::step::record);
	EXPECT_EQ(message.lsn, 10u);
	EXPECT_EQ(message.gap, 3u);
	EXPECT_EQ(message.flags, 0x85);
	EXPECT_EQ(std::string_view(message.data, message.len), "abcdef");
	// the room in front of a message is free to be written to, and so is the message
	std::memset(message.data - CPO_HEADROOM, 'x', CPO_HEADROOM + message.len);
	ASSERT_EQ(logs->replay_next(message, request), reorder_logs::step::record);
	EXPECT_EQ(message.len, 0u);
	EXPECT_EQ(message.gap, 0u);
	std::memset(message.data - CPO_HEADROOM, 'x', CPO_HEADROOM);
	ASSERT_EQ(logs->replay_next(message, request), reorder_logs::step::record);
	EXPECT_EQ(std::string_view(message.data, message.len), "same LSN");
	EXPECT_EQ(logs->replay_next(message, request), reorder_logs::step::done);

	EXPECT_EQ(counters.logs, 1u);
	EXPECT_EQ(replay(2), strings{"11:two"});
	EXPECT_EQ(counters.logs, 0u);
	EXPECT_EQ(counters.discarded_transactions, 0u);
	EXPECT_EQ(counters.memory_bytes, 0u);
}

TEST_F(reorder_logs_test, cut_is_exact_within_a_chunk)
{
	make(1 << 20, 4096);
	for (CpoLsn from = 9; from <= 16; ++from) {
		logs->open(1);
		for (CpoLsn lsn = 10; lsn < 15; ++lsn)
			append(1, lsn, "old");
		logs->cut(1, from);
		append(1, 20, "new");
		strings expected;
		for (CpoLsn lsn = 10; lsn < std::min<CpoLsn>(from, 15); ++lsn)
			expected.push_back(std::to_string(lsn) + ":old");
		expected.push_back("20:new");
		EXPECT_EQ(replay(1), expected) << from;
	}
	EXPECT_EQ(counters.discarded_subtransactions, 6u);
}

TEST_F(reorder_logs_test, cut_is_exact_within_a_spilled_block)
{
	make(0, 4096);
	for (CpoLsn from = 9; from <= 16; ++from) {
		logs->open(1);
		for (CpoLsn lsn = 10; lsn < 15; ++lsn)
			append(1, lsn, "old");
		drain();
		ASSERT_EQ(files.count(), 1u);
		logs->cut(1, from + 1); // the cut of a descendant comes first
		logs->cut(1, from);
		append(1, 20, "new");
		drain();
		append(1, 20, "newer");
		strings expected;
		for (CpoLsn lsn = 10; lsn < std::min<CpoLsn>(from, 15); ++lsn)
			expected.push_back(std::to_string(lsn) + ":old");
		expected.push_back("20:new");
		expected.push_back("20:newer");
		EXPECT_EQ(replay(1), expected) << from;
		drain();
		EXPECT_EQ(files.count(), 0u);
	}
}

TEST_F(reorder_logs_test, cut_to_nothing_releases_the_file)
{
	make(0);
	logs->open(1);
	append(1, 10, "a");
	drain();
	EXPECT_EQ(counters.files, 1u);
	EXPECT_EQ(counters.file_bytes, record_size(1));
	logs->cut(1, 10);
	EXPECT_EQ(counters.memory_bytes, 0u);
	drain();
	EXPECT_EQ(files.count(), 0u);
	EXPECT_EQ(counters.files, 0u);
	EXPECT_EQ(counters.file_bytes, 0u);
	EXPECT_EQ(counters.logs, 1u);
	append(1, 12, "b");
	drain();
	EXPECT_EQ(counters.spilled_transactions, 1u);
	EXPECT_EQ(replay(1), strings{"12:b"});
}

TEST_F(reorder_logs_test, rollbacks_do_not_make_the_file_grow)
{
	make(0);
	logs->open(1);
	append(1, 10, "kept");
	drain();
	const std::string bytes(100, 'x');
	for (CpoLsn lsn = 20; lsn < 2000; lsn += 10) {
		append(1, lsn, bytes);
		drain();
		append(1, lsn + 1, bytes);
		drain();
		logs->cut(1, lsn);
	}
	EXPECT_EQ(counters.file_bytes, record_size(4) + 2 * record_size(100));
	EXPECT_EQ(files.bytes(), counters.file_bytes);
	EXPECT_EQ(replay(1), strings{"10:kept"});
}

TEST_F(reorder_logs_test, the_largest_goes_first)
{
	make(5 * 256);
	logs->open(1);
	logs->open(2);
	CpoLsn lsn = 12;
	const std::string chunkful(256 - sizeof(chunk) - sizeof(record_header), 'x');
	for (int i = 0; i < 2; ++i)
		append(1, lsn++, chunkful);
	for (int i = 0; i < 3; ++i)
		append(2, lsn++, chunkful);
	EXPECT_EQ(logs->next_io().what, io_request::kind::none);
	append(1, lsn++, chunkful);
	append(1, lsn++, chunkful);
	const io_request request = logs->next_io();
	EXPECT_EQ(request.what, io_request::kind::write);
	EXPECT_EQ(request.xid, 1u);
}

TEST_F(reorder_logs_test, a_forgotten_write_is_asked_for_again)
{
	make(0);
	logs->open(1);
	append(1, 10, "a");
	const io_request first = logs->next_io();
	ASSERT_EQ(first.what, io_request::kind::write);
	logs->begin_event();
	EXPECT_EQ(counters.spill_writes, 0u);
	EXPECT_GT(counters.memory_bytes, 256u - 1);
	append(1, 11, "b");
	const io_request second = logs->next_io();
	EXPECT_EQ(second.what, io_request::kind::write);
	EXPECT_EQ(second.file, first.file);
	EXPECT_EQ(second.offset, first.offset);
	EXPECT_EQ(second.len, 2 * first.len);
	files.perform(second);
	drain();
	EXPECT_EQ(counters.spill_writes, 1u);
	EXPECT_EQ(replay(1), (strings{"10:a", "11:b"}));
}

TEST_F(reorder_logs_test, a_forgotten_drop_is_asked_for_again)
{
	make(0);
	logs->open(1);
	append(1, 10, "a");
	drain();
	logs->drop(1);
	const io_request first = logs->next_io();
	ASSERT_EQ(first.what, io_request::kind::drop);
	logs->begin_event();
	EXPECT_EQ(counters.files, 1u);
	const io_request second = logs->next_io();
	EXPECT_EQ(second.what, io_request::kind::drop);
	EXPECT_EQ(second.file, first.file);
	EXPECT_EQ(logs->next_io().what, io_request::kind::none);
	EXPECT_EQ(counters.files, 0u);
}

TEST_F(reorder_logs_test, a_change_of_the_log_takes_its_write_back)
{
	make(0);
	for (const char *change : {"append", "cut", "drop", "replay"}) {
		SCOPED_TRACE(change);
		const std::uint64_t writes = counters.spill_writes;
		logs->open(1);
		append(1, 10, "a");
		append(1, 11, "b");
		ASSERT_EQ(logs->next_io().what, io_request::kind::write);
		if (*change == 'a')
			append(1, 12, "c");
		else if (*change == 'c')
			logs->cut(1, 11);
		else if (*change == 'd')
			logs->drop(1);
		else
			logs->start_replay(1);
		const io_request next = logs->next_io();
		EXPECT_EQ(next.what, *change == 'd'	  ? io_request::kind::drop
							 : *change == 'r' ? io_request::kind::none
											  : io_request::kind::write);
		EXPECT_EQ(counters.spill_writes, writes);
		logs->begin_event();
		logs->drop(1);
		drain();
		EXPECT_EQ(counters.memory_bytes, 0u);
		EXPECT_EQ(counters.files, 0u);
	}
}

TEST_F(reorder_logs_test, what_was_cut_off_does_not_come_back)
{
	make(1 << 20);
	logs->open(1);
	for (CpoLsn lsn = 10; lsn < 14; ++lsn)
		append(1, lsn, "a");
	logs->cut(1, 11);
	append(1, 20, std::string(300, 'b')); // in a chunk of its own
	logs->cut(1, 13);
	EXPECT_EQ(replay(1), strings{"10:a"});
}

TEST_F(reorder_logs_test, padding_in_files_is_zero)
{
	make(0);
	const std::string full(256 - sizeof(chunk) - sizeof(record_header), '\xff');
	logs->open(1);
	append(1, 10, full); // so that the chunk is not new when it is used again
	drain();
	append(1, 11, "x");
	const io_request request = logs->next_io();
	ASSERT_EQ(request.what, io_request::kind::write);
	EXPECT_EQ(
		std::string(request.data + sizeof(record_header), 8), std::string("x\0\0\0\0\0\0\0", 8));
}

TEST_F(reorder_logs_test, only_some_standard_chunks_are_kept)
{
	make(1 << 20, 4096);
	const std::size_t empty = memory.in_use;
	logs->open(1);
	append(1, 10, std::string(500'000, 'a'));
	logs->drop(1);
	EXPECT_LT(memory.in_use, empty + 4096);
	logs->open(1);
	for (CpoLsn lsn = 10; lsn < 2000; ++lsn)
		append(1, lsn, std::string(420, 'a'));
	logs->drop(1);
	EXPECT_GE(memory.in_use, empty + 16 * 4096);
	EXPECT_LT(memory.in_use, empty + 17 * 4096);
}

/*
 * The server sends the row of an INSERT ... ON CONFLICT, with the LSN of its insertion, behind
 * what functions in index expressions did meanwhile.
 */
TEST_F(reorder_logs_test, an_lsn_may_step_back)
{
	make(64 * 1024);
	logs->open(1);
	append(1, 12, "by an index expression");
	append(1, 11, "the row");
	append(1, 20, "in a subtransaction");
	logs->cut(1, 20);
	logs->cut(1, 13);
	std::string replayed_bytes;
	std::vector<CpoLsn> lsns;
	replayed message;
	io_request request;
	logs->start_replay(1);
	while (logs->replay_next(message, request) == reorder_logs::step::record) {
		lsns.push_back(message.lsn);
		replayed_bytes.append(message.data, message.len).push_back(';');
	}
	EXPECT_EQ(replayed_bytes, "by an index expression;the row;");
	EXPECT_EQ(lsns, (std::vector<CpoLsn>{12, 11}));
}

/*
 * A message has the end of its record as LSN, and where a subtransaction begins right there, the
 * server may send the message behind that subtransaction's first rows.
 */
TEST_F(reorder_logs_test, a_message_behind_what_is_cut_off_stays)
{
	for (const std::size_t limit : {std::size_t{0}, std::size_t{1} << 20}) {
		for (const std::size_t chunk_size : {160, 256, 4096}) {
			SCOPED_TRACE(chunk_size);
			make(limit, chunk_size);
			logs->open(1);
			append(1, 10, "row");
			for (const char *bytes : {"lost", "lost", "lost"}) {
				append(1, 20, bytes);
				drain();
			}
			logs->append(1, {20, 0, 0, "message", 19});
			append(1, 21, "lost");
			drain();
			append(1, 22, "lost");
			logs->cut(1, 20);
			logs->cut(1, 20);
			append(1, 30, "row");
			logs->cut(1, 31);
			drain();
			EXPECT_EQ(replay(1), (strings{"10:row", "20:message", "30:row"}));
			EXPECT_EQ(counters.memory_bytes, 0u);
			drain();
		}
	}
}

TEST_F(reorder_logs_test, a_replay_that_was_left_ends_the_log)
{
	make(0);
	logs->open(1);
	append(1, 10, "a");
	drain();
	append(1, 11, "b");
	replayed message;
	io_request request;
	logs->start_replay(1);
	ASSERT_EQ(logs->replay_next(message, request), reorder_logs::step::io);
	EXPECT_THROW(append(1, 12, "c"), reorder_misuse);
	EXPECT_THROW(logs->cut(1, 10), reorder_misuse);
	EXPECT_THROW(logs->start_replay(1), reorder_misuse);
	logs->begin_event();
	EXPECT_EQ(counters.logs, 0u);
	EXPECT_THROW(logs->replay_next(message, request), reorder_misuse);
	EXPECT_EQ(counters.discarded_transactions, 0u);
	EXPECT_EQ(counters.memory_bytes, 0u);
	drain();
	EXPECT_EQ(files.count(), 0u);
}

TEST_F(reorder_logs_test, compression_shrinks_what_can_shrink)
{
	std::mt19937 random(1);
	std::string noise(1000, ' ');
	for (char &c : noise)
		c = static_cast<char>(random());
	for (const compression method : {compression::lz4, compression::zstd}) {
		if (!compression_available(method))
			continue;
		make(0, 4096, method);
		logs->open(1);
		append(1, 10, std::string(1000, 'a'));
		drain();
		EXPECT_EQ(counters.spilled_bytes, record_size(1000));
		EXPECT_LT(counters.file_bytes, 150u);
		const std::uint64_t before = counters.file_bytes;
		append(1, 11, noise);
		drain();
		EXPECT_LE(counters.file_bytes - before, record_size(1000));
		EXPECT_EQ(replay(1), (strings{"10:" + std::string(1000, 'a'), "11:" + noise}));
		drain();
	}
}

TEST_F(reorder_logs_test, a_damaged_file_is_noticed)
{
	for (const compression method : {compression::off, compression::lz4, compression::zstd}) {
		if (!compression_available(method))
			continue;
		make(0, 4096, method);
		logs->open(1);
		append(1, 10, std::string(1000, 'a'));
		const io_request write = logs->next_io();
		files.perform(write);
		for (char &c : files.content(write.file))
			c = static_cast<char>(0xff);
		drain();
		EXPECT_THROW(replay(1), spill_corrupted);
		logs->begin_event();
		drain();
		EXPECT_EQ(files.count(), 0u);
		EXPECT_EQ(counters.logs, 0u);
	}
}

TEST_F(reorder_logs_test, the_end_of_a_session_frees_what_is_left)
{
	make(2048, 256, compression_available(compression::lz4) ? compression::lz4 : compression::off);
	for (CpoXid xid = 1; xid <= 4; ++xid)
		logs->open(xid);
	for (CpoLsn lsn = 10; lsn < 200; ++lsn)
		append(1 + lsn % 4, lsn, std::string(lsn, 'x'));
	drain();
	logs->drop(1); // whose file is not removed yet
	replayed message;
	io_request request;
	logs->start_replay(2);
	ASSERT_EQ(logs->replay_next(message, request), reorder_logs::step::io);
	EXPECT_GE(counters.files, 2u);
	logs.reset();
	EXPECT_EQ(memory.in_use, 0u);
}

TEST_F(reorder_logs_test, memory_stays_bounded)
{
	constexpr std::size_t limit = 256 * 1024;
	for (const compression method : {compression::off, compression::lz4}) {
		if (!compression_available(method))
			continue;
		make(limit, 0, method);
		logs->open(1);
		logs->open(2);
		memory.peak = 0;
		const std::string bytes(420, 'x');
		for (CpoLsn lsn = 10; lsn < 40'000; ++lsn) {
			append(1 + lsn % 3 / 2, lsn, bytes);
			drain();
			ASSERT_LE(counters.memory_bytes, limit);
		}
		EXPECT_EQ(replay(1).size(), 26'660u);
		EXPECT_EQ(replay(2).size(), 13'330u);
		drain();
		// one chunk more to grow into, one to compress to or to read to, some spare, and the index
		constexpr std::size_t chunk = limit / 8;
		EXPECT_LE(memory.peak, limit + 4 * chunk);
		EXPECT_EQ(files.count(), 0u);
	}
}

// What is kept about blocks must not make every record a block once it reaches the limit.
TEST_F(reorder_logs_test, blocks_hold_a_chunk_each_even_at_a_tiny_limit)
{
	make(256, 256);
	logs->open(1);
	for (CpoLsn lsn = 10; lsn < 2010; ++lsn) {
		append(1, lsn, "0123456789");
		drain();
	}
	EXPECT_LE(counters.spill_writes, 2000u / 4);
	EXPECT_EQ(replay(1).size(), 2000u);
}

TEST_F(reorder_logs_test, files_may_pass_4_gb)
{
	make(128 * 1024, 64 * 1024);
	const std::string bytes(64 * 1024 - sizeof(chunk) - sizeof(record_header), 'x');
	logs->open(1);
	constexpr CpoLsn last = 66'100;
	std::uint64_t end = 0;
	for (CpoLsn lsn = 1; lsn <= last; ++lsn) {
		append(1, lsn, bytes);
		for (;;) {
			const io_request request = logs->next_io();
			if (request.what == io_request::kind::none)
				break;
			ASSERT_EQ(request.offset, end);
			end += request.len;
		}
	}
	ASSERT_GT(end, std::uint64_t{1} << 32);
	EXPECT_EQ(counters.file_bytes, end);
	logs->cut(1, last / 2);
	append(1, last, "after");
	EXPECT_EQ(logs->next_io().what, io_request::kind::none);

	// the reads go on where the writes went
	replayed message;
	io_request request;
	const std::string block = [&] {
		record_header header{1, 1, static_cast<std::uint32_t>(bytes.size()), 0, 0, {}};
		return std::string(reinterpret_cast<char *>(&header), sizeof header) + bytes;
	}();
	std::uint64_t at = 0;
	std::uint64_t records = 0;
	logs->start_replay(1);
	for (;;) {
		const auto step = logs->replay_next(message, request);
		if (step == reorder_logs::step::done)
			break;
		if (step == reorder_logs::step::record) {
			++records;
			continue;
		}
		ASSERT_EQ(request.offset, at);
		ASSERT_EQ(request.len, block.size());
		std::memcpy(request.data, block.data(), request.len);
		at += request.len;
	}
	EXPECT_EQ(records, last / 2);
}

struct work {
	std::uint64_t searched, allocations, io_bytes;
};

// n subtransactions of three messages; every second one is rolled back, most as they go, some
// with the one around them.
work subtransactions(CpoXid n, std::size_t memory_limit)
{
	counting_memory memory;
	CpoCounters counters{};
	file_store files;
	work done{};
	{
		reorder_logs logs(&memory, {memory_limit, 4096, compression::off}, counters);
		logs.open(1);
		CpoLsn lsn = 1;
		CpoLsn outer = 0;
		const std::string bytes(100, 'x');
		for (CpoXid sub = 0; sub < n; ++sub) {
			const CpoLsn first = ++lsn;
			if (sub % 8 == 4)
				outer = first;
			for (int i = 0; i < 3; ++i) {
				logs.append(1, {lsn, 0, 0, bytes});
				++lsn;
				for (io_request request = logs.next_io(); request.what != io_request::kind::none;
					 request = logs.next_io()) {
					done.io_bytes += request.len;
					files.perform(request);
				}
			}
			if (sub % 8 == 7) {
				logs.cut(1, first);
				logs.cut(1, outer);
			} else if (sub % 4 == 1) {
				logs.cut(1, first);
			}
		}
		EXPECT_GT(counters.discarded_subtransactions, n / 3);
		done.searched = logs.records_searched();

		replayed message;
		io_request request;
		logs.start_replay(1);
		for (auto step = reorder_logs::step::record; step != reorder_logs::step::done;
			 step = logs.replay_next(message, request))
			if (step == reorder_logs::step::io) {
				done.io_bytes += request.len;
				files.perform(request);
			}
	}
	done.allocations = memory.allocations;
	return done;
}

TEST(reorder_scaling, subtransactions_cost_the_same_each)
{
	for (const std::size_t limit : {std::size_t{8192}, std::size_t{1} << 30}) {
		const work some = subtransactions(10'000, limit);
		const work many = subtransactions(100'000, limit);
		EXPECT_LE(many.searched, 11 * some.searched);
		EXPECT_LE(many.allocations, 11 * some.allocations);
		EXPECT_LE(many.io_bytes, 11 * some.io_bytes);
		// a cut looks at no more than one chunk
		EXPECT_LE(many.searched, 100'000u * (4096 / record_size(100)));
	}
}

TEST(reorder_scaling, deep_savepoints_cost_the_same_each)
{
	counting_memory memory;
	CpoCounters counters{};
	reorder_logs logs(&memory, {std::size_t{1} << 30, 4096, compression::off}, counters);
	logs.open(1);
	constexpr CpoLsn depth = 100'000;
	for (CpoLsn lsn = 1; lsn <= depth; ++lsn)
		logs.append(1, {lsn, 0, 0, "x"});
	for (CpoLsn lsn = depth; lsn > 0; --lsn)
		logs.cut(1, lsn);
	EXPECT_EQ(counters.discarded_subtransactions, depth);
	EXPECT_EQ(counters.memory_bytes, 0u);
	EXPECT_LE(logs.records_searched(), depth * (4096 / record_size(1)));
}

} // namespace
} // namespace cpp_output
