#!/usr/bin/python3
"""Decodes one random workload with a peer plugin and with ours, and compares
every lsn, xid and byte of data.

  differential.py test_decoding --seeds 1-20
  differential.py test_decoding --drop-in     the peer's own slot, our library
                                              under the peer's name
  differential.py wal2json --only v2
  differential.py reorder                     streaming=reorder against off
  differential.py --self-test                 the comparison itself: finds
                                              nothing in equal, something in
                                              unequal streams
"""

import argparse
import contextlib
import io
import os
import re
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import psycopg2

from cluster import ROOT, Cluster
from option_sets import SETS, OptionSet
from peer_faults import explain
from workload import Workload
from workload.workload import FEATURES

SETTINGS = ["autovacuum = off", "logical_decoding_work_mem = '64kB'", "max_prepared_transactions = 50", "log_min_messages = error",
            "checkpoint_timeout = '1h'", "max_wal_size = '4GB'"]


# wal2json up to 2.6 opens every index, and fails for good on one that was made
# concurrently with what it decodes; it prints virtual columns as null.
# Where one transaction alters a type and another, in progress, has used it before,
# the server prints the old values as before or as after, depending on whose
# transaction it decoded last: its caches are not of the transaction's time.
WITHOUT = {"wal2json": {"concurrent_indexes", "virtual_columns"}, "reorder": {"shared_types"}}
# what was put down to the peer, see peer_faults.py
FAULTS = {}


class Decoder:
    def __init__(self, cluster, settings, library_path=None):
        settings = dict(settings)
        if library_path:
            settings["dynamic_library_path"] = library_path
        self.connection = cluster.connect(**settings)

    def read(self, slot, options, binary=False):
        """All (lsn, xid, data) of a slot, which stays where it is."""
        arguments = [text for pair in options.items() for text in pair]
        with self.connection.cursor() as cursor:
            try:
                cursor.execute(
                    f"SELECT lsn::text, xid::text, data FROM pg_logical_slot_peek{'_binary' if binary else ''}_changes"
                    "(%s, NULL, NULL, VARIADIC %s::text[])", (slot, arguments))
            except psycopg2.Error as error:
                return [("ERROR", error.pgcode, error.diag.message_primary or str(error))]
            return [(lsn, xid, bytes(data) if binary else data) for lsn, xid, data in cursor.fetchall()]

    def close(self):
        self.connection.close()


def committed_only(cluster, rows, options):
    """Takes out what depends on when an abort is noticed.

    A transaction in progress or prepared that turns out to be aborted is cut
    short where the plugin first scans a catalog, which each plugin does at
    other times. So for aborted transactions only their end is compared (and not
    even that where empty transactions are skipped, as one cut short may be),
    and where a subtransaction was aborted, runs of equal lines count as one.
    Servers since 18 also throw away, without asking the plugin, what they would
    stream of a transaction that is rolled back by then.
    """
    ends = ("ROLLBACK PREPARED", '{"op":"rollback_prepared"')
    # 18 has the peer say it of transactions that were never streamed, too
    if options.get("stream-changes") and not options.get("skip-empty-xacts"):
        ends += ("aborting streamed",)
    with cluster.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT x, pg_xact_status(x::xid8) = 'aborted' FROM unnest(%s::text[]) x", (sorted({row[1] for row in rows}),))
        aborted = {xid for xid, is_aborted in cursor.fetchall() if is_aborted}
    cut = {row[1] for row in rows if row[2].startswith("aborting streamed (sub)transaction")}
    kept = []
    for row in rows:
        lsn, xid, data = row
        if xid in aborted and not data.startswith(ends):
            continue
        if xid in cut and data.startswith(("streaming ", "opening a streamed block", "closing a streamed block")):
            if kept and kept[-1][1:] == (xid, data):
                continue
            if data.startswith("closing") and kept and kept[-1][2].startswith("opening"):
                kept.pop()
                continue
            row = ("any", xid, data)
        kept.append(row)
    return kept


# of wal2json's version 1, pretty-printed or not
DOCUMENT = re.compile(r'(\{.*?"change": ?\[)(.*)\]\s*\}', re.DOTALL)
MESSAGES = ("message: transactional: 1", '{"action":"M"', '{"op":"message"', '{"kind":"message"')


def messages_first(rows):
    """Settles what the server leaves open.

    A message has the end of its record as LSN, which is where the next record
    starts. Where that is another subtransaction's, the two have one LSN, and the
    server merges them in either order: in another one when it streams.
    """
    settled = []
    for lsn, xid, data in rows:
        data = data.removeprefix(",")  # of a chunk of wal2json's version 1
        if document := DOCUMENT.fullmatch(data):
            items = [item.strip() for item in re.split(r',(?=\s*\{\s*"kind")', document[2])]
            if any(re.match(r'\{\s*"kind": ?"message"', item) for item in items):
                data = document[1] + ",".join(sorted(items))
        at = len(settled)
        while data.startswith(MESSAGES) and at > 0 and settled[at - 1][:2] == (lsn, xid) \
                and not settled[at - 1][2].startswith(MESSAGES):
            at -= 1
        settled.insert(at, (lsn, xid, data))
    return settled


