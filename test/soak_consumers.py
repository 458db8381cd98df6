"""Consumers of the soak: each a process that reads one slot, through whatever
happens to the server, and sends what it has read.

What a transaction did is the same in every format, and so are its bytes in two
slots of one format: that is what comes out of here, and two consumers apply it
to a copy.
"""

import hashlib
import json
import random
import re
import select
import time
import traceback
from dataclasses import dataclass, field

import psycopg2
from psycopg2.extras import LogicalReplicationConnection

from replay import Applier, Number, Type, parse

KINDS = ("insert", "update", "delete")
MARKER = "soak"     # prefix of the message that ends a cycle; its content is a number


@dataclass
class Transaction:
    xid: int
    changes: dict = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    events: list = field(default_factory=list)
    marker: int = None
    end: int = None     # LSN behind it; None: that of its last message
    texts: list = field(default_factory=list)   # all that the slot sent for it
    messages: list = field(default_factory=list)    # those of pg_logical_emit_message

    def summary(self):
        """What two slots have to agree on.

        Not the place of a logical message: the server gives it the LSN of the record behind it, and if that is a change of
        another subtransaction, the server's merging of both takes them in either order.
        """
        digest = hashlib.sha256()
        for text in self.texts + sorted(self.messages):
            digest.update(text.encode())
        return (self.xid, *self.changes.values(), digest.hexdigest()[:16])


class Reader:
    """Takes one message of a stream after the other; take() returns a transaction at its end."""

    def __init__(self):
        self.open = None

    def reset(self):
        """The connection is lost, and what is open comes again."""
        self.open = None

    def begin(self, xid, text):
        assert self.open is None, "begin within a transaction"
        self.open = Transaction(int(xid))
        self.open.texts.append(text)

    def change(self, kind, text):
        assert self.open is not None, f"{kind} outside a transaction"
        if kind in KINDS:
            self.open.changes[kind] += 1
        self.open.texts.append(text)

    def message(self, prefix, content, text):
        assert self.open is not None, "transactional message outside a transaction"
        self.open.messages.append(text)
        if prefix == MARKER:
            self.open.marker = int(content)

    def commit(self, text):
        assert self.open is not None, "commit outside a transaction"
        done, self.open = self.open, None
        done.texts.append(text)
        return done


class JsonReader(Reader):
    def take(self, text):
        event = parse(text)
        op = event["op"]
        if op == "begin":
            self.begin(event["xid"], text)
        elif op == "commit":
            return self.commit(text)
        elif op == "message":
            if event["transactional"]:
                self.message(event["prefix"], event.get("content"), text)
        else:
            self.change(op, text)
            self.open.events.append(event)
        return None


class JsonStreamReader(Reader):
    """streaming=on: transactions come in pieces, so only markers are looked for."""

    def take(self, text):
        event = parse(text)
        op = event["op"]
        if op in ("begin", "stream_start"):
            self.begin(0, "")
        elif op == "message" and event["prefix"] == MARKER:
            self.open.marker = int(event["content"])
        elif op == "stream_stop":
            self.open = None
        elif op in ("commit", "prepare"):
            return self.commit("")
        elif op in ("stream_commit", "stream_prepare", "commit_prepared", "rollback_prepared"):
            return Transaction(0)
        return None


class TestDecodingReader(Reader):
    CHANGE = re.compile(r"table .*?: (INSERT|UPDATE|DELETE|TRUNCATE):", re.DOTALL)
    MESSAGE = re.compile(r"message: transactional: ([01]) prefix: (.*?), sz: \d+ content:(.*)", re.DOTALL)

    def take(self, text):
        if text.startswith("BEGIN "):
            self.begin(text.split()[1], text)
        elif text.startswith("COMMIT "):
            return self.commit(text)
        elif text.startswith("table "):
            self.change(self.CHANGE.match(text)[1].lower(), text)
        else:
            transactional, prefix, content = self.MESSAGE.match(text).groups()
            if transactional == "1":
                self.message(prefix, content, text)
        return None


class Wal2json1Reader(Reader):
    """Its messages have the LSN of where the transaction began, as with the plugin wal2json."""

    def take(self, text):
        document = json.loads(text)
        if "xid" not in document or any(c.get("transactional") is False for c in document["change"]):
            return None
        self.begin(document["xid"], text)
        for change in document["change"]:
            if change["kind"] == "message":
                self.message(change["prefix"], change["content"], "")
            else:
                self.change(change["kind"], "")
        high, low = document["nextlsn"].split("/")
        self.open.end = (int(high, 16) << 32) + int(low, 16)
        return self.commit("")


