#!/usr/bin/python3
"""What is large or many: transactions, tables, columns, subtransactions, values,
names and options.

  scale.py                all of it, some minutes and 4 GB of disk
  scale.py quick          small variants of it
  scale.py --only rows
  scale.py huge 10        by hand: one transaction of 10 GB of WAL, figures only

Memory is the private memory (RssAnon) of the walsender: its highest value less
that when it was idle. It has a bound in each test; times are only printed.
"""

import argparse
import json
import signal
import subprocess
import sys
import threading
import time
import traceback
from contextlib import contextmanager

import psycopg2

from cluster import Cluster
from memory import MB, Peak

WORK_MEM = 4 * MB           # logical_decoding_work_mem
REORDER_MEM = 16 * MB       # reorder-work-mem
ROOM = 32 * MB
BOUND = WORK_MEM + REORDER_MEM + ROOM

SETTINGS = [f"logical_decoding_work_mem = '{WORK_MEM // 1024}kB'", "autovacuum = off", "log_min_messages = warning",
            "max_wal_size = '4GB'", "checkpoint_timeout = '1h'", "max_connections = 260", "wal_sender_timeout = '10min'",
            "max_locks_per_transaction = 256"]

JSON = {"format": "json"}
REORDER = {"format": "json", "streaming": "reorder", "reorder-work-mem": f"{REORDER_MEM // 1024}kB"}
FORMATS = {
    "json": ("cpp_output", {"format": "json", "streaming": "off"}),
    "json, reorder": ("cpp_output", REORDER),
    "test_decoding": ("cpp_output", {"format": "test_decoding"}),
    "wal2json v1": ("cpp_output", {"format": "wal2json"}),
    "wal2json v2": ("cpp_output", {"format": "wal2json", "format-version": "2"}),
}


def mb(n):
    return f"{n / MB:.1f} MB"


class Stream:
    """pg_recvlogical on a new slot, and what it gets up to a message that is sent last."""

    END = b"the end of scale"

    def __init__(self, cluster, plugin="cpp_output", options=()):
        self.cluster = cluster
        self.options = dict(options)
        self.slot = "scale"
        self.lines = self.bytes = 0
        self.client = self.reader = None
        self.connection = cluster.connect()
        self.cursor = self.connection.cursor()
        self.cursor.execute("SELECT pg_create_logical_replication_slot(%s, %s)", (self.slot, plugin))

    def start(self):
        """Attaches; returns the walsender's pid."""
        command = [self.cluster.program("pg_recvlogical"), "-d", self.cluster.dsn(), "-S", self.slot, "--start", "--no-loop", "-f", "-"]
        for name, value in self.options.items():
            command += ["-o", f"{name}={value}"]
        self.client = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        while self.client.poll() is None:
            self.cursor.execute("SELECT active_pid FROM pg_replication_slots JOIN pg_stat_replication ON pid = active_pid WHERE slot_name = %s", (self.slot,))
            row = self.cursor.fetchone()
            if row:
                return row[0]
            time.sleep(0.02)
        raise RuntimeError("pg_recvlogical ended")

    def read(self):
        tail = b""
        while chunk := self.client.stdout.read1(1 << 20):
            self.lines += chunk.count(b"\n")
            self.bytes += len(chunk)
            tail = tail[-len(self.END):] + chunk
            if self.END in tail:
                return

    def finish(self):
        """Waits until everything so far has come."""
        self.cursor.execute("SELECT pg_logical_emit_message(true, '', %s)", (self.END.decode(),))
        self.reader.join()
        if self.client.poll() is not None:
            raise RuntimeError("pg_recvlogical ended early")

    def close(self):
        if self.client:
            self.client.kill()
            self.client.wait()
            self.client.stdout.close()
        for attempt in range(200):
            try:
                self.cursor.execute("SELECT pg_drop_replication_slot(%s)", (self.slot,))
                break
            except psycopg2.errors.ObjectInUse:
                if attempt == 199:
                    raise
                time.sleep(0.05)
        self.connection.close()


