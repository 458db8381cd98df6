#!/usr/bin/python3
"""Compares each value of format json with what to_jsonb() makes of it.

test/replay.py sees whether a value survives; this sees whether it has the shape
that it should: numbers as numbers, arrays as arrays, documents embedded.

  json_values.py --seeds 1-3
  json_values.py --seeds 7 --rows 1000
"""

import argparse
import base64
import random
import sys
import time
from decimal import Decimal

import psycopg2

from cluster import Cluster
from differential import seeds
from replay import Number, Type, parse
from workload import schema, values
from workload.workload import FEATURES

# What the expected values are made under; decoding runs under the other one.
PLAIN = "SET TimeZone = 'UTC'; SET DateStyle = ISO; SET IntervalStyle = iso_8601; SET bytea_output = hex; SET extra_float_digits = 1"
ODD = ("SET TimeZone = 'Asia/Kathmandu'; SET DateStyle = 'SQL, DMY'; SET IntervalStyle = postgres_verbose;"
       " SET bytea_output = escape; SET extra_float_digits = -3")

RUNS = [{}, {"numbers-as-string": "wide"}, {"numbers-as-string": "all", "bytea": "hex"}]

NUMBERS = {20, 21, 23, 700, 701, 1700}
# numbers for us, strings for to_jsonb()
OIDS = {26, 28, 29}
WIDE = {20, 1700}


class Digits(Number):
    """A number that has to be there digit by digit."""


class NumberText(str):
    """The text of a number, in a string."""


class Expected:
    """What a value has to be, by its type, from what to_jsonb() made of it."""

    def __init__(self, cursor, options):
        self.types = Type(cursor).types
        self.options = options

    def value(self, type_oid, value):
        if value is None:
            return None
        oid, kind, element, _, names, fields = self.types[type_oid]
        if oid in (114, 3802):
            return value
        if element or oid in (22, 30):
            return self.array(element or {22: 21, 30: 26}[oid], value)
        if kind == "c":
            return {name: self.value(field, value[name]) for name, field in zip(names, fields)}
        if oid in NUMBERS or oid in OIDS:
            return self.number(oid, str(value))
        if oid == 17:
            data = bytes.fromhex(value[2:])
            return data.hex() if self.options.get("bytea") == "hex" else base64.b64encode(data).decode()
        if oid == 1184:
            return value.replace("+00:00", "Z")
        return value

    def array(self, element, items):
        return [self.array(element, item) if isinstance(item, list) and self.types[element][0] not in (114, 3802)
                else self.value(element, item) for item in items]

    def number(self, oid, text):
        how = self.options.get("numbers-as-string", "off")
        if text in ("NaN", "Infinity", "-Infinity"):
            return text
        if how == "all" or (how == "wide" and oid in WIDE):
            return NumberText(text)
        return Digits(text) if oid == 1700 else Number(text)


def same(expected, got):
    """Equal in type and value. A float may be written in another way than to_jsonb()'s."""
    if isinstance(expected, Digits):
        return isinstance(got, Number) and str(expected) == str(got)
    if isinstance(expected, Number):
        return isinstance(got, Number) and Decimal(expected) == Decimal(got)
    if isinstance(expected, NumberText):
        return type(got) is str and Decimal(expected) == Decimal(got)
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(map(same, expected, got))
    if isinstance(expected, dict) and isinstance(got, dict):
        return expected.keys() == got.keys() and all(same(expected[k], got[k]) for k in expected)
    return type(expected) is type(got) and expected == got