class Wal2json2Reader(Reader):
    ACTIONS = {"I": "insert", "U": "update", "D": "delete", "T": "truncate"}

    def take(self, text):
        event = json.loads(text, parse_int=Number, parse_float=Number)
        action = event["action"]
        if action == "B":
            self.begin(event["xid"], text)
        elif action == "C":
            return self.commit(text)
        elif action == "M":
            if event["transactional"]:
                self.message(event["prefix"], event["content"], text)
        else:
            self.change(self.ACTIONS[action], text)
            self.native(self.ACTIONS[action], event)
        return None

    def native(self, op, event):
        """The event as format json would have it, but for the values."""
        events = self.open.events
        if op == "truncate":    # one for each table: together again, as they refer to each other
            if not (events and events[-1]["op"] == op):
                events.append({"op": op, "tables": [], "cascade": False})
            events[-1]["tables"].append((event["schema"], event["table"]))
            return
        events.append({
            "op": op, "schema": event["schema"], "table": event["table"],
            "new": {c["name"]: c["value"] for c in event.get("columns", [])},
            "key": {c["name"]: c["value"] for c in event.get("identity", [])}})


class Wal2jsonType(Type):
    """wal2json has the text of most values as a string."""

    def text(self, type_oid, value):
        if value is None:
            return None
        if isinstance(value, bool):
            return "t" if value else "f"
        return "\\x" + value if self.types[type_oid][0] == 17 else str(value)


class Wal2jsonApplier(Applier):
    def __init__(self, connection):
        super().__init__(connection)
        self.types = Wal2jsonType(self.cursor)

    def update(self, event):
        _, columns = self.table(event["schema"], event["table"])
        super().update({**event, "unchanged": [name for name in columns if name not in event["new"]]})


class Consumer:
    """Reads a slot until told to stop; confirms what it has done, and does nothing twice."""

    def __init__(self, name, dsn, options, reader, applier, pipe):
        self.dsn = f"{dsn} application_name={name}"
        self.name = name
        self.options = options
        self.reader = reader
        self.applier = applier
        self.pipe = pipe
        self.random = random.Random(name)
        self.done = 0           # LSN behind the last transaction that was finished
        self.exact = False      # the server was told to start there
        self.summaries = []
        self.texts = {}         # xid: messages of the transactions of the last cycle
        self.again = 0          # transactions that came again
        self.stopping = False

    def run(self):
        try:
            while not self.stopping:
                try:
                    self.follow()
                except psycopg2.Error:
                    time.sleep(0.1)
        except Exception:   # pylint: disable=broad-except
            self.pipe.send(("error", traceback.format_exc()))

    def follow(self):
        self.reader.reset()
        connection = psycopg2.connect(self.dsn, connection_factory=LogicalReplicationConnection)
        try:
            cursor = connection.cursor()
            self.exact = self.random.random() < 0.5
            cursor.start_replication(slot_name=self.name, options=self.options, decode=False,
                                     start_lsn=self.done if self.exact else 0)
            while True:
                message = cursor.read_message()
                if message is not None:
                    self.take(cursor, message)
                    continue
                if self.reader.open is None and cursor.wal_end:
                    cursor.send_feedback(flush_lsn=max(self.done, cursor.wal_end), force=True)
                select.select([cursor, self.pipe], [], [], 1)
                if self.pipe.poll():
                    command = self.pipe.recv()
                    if isinstance(command, int):
                        self.pipe.send(("texts", self.texts.get(command, [])))
                        continue
                    self.stopping = command == "stop"
                    return      # "drop" only loses the connection
        finally:
            connection.close()

    def take(self, cursor, message):
        text = message.payload.decode()
        try:
            transaction = self.reader.take(text)
        except Exception as error:
            raise AssertionError(f"{self.name}: {text[:2000]}") from error
        if transaction is None:
            return
        end = transaction.end or message.data_start
        if end <= self.done:
            assert not self.exact, f"{self.name}: transaction {transaction.xid} came again"
            self.again += 1
            return
        if self.applier is not None:
            try:
                self.applier.apply(transaction.events)
            except Exception as error:
                raise AssertionError(f"{self.name}: transaction {transaction.xid}: {str(transaction.events)[:3000]}") from error
        self.done = end
        if not self.summaries:
            self.texts = {}
        self.texts[transaction.xid] = transaction.texts + sorted(transaction.messages)
        if transaction.marker is not None:
            self.pipe.send(("marker", transaction.marker, self.summaries, self.again))
            self.summaries, self.again = [], 0
        elif any(transaction.changes.values()):
            self.summaries.append(transaction.summary())
        cursor.send_feedback(flush_lsn=self.done)
