#!/usr/bin/python3
"""Reads a slot over the replication protocol with psycopg2, up to a WAL
position, and prints what came as a JSON list of strings.

The slot is moved on behind what was read. Bytes that are not UTF-8 print as
lone surrogates.
"""

import argparse
import json
import select
import sys

import psycopg2
from psycopg2.extras import LogicalReplicationConnection


def position(text):
    high, low = text.split("/")
    return (int(high, 16) << 32) + int(low, 16)


def receive(cursor, until):
    messages = []
    while True:
        message = cursor.read_message()
        if message is None:
            # keepalives move wal_end; ask for one where nothing else comes
            if cursor.wal_end >= until:
                return messages
            cursor.send_feedback(reply=True)
            select.select([cursor], [], [], 0.1)
            continue
        messages.append(message.payload.decode("utf-8", "surrogateescape"))
        cursor.send_feedback(flush_lsn=message.data_start)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--slot", required=True)
    parser.add_argument("--options", default="{}", help="a JSON object; null: an option without value")
    parser.add_argument("--until", required=True, type=position)
    arguments = parser.parse_args()

    connection = psycopg2.connect(arguments.dsn, connection_factory=LogicalReplicationConnection)
    cursor = connection.cursor()
    cursor.start_replication(slot_name=arguments.slot, options=json.loads(arguments.options), decode=False)
    messages = receive(cursor, arguments.until)
    cursor.send_feedback(flush_lsn=arguments.until, force=True)
    connection.close()
    json.dump(messages, sys.stdout, ensure_ascii=True)


if __name__ == "__main__":
    main()