class Scale:
    def __init__(self, quick):
        self.quick = quick
        self.results = []

    def check(self, name, passed, text):
        self.results.append(bool(passed))
        print(f"{'ok' if passed else 'not ok'} - {name}: {text}", flush=True)

    def check_memory(self, name, used, bound, text):
        self.check(name, used <= bound, f"{mb(used)} of at most {mb(bound)}; {text}")

    @contextmanager
    def stream(self, cluster, plugin="cpp_output", options=()):
        stream = Stream(cluster, plugin, options)
        try:
            yield stream
        finally:
            stream.close()

    def decode(self, stream, work):
        """Attaches first, then does the work; returns peak memory and seconds from the work's end to the last byte."""
        stream.cursor.execute("INSERT INTO warm VALUES (1)")
        with Peak(stream.start()) as peak:
            time.sleep(0.3)
            peak.idle = peak.bytes
            work()
            begun = time.monotonic()
            stream.finish()
        return peak.growth, time.monotonic() - begun

    def content(self, cluster, plugin, options):
        """All that a new slot gave since."""
        with cluster.connect() as connection, connection.cursor() as cursor:
            arguments = [text for pair in options.items() for text in pair]
            cursor.execute("SELECT data FROM pg_logical_slot_peek_changes(%s, NULL, NULL, VARIADIC %s::text[])", (plugin, arguments))
            return [row[0] for row in cursor.fetchall()]

    # --- one transaction of many rows --------------------------------------

    def rows(self, cluster):
        """One transaction of 10 million rows."""
        count = 300_000 if self.quick else 10_000_000
        with self.stream(cluster, options=REORDER) as stream:
            stream.cursor.execute("CREATE TABLE rows (id bigint PRIMARY KEY, v text, n numeric, t timestamptz)")
            statement = ("INSERT INTO rows SELECT i, 'row ' || i, i / 7.0, '2026-01-01'::timestamptz + i * interval '1 s'"
                         f" FROM generate_series(1, {count}) i")
            begun = time.monotonic()
            used, seconds = self.decode(stream, lambda: stream.cursor.execute(statement))
            self.check_memory(f"a transaction of {count:,} rows", used, BOUND,
                              f"{stream.bytes / 1e6:.0f} MB sent, the last {seconds:.1f} s after COMMIT, {time.monotonic() - begun:.1f} s in all")
            self.check("all rows came", stream.lines >= count, f"{stream.lines:,} lines")
            stream.cursor.execute("DROP TABLE rows; CHECKPOINT")

    # --- subtransactions ---------------------------------------------------

    SUBTRANSACTIONS = """
DO $$ BEGIN FOR i IN 1..%d LOOP
	BEGIN
		INSERT INTO subs VALUES (i, 'subtransaction');
		IF i %% 2 = 0 THEN RAISE EXCEPTION 'back'; END IF;
	EXCEPTION WHEN raise_exception THEN NULL; END;
END LOOP; END $$"""

    def subtransactions(self, cluster):
        """In one transaction, half of them rolled back.

        With the server's own spilling, so in any plugin without streaming, it takes the time of their number squared: a file for
        each. That is seen with the small number only.
        """
        small, large = (2_000, 20_000) if self.quick else (10_000, 100_000)
        off = {**JSON, "streaming": "off"}
        for name, plugin, options, count in (("test_decoding", "test_decoding", {}, small), ("off", "cpp_output", off, small),
                                             ("reorder", "cpp_output", REORDER, small), ("reorder", "cpp_output", REORDER, large)):
            with self.stream(cluster, plugin, options) as stream:
                stream.cursor.execute("CREATE TABLE subs (id int, v text)")
                used, seconds = self.decode(stream, lambda: stream.cursor.execute(self.SUBTRANSACTIONS % count))  # pylint: disable=cell-var-from-loop
                stream.cursor.execute("DROP TABLE subs")
                # the server keeps what it knows about each
                self.check_memory(f"{count:,} subtransactions, {name}", used, BOUND + 512 * count,
                                  f"{used / count:.0f} bytes each; {seconds:.2f} s after COMMIT, {seconds / count * 1e6:.1f} us each")
                self.check("half of them came", count // 2 <= stream.lines <= count // 2 + 10, f"{stream.lines:,} lines")

    # --- transactions in progress ------------------------------------------

    def progress(self, cluster):
        """200 large transactions at once, half of them rolled back."""
        count, rounds, rows = (40, 4, 400) if self.quick else (200, 5, 1000)
        with self.stream(cluster, options=REORDER) as stream:
            stream.cursor.execute("CREATE TABLE progress (id int, v text)")
            connections = [psycopg2.connect(cluster.dsn()) for _ in range(count)]

            def work():
                for number in range(rounds):
                    for connection in connections:
                        connection.cursor().execute(f"INSERT INTO progress SELECT {number}, repeat('v', 200) || i FROM generate_series(1, {rows}) i")
                for index, connection in enumerate(connections):
                    connection.commit() if index % 2 == 0 else connection.rollback()
            used, seconds = self.decode(stream, work)
            for connection in connections:
                connection.close()
            stream.cursor.execute("DROP TABLE progress")
            self.check_memory(f"{count} transactions in progress, {count * rounds * rows * 210 / 1e6:.0f} MB", used, BOUND,
                              f"{stream.bytes / 1e6:.0f} MB sent, the last {seconds:.1f} s after the last COMMIT")
            expected = count // 2 * rounds * rows
            self.check("what was committed came", expected <= stream.lines <= expected + count + 10, f"{stream.lines:,} lines")

    # --- relations ---------------------------------------------------------

    def tables(self, cluster):
        """A change in each of many tables; memory a table, against the peer's."""
        counts = (100, 1_000) if self.quick else (1_000, 10_000)
        setup = cluster.connect()
        cursor = setup.cursor()
        cursor.execute("CREATE SCHEMA many")
        for low in range(1, counts[1] + 1, 100):
            cursor.execute("".join(f"CREATE TABLE many.t{i} (id int PRIMARY KEY, a text, b numeric, c timestamptz, d int[]);" for i in range(low, low + 100)))
        setup.close()
        per_table = {}
        for name, (plugin, options) in {"the server with test_decoding": ("test_decoding", {}), **FORMATS}.items():
            figures = []
            for count in counts:
                with self.stream(cluster, plugin, options) as stream:
                    def work(cursor=stream.cursor, count=count):
                        for low in range(1, count + 1, 100):
                            cursor.execute("".join(f"INSERT INTO many.t{i} VALUES (1, 'a', 1.5, now(), '{{1}}'); DELETE FROM many.t{i};" for i in range(low, low + 100)))
                    used, _ = self.decode(stream, work)
                # once more without the load's own time
                figures.append((used, self.time_again(cluster, plugin, options, work)))
            per_table[name] = (figures[1][0] - figures[0][0]) / (counts[1] - counts[0])
            print(f"    {name}: {counts[0]:,} tables {mb(figures[0][0])}, {figures[0][1] / counts[0] * 1e6:.0f} us each;"
                  f" {counts[1]:,} tables {mb(figures[1][0])}, {figures[1][1] / counts[1] * 1e6:.0f} us each; {per_table[name] / 1024:.1f} kB a table")
            if plugin == "cpp_output":
                more = per_table[name] - per_table["the server with test_decoding"]
                self.check(f"memory for a table, {name}", more < 16 * 1024, f"{more / 1024:.1f} kB more than with test_decoding, of at most 16 kB")
        cursor = cluster.connect().cursor()
        for low in range(1, counts[1] + 1, 100):
            cursor.execute("".join(f"DROP TABLE many.t{i};" for i in range(low, low + 100)))
        cursor.execute("DROP SCHEMA many CASCADE")
        cursor.connection.close()

    def time_again(self, cluster, plugin, options, work):
        """Seconds to decode the work, all of it there before the client comes."""
        with self.stream(cluster, plugin, options) as stream:
            work(cursor=stream.cursor)
            begun = time.monotonic()
            stream.start()
            stream.finish()
            return time.monotonic() - begun

    def dropped(self, cluster):
        """Tables of 50 columns that come and go: what is kept of them has to go too."""
        count = 500 if self.quick else 5_000
        columns = ", ".join(f"c{i} text" for i in range(50))
        with self.stream(cluster, options=REORDER) as stream:
            def work():
                for _ in range(count):
                    stream.cursor.execute(f"CREATE TABLE gone (id int PRIMARY KEY, {columns}); INSERT INTO gone VALUES (1); DROP TABLE gone")
            used, seconds = self.decode(stream, work)
            self.check_memory(f"{count:,} tables that come and go", used, 10 * MB, f"{seconds:.1f} s after the last")
            self.check("their rows came", count * 3 <= stream.lines <= count * 3 + 10, f"{stream.lines:,} lines")

    def columns(self, cluster):
        """A table of 1,600 columns, in every format."""
        count = 1600
        connection = cluster.connect()
        cursor = connection.cursor()
        cursor.execute(f"CREATE TABLE wide (c1 int PRIMARY KEY, {', '.join(f'c{i} int' for i in range(2, count + 1))})")
        cursor.execute("SELECT pg_create_logical_replication_slot('columns', 'cpp_output')")
        values = ", ".join("i" if i == 1 else str(i) for i in range(1, count + 1))
        rows = 20 if self.quick else 2000
        cursor.execute(f"INSERT INTO wide SELECT {values} FROM generate_series(1, {rows}) i; UPDATE wide SET c{count} = -1; DELETE FROM wide")
        for name, (_, options) in FORMATS.items():
            content = self.content(cluster, "columns", options)
            found = max(text.count(f"c{count}") for text in content)
            inserts = [text for text in content if f"c{count}" in text]
            exact = {"json": lambda t: len(json.loads(t)["new"]), "wal2json v2": lambda t: len(json.loads(t)["columns"]),
                     "wal2json v1": lambda t: len(json.loads(t)["change"][0]["columnnames"]),
                     "test_decoding": lambda t: t.count("[integer]:")}[name.split(",")[0]](inserts[0])
            self.check(f"{count} columns in {name}", exact == count and found, f"{exact} columns, {len(content)} messages")
        with self.stream(cluster, options=REORDER) as stream:
            used, seconds = self.decode(stream, lambda: stream.cursor.execute(
                f"INSERT INTO wide SELECT {values} FROM generate_series(1, {rows}) i; UPDATE wide SET c{count} = -1; DELETE FROM wide"))
            self.check_memory(f"{3 * rows:,} changes of {count} columns", used, BOUND, f"{stream.bytes / 1e6:.0f} MB sent, {seconds:.1f} s")
        cursor.execute("DROP TABLE wide; SELECT pg_drop_replication_slot('columns')")
        connection.close()

    # --- values ------------------------------------------------------------

    def values(self, cluster):
        """Single values of 500 MB. Each copy of it that is held at a time counts."""
        size = (25 if self.quick else 500) * MB
        connection = cluster.connect()
        connection.cursor().execute("CREATE TABLE big (id int PRIMARY KEY, t text, b bytea);"
                                    "ALTER TABLE big ALTER t SET STORAGE EXTERNAL, ALTER b SET STORAGE EXTERNAL")
        for column, value, factor in (("t", f"repeat('0123456789abcde ', {size // 16})", 1), ("b", f"decode(repeat('0123456789abcdef', {size // 8}), 'hex')", 4 / 3)):
            for name, options in (("off", {**JSON, "streaming": "off"}), ("reorder", REORDER)):
                with self.stream(cluster, options=options) as stream:
                    used, seconds = self.decode(stream, lambda: stream.cursor.execute(f"INSERT INTO big (id, {column}) VALUES (1, {value})"))
                    # the server's chunks and value, the message, the send buffer; all doubled at worst while they grow
                    self.check_memory(f"a value of {size // MB} MB, {'text' if column == 't' else 'bytea'}, {name}", used, BOUND + size * (2 + 4 * factor),
                                      f"{used / size:.1f} times the value; {stream.bytes / 1e6:.0f} MB sent, {seconds:.1f} s after COMMIT")
                    self.check("the value came", stream.bytes >= size * factor, f"{stream.bytes:,} bytes")
                    stream.cursor.execute("TRUNCATE big; CHECKPOINT")
        connection.cursor().execute("DROP TABLE big")
        connection.close()

    # --- names and options -------------------------------------------------

    def names(self, cluster):
        """Identifiers of 63 bytes, 21 characters of three bytes each."""
        schema, table, column = "スキーマ" * 5 + "名", "テーブル" * 5 + "名", "列の名前" * 5 + "名"
        assert {len(n.encode()) for n in (schema, table, column)} == {63}
        connection = cluster.connect()
        cursor = connection.cursor()
        cursor.execute(f'CREATE SCHEMA "{schema}"; CREATE TABLE "{schema}"."{table}" ("{column}" int PRIMARY KEY, b text)')
        cursor.execute("SELECT pg_create_logical_replication_slot('names', 'cpp_output')")
        cursor.execute(f'INSERT INTO "{schema}"."{table}" VALUES (1, \'x\'); UPDATE "{schema}"."{table}" SET b = \'y\'; DELETE FROM "{schema}"."{table}"')
        for name, (_, options) in FORMATS.items():
            content = "\n".join(self.content(cluster, "names", options))
            self.check(f"names of 63 bytes in {name}", content.count(schema) == 3 and content.count(table) == 3 and content.count(column) >= 3,
                       f"{content.count(schema)} times the schema, {content.count(column)} times the column")
        content = self.content(cluster, "names", {**JSON, "tables": f'"{schema}"."{table}"', "exclude-columns": f"{schema}.{table}.b"})
        self.check("names of 63 bytes in filters", len(content) >= 5 and '"b"' not in "".join(content), f"{len(content)} messages")
        cursor.execute(f'DROP SCHEMA "{schema}" CASCADE; SELECT pg_drop_replication_slot(\'names\')')
        connection.close()

    def options(self, cluster):
        """Options of 1 MB, over the wire and in SQL: accepted or refused with an error, and not held many times."""
        connection = cluster.connect()
        cursor = connection.cursor()
        cursor.execute("CREATE TABLE opt (id int PRIMARY KEY)")
        cursor.execute("SELECT pg_create_logical_replication_slot('options', 'cpp_output')")
        cursor.execute("INSERT INTO opt VALUES (1)")
        n = MB // 16
        listed = ",".join(f"public.t{i:08}" for i in range(n)) + ",public.opt"
        globs = "public." + "*" * MB + "opt"
        cases = {
            "tables": (listed, True), "exclude-tables": (listed.rsplit(",", 1)[0], True), "exclude-columns": (",".join(f"public.t{i:08}.c" for i in range(n)), True),
            "message-prefixes": ("p," * (MB // 2) + "p", True), "exclude-origins": ("o" * MB, True), "tables (one name)": ("public." + "x" * MB, True),
            "tables (globs)": (globs, True), "tables (quotes)": ('public."' + '""' * (MB // 2) + '"', True),
            "format": ("f" * MB, False), "streaming": ("on" * (MB // 2), False), "reorder-work-mem": ("1" * MB, False), "actions": ("insert," * (MB // 7), False),
            "o" * 60: ("v" * MB, False)}
        for label, (value, accepted) in cases.items():
            name = label.split(" ")[0]
            session = cluster.connect()
            session.cursor().execute("SELECT count(*) FROM pg_logical_slot_peek_changes('options', NULL, NULL)")
            with Peak(session.info.backend_pid, 0.002) as peak:
                begun = time.monotonic()
                try:
                    session.cursor().execute("SELECT count(*) FROM pg_logical_slot_peek_changes('options', NULL, NULL, %s, %s)", (name, value))
                    outcome = "accepted"
                except psycopg2.Error as error:
                    outcome = f"refused ({error.pgcode})"
                seconds = time.monotonic() - begun
            session.close()
            self.check(f"1 MB in {label}", outcome == "accepted" if accepted else outcome == "refused (22023)", f"{outcome}, {seconds:.2f} s")
            items = value.count(",") + 1    # some 500 bytes each
            self.check_memory(f"memory for 1 MB in {label}", peak.growth, ROOM + 512 * items, f"{items:,} items")
        with self.stream(cluster, options={**JSON, "tables": listed[-100_000:].split(",", 1)[1]}) as stream:
            used, _ = self.decode(stream, lambda: stream.cursor.execute("INSERT INTO opt VALUES (2)"))
            self.check_memory("an option of 100 kB over the wire", used, ROOM, f"{stream.lines} lines")
        cursor.execute("DROP TABLE opt; SELECT pg_drop_replication_slot('options')")
        connection.close()

    # --- by hand -----------------------------------------------------------

    def huge(self, cluster, gigabytes):
        """One transaction of that many GB of WAL."""
        rows = int(gigabytes * (1 << 30) / 1080)
        with self.stream(cluster, options=REORDER) as stream:
            stream.cursor.execute("CREATE TABLE huge (id bigint, v text)")
            begun = time.monotonic()
            used, seconds = self.decode(stream, lambda: stream.cursor.execute(
                f"INSERT INTO huge SELECT i, repeat(md5(i::text), 31) FROM generate_series(1, {rows}) i"))
            self.check_memory(f"a transaction of {gigabytes} GB", used, BOUND, f"{rows:,} rows, {stream.bytes / 1e9:.2f} GB sent,"
                              f" the last {seconds:.1f} s after COMMIT, {time.monotonic() - begun:.0f} s in all")
            self.check("all rows came", stream.lines >= rows, f"{stream.lines:,} lines")


TESTS = ("columns", "names", "options", "tables", "dropped", "subtransactions", "progress", "rows", "values")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", nargs="?", choices=("full", "quick", "huge"), default="full")
    parser.add_argument("gigabytes", nargs="?", type=float, default=3)
    parser.add_argument("--only", choices=TESTS)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))   # not without cleaning up
    scale = Scale(arguments.mode == "quick")
    with Cluster(settings=SETTINGS) as cluster:
        connection = cluster.connect()
        connection.cursor().execute("CREATE TABLE warm (id int)")
        connection.close()
        if arguments.mode == "huge":
            scale.huge(cluster, arguments.gigabytes)
        for name in TESTS if arguments.mode != "huge" else ():
            if arguments.only not in (None, name):
                continue
            begun = time.monotonic()
            try:
                getattr(scale, name)(cluster)
            except Exception:   # pylint: disable=broad-except
                scale.check(name, False, traceback.format_exc())
            print(f"--- {name}: {time.monotonic() - begun:.0f} s", flush=True)
    passed = sum(scale.results)
    print(f"{passed} passed, {len(scale.results) - passed} failed")
    return 0 if passed == len(scale.results) else 1


if __name__ == "__main__":
    sys.exit(main())
