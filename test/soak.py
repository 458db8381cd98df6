#!/usr/bin/python3
"""Random load on a throw-away server, all formats read at the same time.

  soak.py 20              for that many minutes
  soak.py 2 --seed 7

A cycle is a random workload, then a message that marks its end; all consumers
have to come there. Then both copies are compared with the source, and the
slots with each other: the same transactions with as many changes, and the same
bytes where two slots have one format.

In the first half the server is restarted, walsenders are killed and clients
lost, all at random. The second half is calm, and memory of the walsenders and
of a session with the SQL functions is measured at the end of each cycle, when
no transaction is open. A process leaks if, over the last two thirds of the
calm half, its memory grows all along: by more than half of the allowance from
the first third of these cycles to the second, and again to the last (medians),
and the 99 % interval of the slope is above zero. A step, as when a buffer
doubles, is in one of them only. There are two measures:

  RssAnon              allowance 4 MB, as the heap grows and shrinks in steps
  contexts in use      allowance 512 kB: the cache of plans is swept at 64, of 8 kB
"""

import argparse
import glob
import os
import random
import re
import select
import signal
import sys
import time
import traceback
from collections import namedtuple
from multiprocessing import get_context

import psycopg2

import soak_consumers as consumers
from cluster import Cluster
from memory import MB, Contexts, Fit, rss_anon
from replay import FOLLOWED, Applier, differences, make_schema
from workload import Workload
from workload.workload import TABLES

SETTINGS = ["logical_decoding_work_mem = '64kB'", "log_min_messages = warning", "autovacuum = off", "max_prepared_transactions = 50",
            "checkpoint_timeout = '30s'", "max_wal_size = '256MB'", "wal_sender_timeout = '30s'"]
COPY_SETTINGS = ["wal_level = minimal", "max_wal_senders = 0", "synchronous_commit = off", "max_wal_size = '256MB'"]

RSS_ALLOWANCE = 4 * MB
CONTEXT_ALLOWANCE = MB // 2
PATIENCE = 600      # seconds until a consumer that says nothing is given up

Slot = namedtuple("Slot", "plugin options reader applier two_phase", defaults=(None, False))

# Tables that come and go are not followed.
NOT_SCRATCH = {"exclude-tables": "scratch.*"}
WAL2JSON = {"include-xids": "1", "numeric-data-types-as-string": "1", "filter-tables": "scratch.*"}
SLOTS = {
    "json_off": Slot("cpp_output", {"format": "json", "streaming": "off", **NOT_SCRATCH}, consumers.JsonReader),
    "json_reorder": Slot("cpp_output", {"format": "json", "streaming": "reorder", "reorder-work-mem": "256kB", **NOT_SCRATCH},
                         consumers.JsonReader, Applier),
    "json_on": Slot("cpp_output", {"format": "json", "streaming": "on", **NOT_SCRATCH}, consumers.JsonStreamReader, None, True),
    "test_decoding": Slot("cpp_output", {"format": "test_decoding"}, consumers.TestDecodingReader),
    "wal2json_v1": Slot("cpp_output", {"format": "wal2json", "format-version": "1", "include-lsn": "1", **WAL2JSON}, consumers.Wal2json1Reader),
    "wal2json_v2": Slot("cpp_output", {"format": "wal2json", "format-version": "2", "streaming": "reorder", **WAL2JSON},
                        consumers.Wal2json2Reader, consumers.Wal2jsonApplier),
    "peer": Slot("test_decoding", {}, consumers.TestDecodingReader),
}
SQL_OPTIONS = [{"format": "json"}, {"format": "test_decoding"}, {"format": "wal2json"}, {"format": "wal2json", "format-version": "2"},
               {"format": "json", "streaming": "reorder", "reorder-work-mem": "64kB"}]
# one format, two slots: the same bytes
SAME_BYTES = [("json_off", "json_reorder"), ("peer", "test_decoding")]
SAME_CHANGES = [("json_off", name) for name in ("wal2json_v1", "wal2json_v2")]

