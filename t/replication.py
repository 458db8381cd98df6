#!/usr/bin/python3
"""A client of the replication protocol without a library between it and the
socket, for tests of what is on the wire.

  replication.py SCENARIO --host DIRECTORY --port PORT --slot SLOT ...

Prints what it saw, as JSON unless said otherwise. Waits for states of the server, never for a time to
have passed. The scenarios are the functions below.
"""

import argparse
import json
import re
import socket
import struct
import sys
import time

import psycopg2

# for a server that hangs; no result depends on it
PATIENCE = 300


def position(text):
    high, low = text.split("/")
    return (int(high, 16) << 32) + int(low, 16)


class ServerError(Exception):
    pass


class Client:
    """A walsender's other end."""

    def __init__(self, arguments, options=None, receive_buffer=None):
        self.arguments = arguments
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(f"{arguments.host}/.s.PGSQL.{arguments.port}")
        self.buffer = bytearray()
        self.taken = 0
        self.wal_end = 0
        self.last_payload = b""
        parameters = {"user": arguments.user, "database": "postgres", "replication": "database", "application_name": "wire"}
        body = struct.pack("!I", 196608) + b"".join(f"{k}\0{v}\0".encode() for k, v in parameters.items()) + b"\0"
        self.socket.sendall(struct.pack("!I", len(body) + 4) + body)
        self.pid = None
        while True:
            kind, body = self.message()
            if kind == b"K":
                self.pid = struct.unpack("!I", body[:4])[0]
            elif kind == b"Z":
                break
        options = arguments.options if options is None else options
        listed = ", ".join('"{}" \'{}\''.format(k, v.replace("'", "''")) for k, v in sorted(options.items()))
        query = f'START_REPLICATION SLOT "{arguments.slot}" LOGICAL 0/0' + (f" ({listed})" if listed else "")
        self.send(b"Q", query.encode() + b"\0")
        while self.message()[0] != b"W":
            pass

    def send(self, kind, body):
        self.socket.sendall(kind + struct.pack("!I", len(body) + 4) + body)

    def fill(self, length, patient=True):
        """Whether that many bytes are there; if not patient, without waiting."""
        while len(self.buffer) - self.taken < length:
            if self.taken > 1 << 20:
                del self.buffer[:self.taken]
                self.taken = 0
            self.socket.settimeout(PATIENCE if patient else 0.1)
            try:
                more = self.socket.recv(1 << 16)
            except (BlockingIOError, socket.timeout):
                if patient:
                    raise
                return False
            if not more:
                raise ServerError("the server closed the connection")
            self.buffer += more
        return True

    def take(self, length):
        result = bytes(memoryview(self.buffer)[self.taken:self.taken + length])
        self.taken += length
        return result

    def message(self, patient=True):
        """Kind and body of the next message, or None where none is there yet."""
        if not self.fill(5, patient):
            return None
        length = struct.unpack_from("!I", self.buffer, self.taken + 1)[0]
        if not self.fill(1 + length, patient):
            return None
        kind = self.take(5)[:1]
        body = self.take(length - 4)
        if kind == b"E":
            fields = {field[:1]: field[1:] for field in body.split(b"\0")}
            raise ServerError(fields[b"M"].decode())
        return kind, body

    def copy_data(self, patient=True):
        """("w", start, end, time, payload), ("k", end, time, reply wanted) or None."""
        while True:
            message = self.message(patient)
            if message is None:
                return None
            kind, body = message
            if kind == b"d":
                break
            if kind not in b"NS":
                raise ServerError(f"unexpected message {kind}")
        if body[:1] == b"w":
            start, end, sent = struct.unpack_from("!QQQ", body, 1)
            self.last_payload = body[25:]
            return "w", start, end, sent, self.last_payload
        if body[:1] == b"k" and len(body) == 18:
            end, sent, wanted = struct.unpack("!QQB", body[1:])
            self.wal_end = end
            return "k", end, sent, wanted
        raise ServerError(f"unexpected CopyData {body[:40]}")

    def feedback(self, flush=0, reply=False):
        # positions of 0 say nothing
        self.send(b"d", b"r" + struct.pack("!QQQQB", flush, flush, flush, 0, reply))

    def close(self):
        """Returns when the walsender is gone, and with it its hold on the slot."""
        self.send(b"X", b"")
        try:
            while self.socket.recv(1 << 16):
                pass
        except ConnectionError:
            pass

    def idle(self, frame):
        """Asks for a keepalive where nothing else came; whether that is so."""
        if frame is None:
            self.feedback(reply=True)
        return frame is None

    def until_commit(self):
        """Reads on to the end of the transaction, answering; the number of messages."""
        count = 0
        while not self.last_payload.startswith((b"COMMIT", b'{"op":"commit"')):
            count += self.copy_data()[0] == "w"
            if count % 1000 == 0:
                self.feedback()
        return count


class Observer:
    """What the server says about itself on another connection."""

    def __init__(self, arguments):
        self.connection = psycopg2.connect(host=arguments.host, port=arguments.port, user=arguments.user, dbname="postgres")
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()

    def value(self, query, *parameters):
        self.cursor.execute(query, parameters)
        row = self.cursor.fetchone()
        return row[0] if row else None

    def wait(self, query, *parameters):
        deadline = time.monotonic() + PATIENCE
        while not self.value(query, *parameters):
            if time.monotonic() > deadline:
                raise ServerError(f"waited in vain: {query}")
            time.sleep(0.05)

    def wait_until_blocked(self, client):
        """The server has more to send than the socket takes."""
        self.wait("SELECT wait_event IN ('WalSenderWriteData', 'WalSndWriteData') FROM pg_stat_activity WHERE pid = %s", client.pid)

    def confirmed(self, slot):
        return self.value("SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = %s", slot)