def crashed(cluster, rows):
    """Whether reading these ended the server, which is then waited for."""
    if not (rows and rows[0][0] == "ERROR" and rows[0][1] is None):
        return False
    cluster.wait()
    return True


def first_difference(peer, ours):
    for index, (theirs, mine) in enumerate(zip(peer, ours)):
        if theirs != mine:
            return index
    return min(len(peer), len(ours)) if len(peer) != len(ours) else None


def excerpt(data, around):
    start = max(0, around - 60)
    return repr(data[start:around + 100])


def report(peer, ours, index):
    print(f"    row {index} of {len(peer)} (peer) and {len(ours)} (ours):")
    for row in peer[max(0, index - 3):index]:
        print(f"      both {row[0]} {row[1]} {row[2][:120]!r}")
    theirs = peer[index] if index < len(peer) else ("none", "", "")
    mine = ours[index] if index < len(ours) else ("none", "", "")
    at = next((i for i, (a, b) in enumerate(zip(theirs[2], mine[2])) if a != b), min(len(theirs[2]), len(mine[2])))
    print(f"      peer {theirs[0]} {theirs[1]} at byte {at}: {excerpt(theirs[2], at)}")
    print(f"      ours {mine[0]} {mine[1]} at byte {at}: {excerpt(mine[2], at)}")


def drop_in_directory(cluster, plugin):
    """A directory where our library goes by the peer's name."""
    directory = os.path.join(cluster.dir, "drop-in")
    os.makedirs(directory, exist_ok=True)
    link = os.path.join(directory, plugin + ".so")
    if not os.path.islink(link):
        os.symlink(os.path.join(cluster.library_dir, "cpp_output.so"), link)
    return directory + ":$libdir"


def compare(cluster, option_set, drop_in):
    """Whether the two streams are equal, and how long they are."""
    suffix = "_2p" if option_set.two_phase else ""
    decoder = Decoder(cluster, option_set.settings)
    peer = decoder.read(option_set.peer + suffix, option_set.options, option_set.binary)
    decoder.close()
    peer_crashed = crashed(cluster, peer)
    if drop_in:
        decoder = Decoder(cluster, option_set.settings, drop_in_directory(cluster, option_set.peer))
        ours = decoder.read(option_set.peer + suffix, option_set.options, option_set.binary)
    else:
        decoder = Decoder(cluster, option_set.settings)
        ours = decoder.read("cpp_output" + suffix, option_set.ours or {"format": option_set.peer, **option_set.options}, option_set.binary)
    decoder.close()
    if peer_crashed and (option_set.streamed or option_set.two_phase):
        # test_decoding of 18.6 does, after an abort of what it has not begun
        print(f"*** SKIPPED: the peer crashes the server with {option_set.name} ***")
        if ours and ours[0][0] != "ERROR":
            return True, 0
    crashed(cluster, ours)
    if peer and peer[0][0] == "ERROR" and not option_set.fails:
        if option_set.peer == "wal2json" and peer[0][2].endswith("is unknown"):
            return True, 0  # this version of it does not know the option yet
        if "could not map filenode" in peer[0][2]:
            # a fault of the server, which stops every plugin
            print(f"*** SKIPPED: the server cannot decode {option_set.name}: {peer[0][2]} ***")
            return bool(ours) and ours[0][:2] == peer[0][:2], 0
        print("    the peer failed:", peer[0][2])
        return False, 0
    if option_set.peer == "wal2json":
        ours, faults = explain(peer, ours, option_set.options)
        for fault, count in faults.items():
            FAULTS[fault] = FAULTS.get(fault, 0) + count
    if not option_set.binary and not (ours and ours[0][0] == "ERROR"):
        if option_set.streamed or option_set.two_phase:
            peer, ours = (committed_only(cluster, rows, option_set.options) for rows in (peer, ours))
        if option_set.peer == "cpp_output":
            peer, ours = messages_first(peer), messages_first(ours)
    index = first_difference(peer, ours)
    if index is not None:
        report(peer, ours, index)
    return index is None, len(peer)


def prepare(cluster, seed, steps, plugins, features, log):
    """Slots of all plugins, all at the start of one workload, which then runs."""
    workload = Workload(cluster.connect, seed, features=features, log=log)
    workload.setup()
    cursor = workload.sessions[0].cursor
    for plugin in plugins:
        cursor.execute("SELECT pg_create_logical_replication_slot(%s, %s)", (plugin, plugin))
        if plugin != "wal2json":
            cursor.execute("SELECT pg_create_logical_replication_slot(%s, %s, twophase => true)", (plugin + "_2p", plugin))
    workload.run(steps)
    workload.close()


