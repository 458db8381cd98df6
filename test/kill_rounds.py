#!/usr/bin/python3
"""Cancels, terminates and kills at random times under load, and looks at what
a consumer received: every committed transaction, whole, none of them again
once the slot had it confirmed, and no temporary file but those of processes
that live.

  kill_rounds.py 200
  kill_rounds.py 20 --seed 7
"""

import argparse
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import psycopg2

from cluster import Cluster

SETTINGS = ["logical_decoding_work_mem = '64kB'", "wal_sender_timeout = 10s", "max_prepared_transactions = 10",
            "restart_after_crash = on", "log_temp_files = -1", "checkpoint_timeout = 30s"]
SCHEMA = """
CREATE TABLE log (txn text, seq int, body text, PRIMARY KEY (txn, seq));
CREATE TABLE progress (writer int PRIMARY KEY, n bigint NOT NULL)"""
# None of these may ever be in the server's log.
FORBIDDEN = re.compile(r"PANIC|TRAP|leak|while in ABORT|signal 6|signal 11|stack_size|could not unlink|XX000", re.I)
WAIT = 120


def wait_for(condition, what):
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        try:
            result = condition()
        except psycopg2.Error:
            result = None
        if result:
            return result
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


def position(text):
    high, low = text.split("/")
    return (int(high, 16) << 32) + int(low, 16)


class Writer(threading.Thread):
    """Transactions of all sizes, some rolled back, some prepared, until stopped;
    connects anew whenever the server went away."""

    def __init__(self, cluster, number, seed):
        super().__init__(daemon=True)
        self.cluster = cluster
        self.number = number
        self.random = random.Random(f"{seed} {number}")
        self.stopped = threading.Event()
        self.count = 0
        self.commits = 0

    def run(self):
        while not self.stopped.is_set():
            try:
                connection = psycopg2.connect(self.cluster.dsn())
                try:
                    self.finish_prepared(connection)
                    self.work(connection)
                finally:
                    connection.close()
            except psycopg2.Error:
                self.stopped.wait(0.1)

    def finish_prepared(self, connection):
        """What a crash left between PREPARE and COMMIT PREPARED: it would hold
        back the slots' restart_lsn, and make each start slower than the last."""
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("SELECT gid FROM pg_prepared_xacts WHERE gid LIKE %s", (f"{self.number}-%",))
            for (gid,) in cursor.fetchall():
                cursor.execute("COMMIT PREPARED %s", (gid,))
        connection.autocommit = False

    def work(self, connection):
        while not self.stopped.is_set():
            with connection.cursor() as cursor:
                self.transaction(connection, cursor)
            self.stopped.wait(self.random.choice((0, 0.05, 0.1, 0.3)))

    def transaction(self, connection, cursor):
        self.count += 1
        name = f"{self.number}-{self.count}"
        rows = self.random.choice((1, 1, 3, 3, 50, 300, 1000))
        seq = 0
        cursor.execute("SELECT pg_logical_emit_message(true, 'txn', %s)", (name,))
        for part in range(self.random.randrange(1, 4)):
            cursor.execute("SAVEPOINT s")
            lost = self.random.random() < 0.3
            body = "lost" if lost else "kept"
            cursor.execute("INSERT INTO log SELECT %s, i, repeat(%s || i, 20) FROM generate_series(%s, %s) i",
                           (name, body, seq, seq + rows - 1))
            cursor.execute(f"{'ROLLBACK TO' if lost else 'RELEASE'} s")
            seq += 0 if lost else rows
        cursor.execute("INSERT INTO log VALUES (%s, -1, %s)", (name, str(seq)))
        end = self.random.random()
        if end < 0.15:
            connection.rollback()
        elif end < 0.25:
            cursor.execute("PREPARE TRANSACTION %s", (name,))
            connection.commit()     # for psycopg2, which sees a transaction still
            connection.autocommit = True
            cursor.execute("COMMIT PREPARED %s", (name,))
            connection.autocommit = False
            self.commits += 1
        else:
            connection.commit()
            self.commits += 1


