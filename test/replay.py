#!/usr/bin/python3
"""Applies the stream of format json to an empty copy of the schema and
compares every table with its source.

  replay.py --seeds 1-5
  replay.py --seeds 7 --only reorder
"""

import argparse
import base64
import json
import re
import sys
import time
from functools import partial

from cluster import Cluster
from differential import SETTINGS, Decoder, run_seeds, seeds
from workload import Workload
from workload.workload import FEATURES

# what the stream does not carry: changes of the schema
FOLLOWED = FEATURES - {"ddl"}

# name: options, two-phase slot
RUNS = {
    "off": ({"streaming": "off"}, False),
    "reorder": ({"streaming": "reorder"}, False),
    "reorder with 64kB": ({"streaming": "reorder", "reorder-work-mem": "64kB"}, False),
    "off, two-phase": ({"streaming": "off"}, True),
    "reorder, two-phase": ({"streaming": "reorder", "reorder-work-mem": "64kB"}, True),
    "as strings": ({"numbers-as-string": "all", "include-xids": "on", "include-lsn": "on", "include-timestamp": "on"}, False),
}


class Number(str):
    """A number of JSON, with every digit."""


def parse(line):
    """The object of one line; whatever is not JSON by the book is an error."""
    if "\n" in line or "\r" in line:
        raise ValueError("a raw line break")

    def refuse(name):
        raise ValueError(f"{name} is not JSON")

    def pairs(items):
        result = dict(items)
        if len(result) != len(items) and "op" in result:
            raise ValueError("a key twice")
        return result
    parsed = json.loads(line, parse_int=Number, parse_float=Number, parse_constant=refuse, object_pairs_hook=pairs)
    if not isinstance(parsed, dict) or "op" not in parsed:
        raise ValueError("not an object with op")
    return parsed


class Type:
    """Enough of pg_type to write a value of JSON as the input of the type."""

    QUERY = """
WITH RECURSIVE base AS (
	SELECT oid AS of, oid, typtype, typbasetype, typelem, typdelim, typrelid, typcategory FROM pg_type
	UNION ALL
	SELECT of, t.oid, t.typtype, t.typbasetype, t.typelem, t.typdelim, t.typrelid, t.typcategory
	FROM base b JOIN pg_type t ON t.oid = b.typbasetype WHERE b.typtype = 'd')
SELECT of, oid, typtype, CASE WHEN typcategory = 'A' AND oid NOT IN (22, 30) THEN typelem ELSE 0 END, typdelim,
	ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = typrelid AND attnum > 0 AND NOT attisdropped ORDER BY attnum)::text[],
	ARRAY(SELECT atttypid FROM pg_attribute WHERE attrelid = typrelid AND attnum > 0 AND NOT attisdropped ORDER BY attnum)::oid[]
FROM base WHERE typtype <> 'd'"""

    def __init__(self, cursor):
        cursor.execute(self.QUERY)
        self.types = {row[0]: row[1:] for row in cursor.fetchall()}
        cursor.execute("SELECT oid, (SELECT typdelim FROM pg_type e WHERE e.oid = t.typelem) FROM pg_type t WHERE typelem <> 0")
        self.delimiters = dict(cursor.fetchall())

    def text(self, type_oid, value):
        """The input text of a type for a value of JSON; None for null."""
        if value is None:
            return None
        oid, kind, element, _, names, fields = self.types[type_oid]
        name = {16: "bool", 17: "bytea", 114: "json", 3802: "json"}.get(oid)
        if name == "json":
            return dump(value)
        if element and isinstance(value, list):
            return self.array(element, self.delimiters[oid], value)
        if oid in (22, 30):     # int2vector and oidvector are written without braces
            return " ".join(value)
        if kind == "c" and isinstance(value, dict):
            if list(value) != names:
                raise ValueError(f"fields {list(value)} instead of {names}")
            return "(" + ",".join(
                "" if value[n] is None else quoted(self.text(f, value[n])) for n, f in zip(names, fields)) + ")"
        if name == "bool":
            if not isinstance(value, bool):
                raise ValueError(f"{value!r} is no boolean")
            return "t" if value else "f"
        if not isinstance(value, str):
            raise ValueError(f"{value!r} for type {type_oid}")
        if name == "bytea":
            return "\\x" + base64.b64decode(value, validate=True).hex()
        return value

    def array(self, element, delimiter, items):
        if not items:
            return "{}"
        return "{" + delimiter.join(
            "NULL" if item is None else
            self.array(element, delimiter, item) if isinstance(item, list) else quoted(self.text(element, item))
            for item in items) + "}"


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def dump(value):
    """JSON text, with numbers as they were."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, list):
        return "[" + ",".join(dump(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(k, ensure_ascii=False) + ":" + dump(v) for k, v in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


class Applier:
    """Follows begin ... commit and the prepared ones, and applies what is committed."""

    COLUMNS = """
SELECT attname, quote_ident(attname), atttypid, attgenerated = '' AND
	NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = atttypid AND (typelem IN (114, 3802) AND typcategory = 'A'))
FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"""

    def __init__(self, connection):
        self.connection = connection
        self.cursor = connection.cursor()
        # no cascades, no checks: the stream has their results
        self.cursor.execute("SET session_replication_role = replica; SET extra_float_digits = 1")
        self.types = Type(self.cursor)
        self.known = {}
        self.transaction = None
        self.gid = None
        self.prepared = {}
        self.counts = {}

    def table(self, schema, name):
        key = (schema, name)
        if key not in self.known:
            self.cursor.execute("SELECT format('%%I.%%I', %s::text, %s::text)", key)
            full = self.cursor.fetchone()[0]
            self.cursor.execute(self.COLUMNS, (full,))
            self.known[key] = full, {row[0]: row[1:] for row in self.cursor.fetchall()}
        return self.known[key]

    def take(self, event):
        op = event["op"]
        self.counts[op] = self.counts.get(op, 0) + 1
        if op == "begin":
            assert self.transaction is None, "begin within a transaction"
            self.transaction = []
            self.gid = event.get("gid")
        elif op == "commit":
            assert self.transaction is not None, "commit without begin"
            assert self.gid is None, "commit of what was begun as prepared"
            self.apply(self.transaction)
            self.transaction = None
        elif op == "prepare":
            assert event["gid"] == self.gid, "prepare of another transaction"
            self.prepared[self.gid] = self.transaction
            self.transaction = None
        elif op == "commit_prepared":
            self.apply(self.prepared.pop(event["gid"]))
        elif op == "rollback_prepared":
            self.prepared.pop(event["gid"])
        elif op in ("insert", "update", "delete", "truncate"):
            assert self.transaction is not None, f"{op} outside a transaction"
            self.transaction.append(event)
        elif op == "message":
            assert (self.transaction is not None) or not event["transactional"], "transactional message on its own"
        else:
            raise AssertionError(f"unknown op {op}")

    def apply(self, events):
        self.cursor.execute("BEGIN")
        for event in events:
            getattr(self, event["op"])(event)
        self.cursor.execute("COMMIT")

    def values(self, columns, row):
        """(quoted name, text) of what can be written in a row of the stream."""
        return [(columns[name][0], self.types.text(columns[name][1], value))
                for name, value in row.items() if columns[name][2]]

    def insert(self, event):
        table, columns = self.table(event["schema"], event["table"])
        row = self.values(columns, event["new"])
        missing = {c for c, (_, _, writable) in columns.items() if writable} - set(event["new"])
        assert not missing, f"columns {missing} of {table} are missing"
        self.cursor.execute(f"INSERT INTO {table} ({', '.join(n for n, _ in row)}) VALUES ({', '.join(['%s'] * len(row))})",
                            [v for _, v in row])

    def where(self, columns, event):
        """The condition for the one row that a change means."""
        # by text: not every type has an equality
        image = event["old"] if "old" in event else event["key"]
        assert image, "no identity"
        conditions, arguments = [], []
        for name, value in image.items():
            ident, oid, writable = columns[name]
            if writable:
                conditions.append(f"{ident}::text IS NOT DISTINCT FROM (%s::{self.type_name(oid)})::text")
                arguments.append(self.types.text(oid, value))
        return " AND ".join(conditions), arguments

    def type_name(self, oid):
        key = ("type", oid)
        if key not in self.known:
            self.cursor.execute("SELECT format_type(%s, NULL)", (oid,))
            self.known[key] = self.cursor.fetchone()[0]
        name = self.known[key]
        # format_type(bit, NULL) and (char, NULL) mean a length of 1 to a cast
        return {"bit": 'pg_catalog."bit"', "character": "bpchar"}.get(name, name)

    def update(self, event):
        table, columns = self.table(event["schema"], event["table"])
        row = self.values(columns, event["new"])
        for name in event.get("unchanged", []):
            assert name in columns and name not in event["new"], f"unchanged {name}"
        missing = {c for c, (_, _, writable) in columns.items() if writable} - set(event["new"]) - set(event.get("unchanged", []))
        assert not missing, f"columns {missing} of {table} are missing"
        condition, arguments = self.where(columns, event)
        self.cursor.execute(
            f"UPDATE {table} SET {', '.join(f'{n} = %s' for n, _ in row)} WHERE ctid = (SELECT ctid FROM {table} WHERE {condition} LIMIT 1)",
            [v for _, v in row] + arguments)
        assert self.cursor.rowcount == 1, f"an update of {table} found {self.cursor.rowcount} rows"

    def delete(self, event):
        table, columns = self.table(event["schema"], event["table"])
        condition, arguments = self.where(columns, event)
        self.cursor.execute(f"DELETE FROM {table} WHERE ctid = (SELECT ctid FROM {table} WHERE {condition} LIMIT 1)", arguments)
        assert self.cursor.rowcount == 1, f"a delete in {table} found {self.cursor.rowcount} rows"

    def truncate(self, event):
        tables = [self.table(schema, name)[0] for schema, name in event["tables"]]
        self.cursor.execute("TRUNCATE " + ", ".join(tables) + (" CASCADE" if event["cascade"] else ""))


def make_schema(connection, seed):
    """The workload's schema, every table with an identity; returns the workload."""
    workload = Workload(lambda: connection, seed, sessions=1, features=FOLLOWED)
    workload.create()
    with connection.cursor() as cursor:
        cursor.execute("SELECT oid::regclass::text FROM pg_class c WHERE relkind = 'r' AND relnamespace IN (SELECT oid FROM pg_namespace"
                       " WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema') AND (relreplident = 'n'"
                       " OR relreplident = 'd' AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary))")
        for (table,) in cursor.fetchall():
            cursor.execute(f"ALTER TABLE {table} REPLICA IDENTITY FULL")
    return workload