def fill(cursor, seed, rows):
    """Makes app.everything and fills it; the columns as (name, type oid, to_jsonb() of it)."""
    schema.create(cursor, FEATURES)
    makers = schema.value_makers(cursor, FEATURES)
    cursor.execute("SELECT attname, atttypid, atttypmod, format_type(atttypid, NULL) FROM pg_attribute"
                   " WHERE attrelid = 'app.everything'::regclass AND attnum > 1 ORDER BY attnum")
    columns = cursor.fetchall()
    # to_jsonb() goes by a cast to json where an extension has one
    described = [(name, oid, f"to_jsonb({name}::text)" if kind.endswith("hstore") else
                  f"to_jsonb({name}::text[])" if kind.endswith("hstore[]") else f"to_jsonb({name})")
                 for name, oid, _, kind in columns]
    labels = {}
    cursor.execute("SELECT enumtypid, array_agg(enumlabel::text) FROM pg_enum GROUP BY 1")
    for oid, names in cursor.fetchall():
        labels[oid] = names
    cursor.execute("SELECT oid, typelem FROM pg_type WHERE typelem <> 0")
    elements = dict(cursor.fetchall())

    def literal(r, oid, typmod):
        maker = makers[oid, typmod]
        if r.random() < 0.1:
            return "NULL"
        if maker is not None:
            return values.quote(maker(r))
        if oid in labels:
            return values.quote(r.choice(labels[oid]))
        return values.quote(values.array(lambda s: s.choice(labels[elements[oid]]))(r))

    r = random.Random(seed)
    refused = 0
    for row in range(rows):
        row_values = ", ".join(literal(r, oid, typmod) for _, oid, typmod, _ in columns)
        try:
            cursor.execute(f"INSERT INTO app.everything VALUES ({row}, {row_values})")
        except psycopg2.Error as error:
            refused += 1
            print(f"    refused: {str(error).splitlines()[0]}")
    assert refused * 10 < rows, "the server refuses too many values"
    return described


def compare(cluster, cursor, described, options):
    """How many values differ, and how many there were."""
    cursor.execute(PLAIN)
    # a function takes a hundred arguments at most
    parts = ("jsonb_build_array(%s)" % ", ".join(e for _, _, e in described[i:i + 90]) for i in range(0, len(described), 90))
    cursor.execute(f"SELECT id, ({' || '.join(parts)})::text FROM app.everything")
    sql = {str(key): parse('{"op":0,"values":' + row + "}")["values"] for key, row in cursor.fetchall()}
    expected = Expected(cursor, options)
    with cluster.connect() as decoding, decoding.cursor() as reader:
        reader.execute(ODD)
        given = [text for pair in options.items() for text in pair]
        reader.execute("SELECT data FROM pg_logical_slot_peek_changes('slot', NULL, NULL, VARIADIC %s::text[])",
                       (["tables", "app.everything", "include-transaction", "off", *given],))
        lines = reader.fetchall()
    assert len(lines) == len(sql), f"{len(lines)} lines for {len(sql)} rows"
    different = count = 0
    for (line,) in lines:
        new = parse(line)["new"]
        for (name, oid, _), value in zip(described, sql[str(new["id"])]):
            count += 1
            want = expected.value(oid, value)
            if not same(want, new[name]):
                different += 1
                if different <= 20:
                    print(f"    {name} (type {oid}): {new[name]!r} for {want!r}")
    return different, count


def run_seed(seed, rows):
    started = time.monotonic()
    failed = count = 0
    with Cluster() as cluster:
        connection = cluster.connect()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_create_logical_replication_slot('slot', 'cpp_output')")
            described = fill(cursor, seed, rows)
            for options in RUNS:
                different, of = compare(cluster, cursor, described, options)
                count += of
                if different:
                    failed += 1
                    print(f"not ok - seed {seed}, {options}: {different} of {of} values differ")
        connection.close()
    print(f"{'not ok' if failed else 'ok'} - json values, seed {seed}: {count} values, {time.monotonic() - started:.1f} s", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=seeds, default=seeds("1-3"), help="such as 7 or 1-20")
    parser.add_argument("--rows", type=int, default=300)
    arguments = parser.parse_args()
    return 1 if sum(run_seed(seed, arguments.rows) for seed in arguments.seeds) else 0


if __name__ == "__main__":
    sys.exit(main())