class Consumer:
    """pg_recvlogical, and what came of it over all rounds."""

    def __init__(self, cluster, rng):
        self.cluster = cluster
        self.random = rng
        self.process = None
        self.confirmed = 0
        self.file = os.path.join(cluster.dir, "received")
        self.transactions = {}      # name: digest of its rows
        self.repeated = 0

    def start(self):
        def confirmed():
            connection = self.cluster.connect()
            with connection.cursor() as cursor:
                cursor.execute("SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = 'wire' AND NOT active")
                row = cursor.fetchone()
            connection.close()
            return row
        self.confirmed = position(wait_for(confirmed, "the slot to be free")[0])
        if os.path.exists(self.file):
            os.unlink(self.file)
        options = {"streaming": self.random.choice(("reorder", "reorder", "reorder", "off")),
                   "reorder-work-mem": self.random.choice(("64kB", "256kB", "64MB")),
                   "spill-compression": self.random.choice(("off", "lz4"))}
        command = [self.cluster.program("pg_recvlogical"), "-d", self.cluster.dsn(), "-S", "wire", "--start", "--no-loop",
                   "-f", self.file, "-F", "1", "-s", "1"]
        for name, value in options.items():
            command += ["-o", f"{name}={value}"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def running(self):
        return self.process.poll() is None

    def end(self, how):
        if self.running():
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(how)
        self.process.wait()
        self.take()

    def take(self):
        """Checks what this run of the consumer received."""
        if not os.path.exists(self.file):
            return
        with open(self.file, "rb") as file:
            self.take_lines(file)

    def take_lines(self, file):
        current = None
        last = 0
        for line in file:
            if not line.endswith(b"\n"):
                break   # cut off in the middle
            event = json.loads(line)
            op = event["op"]
            if op == "begin":
                assert current is None, f"begin in a transaction: {line}"
                current = []
            elif op == "commit":
                assert current, f"commit of nothing: {line}"
                assert position(event["end_lsn"]) > self.confirmed, f"sent again though confirmed: {line}"
                assert position(event["lsn"]) > last, f"not in order of COMMIT: {line}"
                last = position(event["lsn"])
                self.complete(current)
                current = None
            else:
                assert current is not None, f"outside a transaction: {line}"
                current.append(event)

    def complete(self, events):
        assert events[0]["op"] == "message" and events[0]["prefix"] == "txn", f"begins with {events[0]}"
        name = events[0]["content"]
        rows = []
        for event in events[1:]:
            assert event["op"] == "insert" and event["new"]["txn"] == name, f"{event} in transaction {name}"
            assert "lost" not in event["new"]["body"], f"a row that was rolled back, in {name}"
            rows.append((event["new"]["seq"], event["new"]["body"]))
        assert [seq for seq, _ in rows] == list(range(len(rows) - 1)) + [-1], f"rows of {name} are not whole"
        digest = digest_of(rows)
        if name in self.transactions:
            assert self.transactions[name] == digest, f"{name} came again, and different"
            self.repeated += 1
        self.transactions[name] = digest


def digest_of(rows):
    return hashlib.md5("".join(f"{seq}:{body};" for seq, body in rows).encode()).hexdigest()


class Rounds:
    def __init__(self, cluster, seed):
        self.cluster = cluster
        self.random = random.Random(seed)
        self.writers = [Writer(cluster, n, seed) for n in (1, 2)]
        self.consumer = Consumer(cluster, self.random)
        self.done = {}

    def query(self, sql, *arguments):
        connection = self.cluster.connect()
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql, arguments)
                return cursor.fetchall() if cursor.description else []
        finally:
            connection.close()

    def walsender(self):
        rows = self.query("SELECT active_pid FROM pg_replication_slots WHERE slot_name = 'wire' AND active")
        return rows[0][0] if rows else None

    # --- faults ---

    def cancel(self):
        self.query("SELECT pg_cancel_backend(%s)", self.walsender())

    def terminate(self):
        self.query("SELECT pg_terminate_backend(%s)", self.walsender())

    def kill_walsender(self):
        pid = self.walsender()
        if pid:
            os.kill(pid, signal.SIGKILL)

    def kill_client(self):
        self.consumer.process.kill()

    def pause_client(self):
        self.consumer.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.random())
        self.consumer.process.send_signal(signal.SIGCONT)

    def stop_client(self):
        self.consumer.process.send_signal(signal.SIGINT)

    def restart(self):
        self.cluster.stop(self.random.choice(("fast", "immediate")))
        self.cluster.start()

    def sql_function(self):
        """Somebody reads another slot by SQL, and is cancelled or terminated."""
        connection = self.cluster.connect()
        pid = connection.get_backend_pid()
        function = self.random.choice(("pg_cancel_backend", "pg_terminate_backend"))
        delay = self.random.random() / 2
        stopped = threading.Event()

        def interrupt():
            # again, if it came between two queries
            while not stopped.wait(delay):
                try:
                    self.query(f"SELECT {function}(%s)", pid)
                except psycopg2.Error:
                    pass
        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            with connection.cursor() as cursor:
                while True:
                    cursor.execute("SELECT count(*) FROM pg_logical_slot_peek_changes('sql', NULL, 1000, 'reorder-work-mem', '64kB')")
        except psycopg2.Error:
            pass
        stopped.set()
        thread.join()
        connection.close()
        self.query("SELECT pg_replication_slot_advance('sql', pg_current_wal_lsn())")

    # --- checks ---

    def stray_files(self):
        directory = os.path.join(self.cluster.data, "base", "pgsql_tmp")
        if not os.path.isdir(directory):
            return []
        return [name for name in os.listdir(directory) if not alive(int(re.match(r"pgsql_tmp(\d+)", name).group(1)))]

    def check_files(self):
        # a process that ends removes its files, and is gone shortly after
        deadline = time.monotonic() + 20
        while self.stray_files():
            assert time.monotonic() < deadline, f"temporary files of dead processes: {self.stray_files()}"
            time.sleep(0.1)

    def check_log(self):
        with open(self.cluster.log, encoding="utf-8", errors="replace") as log:
            for line in log:
                assert not FORBIDDEN.search(line), f"in the server's log: {line}"

    # --- rounds ---

    def run(self, rounds):
        faults = [self.cancel, self.terminate, self.kill_walsender, self.kill_client, self.pause_client,
                  self.stop_client, self.restart, self.sql_function]
        self.query(SCHEMA)
        for slot in ("wire", "sql"):
            self.query("SELECT pg_create_logical_replication_slot(%s, 'cpp_output')", slot)
        for writer in self.writers:
            writer.start()
        self.consumer.start()
        for number in range(rounds):
            fault = faults[number % len(faults)] if number < len(faults) else self.random.choice(faults)
            time.sleep(self.random.random())
            try:
                fault()
            except (psycopg2.Error, ProcessLookupError):
                pass    # the server or the process is gone already
            self.done[fault.__name__] = self.done.get(fault.__name__, 0) + 1
            wait_for(lambda: self.query("SELECT 1"), "the server")
            time.sleep(self.random.random() / 2)
            if not self.consumer.running() or self.random.random() < 0.1:
                self.consumer.end(self.random.choice((signal.SIGINT, signal.SIGKILL)))
                self.check_files()
                self.consumer.start()
            # faults that follow each other closely let nothing be confirmed, so
            # now and then the consumer may catch up
            if number % 5 == 4:
                self.catch_up()
            if number % 20 == 19:
                assert self.consumer.transactions, "nothing is received at all"
                print(f"{number + 1} rounds, {len(self.consumer.transactions)} transactions received", flush=True)
        self.finish()

    def catch_up(self):
        (end,), = self.query("SELECT pg_current_wal_lsn()")

        def caught_up():
            if not self.consumer.running():
                self.consumer.end(signal.SIGKILL)
                self.consumer.start()
            return self.query("SELECT 1 FROM pg_replication_slots WHERE slot_name = 'wire' AND confirmed_flush_lsn >= %s", end)
        wait_for(caught_up, "the consumer to catch up")

    def finish(self):
        for writer in self.writers:
            writer.stopped.set()
        for writer in self.writers:
            writer.join(WAIT)
        self.query("SELECT 1")
        for (gid,) in self.query("SELECT gid FROM pg_prepared_xacts"):
            self.query(f"COMMIT PREPARED '{gid}'")
        self.consumer.end(signal.SIGINT)
        self.consumer.start()
        self.catch_up()
        self.consumer.end(signal.SIGINT)
        wait_for(lambda: self.walsender() is None, "the walsender to end")
        self.check_files()
        self.check_log()
        self.compare()

    def compare(self):
        source = {}
        for name, seq, body in self.query("SELECT txn, seq, body FROM log ORDER BY txn, CASE seq WHEN -1 THEN 2147483647 ELSE seq END"):
            source.setdefault(name, []).append((seq, body))
        source = {name: digest_of(rows) for name, rows in source.items()}
        received = self.consumer.transactions
        lost = sorted(source.keys() - received.keys())
        extra = sorted(received.keys() - source.keys())
        different = sorted(name for name in source.keys() & received.keys() if source[name] != received[name])
        assert not lost, f"{len(lost)} transactions are lost: {lost[:5]}"
        assert not extra, f"{len(extra)} transactions that never committed: {extra[:5]}"
        assert not different, f"{len(different)} transactions differ: {different[:5]}"
        assert len(source) >= sum(writer.commits for writer in self.writers) > 0, "the source itself lost transactions"
        print(f"{len(source)} transactions, all received; {self.consumer.repeated} came again after faults, as the slot allows; "
              f"faults: {self.done}")


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=int, nargs="?", default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep-log", help="where to leave the server's log")
    arguments = parser.parse_args()
    started = time.monotonic()
    with Cluster(settings=SETTINGS, keep_log=arguments.keep_log) as cluster:
        rounds = Rounds(cluster, arguments.seed)
        try:
            rounds.run(arguments.rounds)
        except AssertionError as error:
            print(f"not ok - {error}; {rounds.done}")
            return 1
        finally:
            for writer in rounds.writers:
                writer.stopped.set()
            if rounds.consumer.process and rounds.consumer.running():
                rounds.consumer.process.kill()
    print(f"ok - {arguments.rounds} rounds, {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