# A row as text; json by its value, as white space is not kept and a null of
# JSON is not told from one of SQL, and arrays without their lower bounds, which
# JSON has no place for.
ROWS = r"""
SELECT format('%I.%I', nspname, relname), format('SELECT %s FROM %I.%I', (
	SELECT string_agg(CASE WHEN atttypid IN (114, 3802) THEN format($q$nullif(%I::jsonb::text, 'null')$q$, attname)
		ELSE format($q$regexp_replace(%I::text, '(\[-?\d+:-?\d+\])+=', '', 'g')$q$, attname) END, ', ' ORDER BY attnum)
	FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
		AND NOT EXISTS (SELECT FROM pg_type t WHERE t.oid = atttypid AND typelem IN (114, 3802) AND typcategory = 'A')),
	nspname, relname)
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE relkind = 'r' AND relpersistence = 'p' AND nspname NOT LIKE 'pg\_%' AND nspname <> 'information_schema'"""


def differences(source, copy):
    """Tables that differ, each with a row of it."""
    found = []
    with source.cursor() as theirs, copy.cursor() as ours:
        theirs.execute(ROWS)
        for table, query in theirs.fetchall():
            theirs.execute(query)
            ours.execute(query)
            expected, got = sorted(map(repr, theirs.fetchall())), sorted(map(repr, ours.fetchall()))
            if expected != got:
                lost = [row for row in expected if row not in got]
                extra = [row for row in got if row not in expected]
                found.append((table, len(expected), len(got), lost[:1], extra[:1]))
    return found


def replay(cluster, name, options, two_phase, seed):
    """Whether a run's stream makes an equal copy."""
    maintenance = cluster.connect()
    database = "copy_" + re.sub(r"\W+", "_", name.lower())
    with maintenance.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {database}")
    maintenance.close()
    copy = cluster.connect(database)
    make_schema(copy, seed)
    applier = Applier(copy)
    decoder = Decoder(cluster, {})
    rows = decoder.read("slot_2p" if two_phase else "slot", {"format": "json", **options})
    decoder.close()
    if rows and rows[0][0] == "ERROR":
        print("   ", rows[0][2])
        return False
    for lsn, _, data in rows:
        try:
            applier.take(parse(data))
        except Exception as error:  # pylint: disable=broad-except
            print(f"    {lsn}: {type(error).__name__} {error}\n    in {data[:2000]}")
            return False
    source = cluster.connect()
    found = differences(source, copy)
    for table, expected, got, lost, extra in found:
        print(f"    {table}: {expected} rows in the source, {got} in the copy\n      lost {lost}\n      extra {extra}")
    source.close()
    copy.close()
    return not found and not applier.prepared and applier.transaction is None and applier.counts.get("insert", 0) > 0


def run_seed(arguments, runs, seed):
    started = time.monotonic()
    failed = 0
    with Cluster(settings=SETTINGS) as cluster:
        make_schema(cluster.connect(), seed)
        workload = Workload(cluster.connect, seed, features=FOLLOWED)
        workload.adopt()
        with cluster.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT pg_create_logical_replication_slot('slot', 'cpp_output'),"
                           " pg_create_logical_replication_slot('slot_2p', 'cpp_output', twophase => true)")
        workload.fill()
        workload.run(arguments.steps)
        workload.close()
        for name, (options, two_phase) in runs.items():
            if not replay(cluster, name, options, two_phase, seed):
                failed += 1
                print(f"not ok - seed {seed}, {name}", flush=True)
    print(f"{'not ok' if failed else 'ok'} - replay, seed {seed}: {len(runs)} runs, {time.monotonic() - started:.1f} s", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=seeds, default=seeds("1-3"), help="such as 7 or 1-20")
    parser.add_argument("--steps", type=int, default=1500, help="statements in a workload")
    parser.add_argument("--only", default="", help="runs whose name has this text")
    arguments = parser.parse_args()
    runs = {name: run for name, run in RUNS.items() if arguments.only in name}
    failed = run_seeds(partial(run_seed, arguments, runs), arguments.seeds)
    print(f"{len(runs) * len(arguments.seeds) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