def anonymous_memory(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"RssAnon:\s*(\d+) kB", status.read()).group(1)) * 1024


def frames(arguments):
    """Every frame up to a position; the slot stays.

    Not as JSON, which takes Perl seconds to read: dataStart, walEnd and payload
    with \\x1f between them, and \\x1e at the end of a frame. What follows the last
    says whether the times of sending were in order.
    """
    client = Client(arguments)
    sent = []
    while client.wal_end < arguments.until:
        frame = client.copy_data(patient=False)
        if client.idle(frame) or frame[0] == "k":
            continue
        sys.stdout.buffer.write(b"%d\x1f%d\x1f%b\x1e" % (frame[1], frame[2], frame[4]))
        sent.append(frame[3])
    client.close()
    sys.stdout.buffer.write(b"in order" if all(sent) and sent == sorted(sent) else b"in disorder")


def middle(arguments):
    """Feedback in the middle of a transaction, once the server waits for us.

    --until lies behind an earlier transaction.
    """
    observer = Observer(arguments)
    before = observer.confirmed(arguments.slot)
    client = Client(arguments)
    seen = {"w": 0, "k": 0}
    while seen["w"] < arguments.messages:
        frame = client.copy_data()
        seen[frame[0]] += 1
    observer.wait_until_blocked(client)
    client.feedback(flush=arguments.until, reply=True)
    observer.wait("SELECT confirmed_flush_lsn >= %s::pg_lsn FROM pg_replication_slots WHERE slot_name = %s",
                  arguments.until_text, arguments.slot)
    first = dict(seen)
    at_commit = None
    answered = None
    while at_commit is None:
        frame = client.copy_data()
        seen[frame[0]] += 1
        if frame[0] == "k" and answered is None:
            answered = seen["w"]
        # of the large transaction: the earlier one's came before
        if frame[0] == "w" and frame[4].startswith((b"COMMIT", b'{"op":"commit"')) and seen["w"] > arguments.messages:
            at_commit = seen["w"]
    return {"before": before, "confirmed": observer.confirmed(arguments.slot), "at feedback": first["w"],
            "keepalive at": answered, "commit at": at_commit}


def memory(arguments):
    """How much the walsender has while its reader is far behind, again and again."""
    observer = Observer(arguments)
    client = Client(arguments, receive_buffer=16384)
    # before anything large was decoded, or at least sent
    start = anonymous_memory(client.pid)
    most = received = count = samples = 0
    next_sample = 1 << 20
    while not (received and client.last_payload.startswith((b"COMMIT", b'{"op":"commit"'))):
        frame = client.copy_data()
        if frame[0] != "w":
            continue
        received += len(frame[4])
        count += 1
        if received >= next_sample and samples < 12:
            observer.wait_until_blocked(client)
            most = max(most, anonymous_memory(client.pid))
            samples += 1
            next_sample = received + arguments.step
        elif count % 512 == 0 or len(frame[4]) > 1 << 16:
            most = max(most, anonymous_memory(client.pid))
    return {"start": start, "most": most, "received": received, "messages": count, "samples": samples}


def timeout(arguments):
    """Two clients of a server that gives up on those who don't answer.

    One stops reading and answering. The other reads a little at a time, and
    answers, for longer than it takes the server to give up on the first.
    """
    observer = Observer(arguments)
    stalled = Client(arguments, receive_buffer=16384)
    stalled.copy_data()
    observer.wait_until_blocked(stalled)
    arguments.slot = arguments.second_slot
    slow = Client(arguments, receive_buffer=16384)
    patience = 2 * arguments.wal_sender_timeout
    started = time.monotonic()
    gone = None
    count = 0
    while gone is None or time.monotonic() < started + patience:
        for _ in range(200):
            count += slow.copy_data()[0] == "w"
        if gone is None and observer.value("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", stalled.pid) == 0:
            gone = count
        slow.feedback()
        time.sleep(0.2)
        if time.monotonic() > started + PATIENCE:
            raise ServerError("the server did not give up")
    observer.wait_until_blocked(slow)
    alive = observer.value("SELECT active_pid = %s FROM pg_replication_slots WHERE slot_name = %s", slow.pid, arguments.slot)
    rest = slow.until_commit()
    try:
        while True:
            stalled.copy_data()
    except (ServerError, ConnectionError) as error:
        how = str(error)
    return {"alive": alive, "read slowly": count, "read then": rest, "stalled": how}


def main():
    scenarios = {f.__name__: f for f in (frames, middle, memory, timeout)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", choices=scenarios)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", required=True)
    parser.add_argument("--user", required=True)
    parser.add_argument("--slot", required=True)
    parser.add_argument("--options", default={}, type=json.loads, help="a JSON object")
    parser.add_argument("--until", dest="until_text", default="0/0")
    parser.add_argument("--messages", type=int, default=0, help="to read before the middle")
    parser.add_argument("--step", type=int, default=0, help="bytes between two looks at the memory")
    parser.add_argument("--second-slot")
    parser.add_argument("--wal-sender-timeout", type=float, help="in seconds")
    arguments = parser.parse_args()
    arguments.until = position(arguments.until_text)
    result = scenarios[arguments.scenario](arguments)
    if result is not None:
        json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