# Changes of the schema that leave what the consumers follow as it is.
SCHEMA_CHANGES = [
    "CREATE TABLE scratch.t (id int PRIMARY KEY, v text, m app.mood, p app.pair[]);"
    "INSERT INTO scratch.t SELECT i, 'scratch' FROM generate_series(1, 50) i; ALTER TABLE scratch.t ADD w int DEFAULT 7;"
    "UPDATE scratch.t SET w = id; DROP TABLE scratch.t",
    "CREATE TABLE scratch.u (id int PRIMARY KEY, v text); INSERT INTO scratch.u VALUES (1, 'x')",
    "ALTER TABLE scratch.u RENAME TO w; INSERT INTO scratch.w VALUES (2, 'y')",
    "DROP TABLE IF EXISTS scratch.u, scratch.w",
    "ALTER SCHEMA app RENAME TO app_moved; ALTER SCHEMA app_moved RENAME TO app",
    "ALTER TYPE app.mood RENAME TO mood_moved; ALTER TYPE app.mood_moved RENAME TO mood",
    "ALTER TYPE app.pair RENAME TO couple; ALTER TYPE app.couple RENAME TO pair",
    "CREATE TYPE scratch.e AS ENUM ('a'); DROP TYPE scratch.e",
    "ALTER TABLE app.narrow ALTER v SET STATISTICS 50",
    "CREATE INDEX ON app.narrow (n); COMMENT ON TABLE app.narrow IS 'x'; DROP INDEX app.narrow_n_idx",
    "ANALYZE app.everything", "VACUUM FULL app.narrow_full", "VACUUM FULL app.toast", "CHECKPOINT",
]

# What a server must never log; signal 9 is our own. Only where a message begins: statements have any text in them.
BAD_LOG = re.compile(r"^TRAP|\] PANIC:|\] (WARNING|ERROR|FATAL|LOG):  [^'\"]*"
                     r"(leak|was not closed|terminated by signal (?!9:)|could not (read|write|open|remove))")


class Failure(Exception):
    pass