def run_seed(arguments, sets, seed):
    failed = 0
    started = time.monotonic()
    with Cluster(settings=SETTINGS) as cluster:
        log = []
        plugins = {s.peer for s in sets} | (set() if arguments.drop_in else {"cpp_output"})
        prepare(cluster, seed, arguments.steps, sorted(plugins), FEATURES - WITHOUT.get(arguments.peer, set()), log)
        rows = 0
        for option_set in sets:
            equal, count = compare(cluster, option_set, arguments.drop_in)
            rows += count
            if not equal:
                failed += 1
                print(f"not ok - seed {seed}, {option_set.name}", flush=True)
        if failed:
            path = os.path.join(ROOT, "tmp_check", f"workload-{seed}.sql")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"/* session {session} */ {sql};\n" for session, sql in log)
            print(f"    its statements are in {path}")
    if FAULTS:
        print("    rows that the peer got wrong:", ", ".join(f"{count} {fault}" for fault, count in sorted(FAULTS.items())))
        FAULTS.clear()
    print(f"{'not ok' if failed else 'ok'} - {arguments.peer}{' as drop-in' if arguments.drop_in else ''}, seed {seed}: {len(sets)} option sets,"
          f" {rows} rows, {time.monotonic() - started:.1f} s", flush=True)
    return failed


def self_test(seed, steps):
    """Nothing of ours is needed here: the peer is compared with itself."""
    with Cluster(settings=SETTINGS) as cluster:
        prepare(cluster, seed, steps, ["test_decoding"], FEATURES, [])
        failures = 0
        for options in list(SETS["test_decoding"]()):
            decoder = Decoder(cluster, options.settings)
            suffix = "_2p" if options.two_phase else ""
            one = decoder.read("test_decoding" + suffix, options.options, options.binary)
            if crashed(cluster, one) and (options.streamed or options.two_phase):
                print(f"*** SKIPPED: the peer crashes the server with {options.name} ***")
                continue
            two = decoder.read("test_decoding" + suffix, options.options, options.binary)
            decoder.close()
            if options.streamed or options.two_phase:
                one, two = (committed_only(cluster, rows, options.options) for rows in (one, two))
            if first_difference(one, two) is not None or not one or one[0][0] == "ERROR":
                failures += 1
                print("not ok - equal streams,", options.name, one[:1])
                report(one, two, first_difference(one, two) or 0)
        rows = [("0/1", "1", "a"), ("0/2", "1", "b")]
        for other in ([("0/1", "1", "a")], rows + [("0/3", "1", "c")], [("0/1", "1", "a"), ("0/2", "1", "B")],
                      [("0/1", "1", "a"), ("0/2", "2", "b")], [("0/1", "1", "a"), ("0/9", "1", "b")]):
            if first_difference(rows, other) is None:
                failures += 1
                print("not ok - unequal streams", other)
        for document in ('{"change":[%s,%s]}', '{\n\t"change": [\n\t\t%s,\n\t\t%s\n\t]\n}'):
            changes = '{"kind":"insert"}', '{\n"kind": "message"}', '{"kind":"delete"}'
            with_message, without = ([messages_first([("0/1", "1", document % c)]) for c in (picked, picked[::-1])]
                                     for picked in (changes[:2], changes[::2]))
            if with_message[0] != with_message[1] or without[0] == without[1]:
                failures += 1
                print("not ok - messages", document)
        wrong = OptionSet("a difference on purpose", "test_decoding", {"include-xids": "1"})
        decoder = Decoder(cluster, {})
        if first_difference(decoder.read("test_decoding", wrong.options), decoder.read("test_decoding", {"include-xids": "0"})) != 0:
            failures += 1
            print("not ok -", wrong.name)
        print(f"{'not ok' if failures else 'ok'} - self-test")
        return failures


def captured(run, seed):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        try:
            failed = run(seed)
        except Exception:  # pylint: disable=broad-except
            failed = 1
            print(f"not ok - seed {seed}\n{traceback.format_exc()}")
    return failed, output.getvalue()


def run_seeds(run, numbers):
    """The sum of run(seed), two at a time: one server and its reader take turns."""
    total = 0
    with ProcessPoolExecutor(2) as pool:
        for failed, output in pool.map(partial(captured, run), numbers):
            print(output, end="", flush=True)
            total += failed
    return total


def seeds(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", nargs="?", choices=sorted(SETS), default="test_decoding")
    parser.add_argument("--seeds", type=seeds, default=seeds("1-3"), help="such as 7 or 1-20")
    parser.add_argument("--steps", type=int, default=1500, help="statements in a workload")
    parser.add_argument("--only", default="", help="option sets whose name has this text")
    parser.add_argument("--drop-in", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()

    if arguments.self_test:
        return self_test(arguments.seeds[0], arguments.steps)
    sets = [s for s in SETS[arguments.peer]() if arguments.only in s.name]
    failed = run_seeds(partial(run_seed, arguments, sets), arguments.seeds)
    total = len(sets) * len(arguments.seeds)
    print(f"{total - failed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