class Soak:
    def __init__(self, source, copies, minutes, seed):
        self.source = source
        self.copies = copies
        self.minutes = minutes
        self.random = random.Random(seed)
        self.seed = seed
        self.cycle = 0
        self.marker = 0         # the last one sent; a cycle may need more than one
        self.counts = dict.fromkeys(("cycles", "transactions", "changes", "comparisons", "came again"), 0)
        self.faults = {}
        self.pipes = {}
        self.processes = []
        self.copy_connections = {}
        self.control = None     # a session for what is not the workload
        self.sql = None         # the one with the SQL functions
        self.memory = {}        # name: [(time, RssAnon, contexts)]
        self.first_used = {}
        self.contexts = None
        self.peaks = {}

    # --- the two servers ---------------------------------------------------

    def setup(self):
        workload = make_schema(self.source.connect(), self.seed)
        workload.close()
        self.heal()
        with self.control.cursor() as cursor:
            cursor.execute("CREATE SCHEMA scratch")
            cursor.execute("SELECT pg_create_logical_replication_slot('sql', 'cpp_output')")
            for name, slot in SLOTS.items():
                cursor.execute("SELECT pg_create_logical_replication_slot(%s, %s, twophase => %s)", (name, slot.plugin, slot.two_phase))
        processes = get_context("fork")
        for name, slot in SLOTS.items():
            if slot.applier:
                maintenance = self.copies.connect()
                maintenance.cursor().execute(f"CREATE DATABASE {name}")
                maintenance.close()
                make_schema(self.copies.connect(name), self.seed).close()
                self.copy_connections[name] = self.copies.connect(name)
            self.pipes[name], theirs = processes.Pipe()
            process = processes.Process(target=self.consume, args=(name, slot, theirs), daemon=True)
            process.start()
            self.processes.append(process)

    def consume(self, name, slot, pipe):
        applier = slot.applier(self.copies.connect(name)) if slot.applier else None
        consumers.Consumer(name, self.source.dsn(), slot.options, slot.reader(), applier, pipe).run()

    def heal(self):
        """After whatever happened: waits for the server, and ends what was prepared."""
        for attempt in range(600):
            try:
                self.control = self.source.connect(lock_timeout="1ms")
                self.sql = self.source.connect()
                break
            except psycopg2.Error:
                if attempt == 599:
                    raise
                time.sleep(0.1)
        with self.control.cursor() as cursor:
            cursor.execute("SELECT gid FROM pg_prepared_xacts")
            for (gid,) in cursor.fetchall():
                cursor.execute("COMMIT PREPARED %s", (gid,))

    # --- a cycle -----------------------------------------------------------

    def run_cycle(self, steps, faults, warm_up=False):
        """The workload, interrupted `faults` times; then the comparison."""
        self.cycle += 1
        at = {self.random.randrange(steps): None for _ in range(faults)}
        workload = None
        for step in range(steps):
            try:
                if workload is None:
                    workload = self.new_workload(step)
                if step in at:
                    self.fault()
                if self.random.random() < 0.03:
                    self.change_schema()
                workload.step(self.random.choice(workload.sessions))
            except psycopg2.Error as error:
                self.lost(error, faults)
                workload = None
        marked = False
        while not marked:       # a server may take its time to notice what has happened to it
            try:
                if workload is not None:
                    workload.settle()
                    workload.close()
                self.load(warm_up)
                self.mark()
                marked = True
            except psycopg2.Error as error:
                self.lost(error, faults)
                workload = None
        self.compare()
        self.counts["cycles"] += 1

    def lost(self, error, faults):
        if not faults:
            raise Failure(f"a connection was lost: {error}") from error
        self.heal()

    def new_workload(self, step):
        """Every cycle starts from the same few rows, so that the load stays what it is."""
        with self.control.cursor() as cursor:
            cursor.execute(TABLES)
            tables = ", ".join(row[1] for row in cursor.fetchall() if not row[1].startswith("scratch."))
            cursor.execute("SET lock_timeout = 0")
            cursor.execute(f"TRUNCATE {tables} RESTART IDENTITY CASCADE")
            cursor.execute("SET lock_timeout = '1ms'")
        workload = Workload(self.source.connect, f"{self.seed} {self.cycle} {step}", features=FOLLOWED)
        workload.adopt()
        workload.fill()
        return workload

    def change_schema(self):
        with self.control.cursor() as cursor:
            try:
                cursor.execute(self.random.choice(SCHEMA_CHANGES))
            except (psycopg2.OperationalError, psycopg2.ProgrammingError):
                if self.control.closed:
                    raise   # else only a lock, or a table that is (not) there

    def load(self, warm_up):
        """Many changes that are cheap to apply, and more that nobody has to."""
        with self.control.cursor() as cursor:
            if warm_up:     # larger than all that comes later, so that every buffer has its size
                cursor.execute("BEGIN; INSERT INTO app.toast (id, big) SELECT i, repeat(md5(i::text), 3000) FROM generate_series(20001, 20100) i;"
                               " DELETE FROM app.toast WHERE id > 20000; COMMIT")
            cursor.execute("DROP TABLE IF EXISTS scratch.u, scratch.w, scratch.gone")
            for _ in range(50):     # as many as a cache of plans keeps, so that it is swept in each cycle
                cursor.execute("CREATE TABLE scratch.gone (id int PRIMARY KEY, v text); INSERT INTO scratch.gone VALUES (1); DROP TABLE scratch.gone")
            cursor.execute("BEGIN; INSERT INTO app.narrow (id, v) SELECT i, 'load ' || i FROM generate_series(10001, 11000) i ON CONFLICT DO NOTHING;"
                           " SAVEPOINT s; UPDATE app.narrow SET n = id WHERE id > 10000; ROLLBACK TO s;"
                           " UPDATE app.narrow SET n = 0 WHERE id > 10500; DELETE FROM app.narrow WHERE id > 10800; COMMIT")
            cursor.execute("BEGIN; INSERT INTO app.narrow (id, v) SELECT i, repeat('load', 10) FROM generate_series(10000001, 10020000) i; ROLLBACK")

    def mark(self):
        self.marker += 1
        with self.control.cursor() as cursor:
            cursor.execute("SELECT pg_logical_emit_message(true, %s, %s)", (consumers.MARKER, str(self.marker)))

    def fault(self):
        kind = self.random.choice(["immediate", "fast", "kill", "terminate", "drop", "drop"])
        self.faults[kind] = self.faults.get(kind, 0) + 1
        if kind in ("immediate", "fast"):
            self.source.stop(kind)
            self.source.start()
        elif kind == "drop":
            self.pipes[self.random.choice(list(SLOTS))].send("drop")
        else:
            with self.control.cursor() as cursor:
                cursor.execute("SELECT pid FROM pg_stat_replication")
                pids = [row[0] for row in cursor.fetchall()]
            if pids:
                os.kill(self.random.choice(pids), signal.SIGKILL if kind == "kill" else signal.SIGTERM)

    # --- comparison --------------------------------------------------------

    def summaries(self):
        """{slot: what its transactions of this cycle did}, as soon as all have it."""
        found = {name: [] for name in self.pipes}
        waiting = {pipe: name for name, pipe in self.pipes.items()}
        while waiting:
            ready, _, _ = select.select(list(waiting), [], [], PATIENCE)
            if not ready:
                raise Failure(f"nothing came from {list(waiting.values())} for {PATIENCE} s")
            for pipe in ready:
                answer = pipe.recv()
                if answer[0] == "error":
                    raise Failure(answer[1])
                _, marker, summaries, again = answer
                found[waiting[pipe]] += summaries
                self.counts["came again"] += again
                if marker == self.marker:
                    del waiting[pipe]
        return found

    def compare(self):
        found = self.summaries()
        for pairs, width in ((SAME_BYTES, None), (SAME_CHANGES, 4)):
            for left, right in pairs:
                theirs, ours = ([s[:width] for s in found[name]] for name in (left, right))
                if theirs != ours:
                    at = next((i for i, (a, b) in enumerate(zip(theirs, ours)) if a != b), min(len(theirs), len(ours)))
                    raise Failure(f"transaction {at} of {len(theirs)} in {left} and {len(ours)} in {right}:"
                                  f" {theirs[at:at + 1]} and {ours[at:at + 1]} (xid, insert, update, delete, digest)"
                                  + self.difference(left, theirs[at:at + 1], right, ours[at:at + 1]))
        for name, copy in self.copy_connections.items():
            wrong = differences(self.control, copy)
            if wrong:
                raise Failure(f"cycle {self.cycle}: the copy of {name} differs: {wrong[:3]}")
            self.counts["comparisons"] += 1
        self.counts["transactions"] += len(found["json_off"])
        self.counts["changes"] += sum(sum(s[1:4]) for s in found["json_off"])

    def difference(self, left, theirs, right, ours):
        """The messages of a transaction from where two slots differ."""
        texts = []
        for name, summaries in ((left, theirs), (right, ours)):
            self.pipes[name].send(summaries[0][0] if summaries else 0)
            texts.append(self.pipes[name].recv()[1])
        at = next((i for i, (a, b) in enumerate(zip(*texts)) if a != b), min(map(len, texts)))
        shown = [f"\n    {name}, {len(t)} messages: " + "\n        ".join(repr(m[:500]) for m in t[max(0, at - 3):at + 6])
                 for name, t in zip((left, right), texts)]
        return f"\n    message {at}" + "".join(shown)

    def use_sql(self):
        """Reads a slot in one session, with errors in between."""
        options = self.random.choice(SQL_OPTIONS)
        arguments = [text for pair in options.items() for text in pair]
        query = "SELECT count(*) FROM pg_logical_slot_{}_changes('sql', NULL, NULL, VARIADIC %s::text[])"
        with self.sql.cursor() as cursor:
            for timeout in (1, 20, 50):
                try:
                    cursor.execute(f"SET statement_timeout = {timeout}")
                    cursor.execute(query.format("peek"), (arguments,))
                except psycopg2.Error as error:
                    if error.pgcode != "57014":
                        raise
            cursor.execute("SET statement_timeout = 0")
            try:
                cursor.execute(query.format("peek"), (arguments + ["no-such-option", "1"],))
            except psycopg2.Error as error:
                if error.pgcode != "22023":
                    raise
            cursor.execute(query.format("get"), (arguments,))

    # --- memory and files --------------------------------------------------

    def processes_of_slots(self):
        with self.control.cursor() as cursor:
            cursor.execute("SELECT application_name, pid FROM pg_stat_replication")
            pids = dict(cursor.fetchall())
        pids["sql"] = self.sql.info.backend_pid
        return pids

    def measure(self, start):
        pids = self.processes_of_slots()
        self.contexts = self.contexts or Contexts(self.source.log)
        self.contexts.used, self.contexts.total = {}, {}
        with self.control.cursor() as cursor:
            for pid in pids.values():
                cursor.execute("SELECT pg_log_backend_memory_contexts(%s)", (pid,))
                if pid == pids["sql"]:
                    self.sql.cursor().execute("SELECT 1")
        for _ in range(600):
            self.contexts.read()
            if set(self.contexts.total) == set(pids.values()):
                break
            time.sleep(0.05)
        for name, pid in pids.items():
            self.memory.setdefault(name, []).append((time.monotonic() - start, rss_anon(pid), self.contexts.total[pid], pid))
            self.first_used.setdefault(name, self.contexts.used[pid])

    def leftovers(self):
        """Files that should be gone when no transaction is open."""
        data = self.source.data
        for _ in range(50):
            files = glob.glob(f"{data}/pg_replslot/*/*.spill") + glob.glob(f"{data}/base/pgsql_tmp/*")
            if not files:
                break
            time.sleep(0.1)     # the answer of a consumer may be faster than the end of the callback
        return files

    def bad_log_lines(self):
        with open(self.source.log, encoding="utf-8", errors="replace") as file:
            return [line for line in file if BAD_LOG.search(line)]

    def leaks(self):
        """(name, leaks, text) for each process that was measured."""
        for name, points in sorted(self.memory.items()):
            points = points[len(points) // 3:]
            if len({p[3] for p in points}) > 1:
                yield name, True, "did not live through the calm half"
                continue
            rss, contexts = Fit([(p[0], p[1]) for p in points]), Fit([(p[0], p[2]) for p in points])
            leak = False
            for fit, allowance in ((rss, RSS_ALLOWANCE), (contexts, CONTEXT_ALLOWANCE)):
                leak |= fit.low > 0 and min(fit.rises) > allowance / 2
            text = (f"RssAnon {points[-1][1] / MB:.1f} MB, {rss.per_hour()}; contexts {points[-1][2] / MB:.2f} MB in use, {contexts.per_hour()};"
                    f" {len(points)} cycles, {rss.seconds:.0f} s")
            if leak:
                used = self.contexts.used[points[-1][3]]
                grown = {n: used[n] - self.first_used[name].get(n, 0) for n in used}
                text += "; grown most: " + ", ".join(f"{n} {b:+}" for n, b in sorted(grown.items(), key=lambda i: -i[1])[:4])
            yield name, leak, text

    # --- all of it ---------------------------------------------------------

    def run(self):
        """(name, passed, text) of each check."""
        begun = time.monotonic()
        end = begun + self.minutes * 60
        self.setup()
        halfway = (time.monotonic() + end) / 2
        while time.monotonic() < halfway:
            self.run_cycle(200, self.random.choice([1, 2, 3]))
        yield "faults", bool(self.faults), ", ".join(f"{n} x {k}" for k, n in sorted(self.faults.items()))
        self.source.stop("fast")
        self.source.start()
        self.heal()
        calm = time.monotonic()
        with self.sql.cursor() as cursor:
            cursor.execute("SELECT pg_replication_slot_advance('sql', pg_current_wal_lsn())")
        while time.monotonic() < end or len(self.memory.get("sql", ())) < 9:
            self.run_cycle(200, 0, warm_up=not self.memory)
            self.use_sql()
            self.measure(calm)
        yield "all slots agree, copies equal their source", True, ", ".join(f"{n} {k}" for k, n in self.counts.items())
        for name, leak, text in self.leaks():
            yield f"memory of {name}", not leak or name == "peer", text
        files = self.leftovers()
        yield "no file is left", not files, ", ".join(files[:5])
        lines = self.bad_log_lines()
        yield "nothing bad in the server's log", not lines, "".join(lines[:5])

    def stop(self):
        for pipe in self.pipes.values():
            try:
                pipe.send("stop")
            except OSError:
                pass        # it has failed, and ended by itself
        for process in self.processes:
            process.join(10)
            if process.is_alive():
                process.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", nargs="?", type=float, default=20)
    parser.add_argument("--seed", default="1", help="of the load; when things happen is up to the machine")
    parser.add_argument("--keep-log", help="a file for the server's log")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))   # not without cleaning up
    results = []
    with Cluster(settings=SETTINGS, keep_log=arguments.keep_log) as source, Cluster(settings=COPY_SETTINGS) as copies:
        soak = Soak(source, copies, arguments.minutes, arguments.seed)
        try:
            for name, passed, text in soak.run():
                results.append(passed)
                print(f"{'ok' if passed else 'not ok'} - {name}: {text}", flush=True)
        except Failure as failure:
            results.append(False)
            print(f"not ok - cycle {soak.cycle}, after {soak.faults}: {failure}", flush=True)
            for line in soak.bad_log_lines()[:5]:
                print("    " + line, end="")
        except Exception:   # pylint: disable=broad-except
            results.append(False)
            print(f"not ok - cycle {soak.cycle}: {traceback.format_exc()}", flush=True)
        finally:
            soak.stop()
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
