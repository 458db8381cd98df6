"""A random workload that a seed repeats exactly.

Several sessions take turns in one thread, so that their transactions
interleave. What another session's lock blocks fails at once: lock_timeout only
runs while a lock is waited for, and nobody can release it meanwhile.
"""

import random
import re

import psycopg2

from . import schema, values

# What the workload may do; leave some out where a consumer cannot follow.
FEATURES = frozenset({
    "ddl",          # in the middle of everything
    "prepared",     # PREPARE TRANSACTION
    "aborts",       # ROLLBACK, ROLLBACK TO and failing statements inside a transaction
    "origins",
    "messages",
    "truncate",
    "shared_types", # ALTER TYPE while others, who may have used the type, are in progress
    "odd_types",    # type names and defaults with quotes
    "concurrent_indexes",   # CREATE INDEX CONCURRENTLY
    "virtual_columns",      # GENERATED ... VIRTUAL, from PostgreSQL 18 on
})

COLUMNS = """
SELECT quote_ident(attname), atttypid, atttypmod, format_type(atttypid, atttypmod), attidentity = 'd',
	attnum = ANY (coalesce((SELECT indkey::int2[] FROM pg_index WHERE indrelid = attrelid AND indisprimary), '{}'))
FROM pg_attribute
WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
ORDER BY attnum"""

TABLES = """
SELECT c.oid, format('%I.%I', nspname, relname), relkind, relispartition, relreplident
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE relkind IN ('r', 'p') AND nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'
ORDER BY c.oid"""


class Session:
    def __init__(self, connection):
        self.connection = connection
        self.cursor = connection.cursor()
        self.cursor.execute("SET lock_timeout = '1ms'; SET client_min_messages = error")
        self.open = False
        self.savepoints = []
        self.catalog = False    # the transaction has changed catalogs
        self.origin = False


class Workload:
    def __init__(self, connect, seed, sessions=4, features=FEATURES, log=None):
        """connect() gives a connection in autocommit mode; log gets each statement."""
        self.connect = connect
        self.random = random.Random(seed)
        self.features = frozenset(features)
        self.log = log
        self.sessions = [Session(connect()) for _ in range(sessions)]
        self.makers = {}
        self.prepared = []
        self.counter = 0
        self.done = {}
        self.failed = {}

    def close(self):
        for session in self.sessions:
            session.connection.close()

    def setup(self):
        """The schema, and rows to update and delete from the start."""
        self.create()
        self.fill()

    def create(self):
        cursor = self.sessions[0].cursor
        schema.create(cursor, self.features)
        self.adopt()
        if "origins" in self.features:
            cursor.execute("SELECT pg_replication_origin_create(n) FROM (VALUES ('origin_a'), ('odd \"origin\"')) AS o (n)"
                           " WHERE NOT EXISTS (SELECT FROM pg_replication_origin)")

    def adopt(self):
        """Takes the schema as it was created before."""
        self.makers = schema.value_makers(self.sessions[0].cursor, self.features)

    def fill(self):
        for table in self.tables(self.sessions[0]):
            for _ in range(12):
                self.insert(self.sessions[0], table=table)

    # --- running ----------------------------------------------------------

    def run(self, steps):
        for _ in range(steps):
            self.step(self.random.choice(self.sessions))
        self.settle()

    def settle(self):
        """Ends every transaction."""
        for session in self.sessions:
            if session.open:
                self.end(session, commit=True)
            if session.origin:
                self.origin(session)
        while self.prepared:
            self.finish_prepared(self.sessions[0])

    def step(self, session):
        r = self.random
        if not session.open:
            kind = r.random()
            if kind < 0.5:
                self.begin(session)
            elif kind < 0.56 and self.prepared:
                self.finish_prepared(session)
            elif kind < 0.60 and "origins" in self.features:
                self.origin(session)
            elif kind < 0.63 and "ddl" in self.features:
                self.outside(session)
            else:
                self.change(session)
            return
        kind = r.random()
        if kind < 0.12:
            self.end(session, commit=r.random() < 0.8 or "aborts" not in self.features)
        elif kind < 0.15 and "prepared" in self.features:
            self.prepare(session)
        elif kind < 0.25:
            self.savepoint(session)
        elif kind < 0.34 and session.savepoints:
            self.leave_savepoint(session)
        else:
            self.change(session)

    def execute(self, session, sql, what, arguments=None):
        """Runs a statement; what fails ends the innermost (sub)transaction."""
        if self.log is not None:
            self.log.append((self.sessions.index(session), sql))
        try:
            session.cursor.execute(sql, arguments)
        except psycopg2.Error as error:
            self.failed.setdefault(what, []).append(str(error).split("\n", maxsplit=1)[0] + "   in " + sql[:300])
            if session.open:
                if session.savepoints:
                    session.cursor.execute(f"ROLLBACK TO {session.savepoints[-1]}")
                else:
                    session.cursor.execute("ROLLBACK")
                    session.open = False
            return False
        self.done[what] = self.done.get(what, 0) + 1
        return True

    # --- transactions -----------------------------------------------------

    def begin(self, session):
        session.open = self.execute(session, "BEGIN", "begin")
        session.savepoints = []
        session.catalog = False
        if session.origin and self.random.random() < 0.7:
            self.execute(session, f"SELECT pg_replication_origin_xact_setup('0/{self.next():X}', '2026-01-01 12:00+00')", "origin")

    def end(self, session, commit):
        session.savepoints = []
        session.open = False
        self.execute(session, "COMMIT" if commit else "ROLLBACK", "commit" if commit else "rollback")

    def prepare(self, session):
        gid = self.random.choice(["gid_%d", "it's \"odd\" %d", "ünï %d"]) % self.next()
        session.savepoints = []
        session.open = False
        if self.execute(session, "PREPARE TRANSACTION " + values.quote(gid), "prepare"):
            self.prepared.append((gid, session.catalog))

    def finish_prepared(self, session):
        gid, catalog = self.prepared.pop(self.random.randrange(len(self.prepared)))
        # the server itself fails to decode a prepared transaction with changed
        # catalogs and subtransactions that was rolled back before
        commit = catalog or self.random.random() < 0.7 or "aborts" not in self.features
        self.execute(session, ("COMMIT" if commit else "ROLLBACK") + " PREPARED " + values.quote(gid), "finish prepared")

    def savepoint(self, session):
        # the same name again now and then: the older one is hidden
        name = self.random.choice(["s", f"s{self.next()}"])
        if self.execute(session, f"SAVEPOINT {name}", "savepoint"):
            session.savepoints.append(name)

    def leave_savepoint(self, session):
        depth = self.random.randint(1, len(session.savepoints))
        name = session.savepoints[-depth]
        index = len(session.savepoints) - 1 - session.savepoints[::-1].index(name)
        if self.random.random() < 0.5 and "aborts" in self.features:
            self.execute(session, f"ROLLBACK TO {name}", "rollback to")
            del session.savepoints[index + 1:]
        else:
            self.execute(session, f"RELEASE {name}", "release")
            del session.savepoints[index:]

    def origin(self, session):
        if session.origin:
            self.execute(session, "SELECT pg_replication_origin_session_reset()", "origin")
            session.origin = False
        else:
            name = self.random.choice(["origin_a", 'odd "origin"'])
            session.origin = self.execute(session, f"SELECT pg_replication_origin_session_setup('{name}')", "origin")

    # --- changes ----------------------------------------------------------

    def next(self):
        self.counter += 1
        return self.counter

    def change(self, session):
        r = self.random
        actions = [(self.insert, 30), (self.update, 25), (self.delete, 10), (self.upsert, 4), (self.bulk, 4), (self.copy, 2)]
        for feature, action, weight in (("truncate", self.truncate, 1), ("messages", self.message, 5), ("ddl", self.ddl, 8)):
            if feature in self.features:
                actions.append((action, weight))
        action = r.choices([a for a, _ in actions], [w for _, w in actions])[0]
        # without aborts a failure must not take anything else with it
        guarded = session.open and (r.random() < 0.3 or "aborts" not in self.features)
        if guarded:
            session.cursor.execute("SAVEPOINT guard")
            session.savepoints.append("guard")
        action(session)
        if guarded and session.open and r.random() < 0.8:
            session.cursor.execute("RELEASE guard")
            session.savepoints.pop()

    def tables(self, session, kinds="rp"):
        session.cursor.execute(TABLES)
        return [t for t in session.cursor.fetchall() if t[2] in kinds]

    def table(self, session, kinds="rp"):
        found = self.tables(session, kinds)
        # the small ones get half of the traffic, so that rows meet
        favourites = [t for t in found if ".some_" not in t[1] and t[1] != "app.everything"]
        return self.random.choice(favourites if self.random.random() < 0.5 else found)

    def columns(self, session, oid):
        session.cursor.execute(COLUMNS, (oid,))
        return session.cursor.fetchall()

    def value(self, session, table, column):
        """An SQL expression for a column; in keys from few enough values to collide at times."""
        name, type_oid, typmod, type_name, identity, in_key = column
        r = self.random
        if identity and r.random() < 0.5:
            return "DEFAULT"
        if in_key and type_name in ("integer", "bigint"):
            return str(r.randint(1, 400))
        if name == "region":
            return r.choice(["'a'", "'b'", "'c'", "'d'"])
        if not in_key and r.random() < 0.12:
            return r.choice(["NULL", "DEFAULT"])
        if table[1].startswith("app.toast") and type_name == "text" and r.random() < 0.6:
            return values.quote(values.big_text(r)[:2000 if in_key else None])
        if table[1].startswith("app.toast") and type_name == "bytea":
            return "'\\x" + r.randbytes(r.choice([10, 5000, 40000])).hex() + "'"
        if table[1].startswith("app.toast") and type_name == "jsonb":
            return "jsonb_build_object('k', " + values.quote(values.big_text(r)) + ")"
        if (type_oid, typmod) not in self.makers:
            return "NULL"
        maker = self.makers[type_oid, typmod]
        if maker is None:
            return self.enum_value(session, type_oid)
        return values.quote(maker(r))

    def enum_value(self, session, type_oid):
        session.cursor.execute("SELECT coalesce(nullif(typelem, 0), oid), typelem <> 0 FROM pg_type WHERE oid = %s", (type_oid,))
        enum, is_array = session.cursor.fetchone()
        session.cursor.execute("SELECT enumlabel FROM pg_enum WHERE enumtypid = %s ORDER BY enumsortorder", (enum,))
        labels = [row[0] for row in session.cursor.fetchall()]
        if not labels:
            return "NULL"
        return values.quote((values.array(values.pick(*labels)) if is_array else values.pick(*labels))(self.random))

    def row(self, session, table):
        columns = self.columns(session, table[0])
        return "(" + ", ".join(self.value(session, table, c) for c in columns) + ")", columns

    def insert(self, session, table=None):
        table = table or self.table(session)
        rows = []
        for _ in range(self.random.choice([1, 1, 1, 2, 5])):
            row, columns = self.row(session, table)
            rows.append(row)
        names = ", ".join(c[0] for c in columns)
        if not names:
            return
        self.execute(session, f"INSERT INTO {table[1]} ({names}) VALUES " + ", ".join(rows) +
                     self.random.choice(["", " ON CONFLICT DO NOTHING"]), "insert")

    def upsert(self, session):
        table = self.random.choice([t for t in self.tables(session) if t[1] in ("app.narrow", "app.narrow_full", "app.nothing")] or [None])
        if table is None:
            return
        columns = self.columns(session, table[0])
        if [c[0] for c in columns[:2]] != ["id", "v"]:
            return
        self.execute(session, f"INSERT INTO {table[1]} (id, v) VALUES ({self.random.randint(1, 200)}, {values.quote(values.text(self.random))})"
                     " ON CONFLICT (id) DO UPDATE SET v = excluded.v", "upsert")

    def some_rows(self, table, most):
        return (f"(tableoid, ctid) IN (SELECT tableoid, ctid FROM {table[1]} OFFSET {self.random.randint(0, 8)}"
                f" LIMIT {self.random.randint(1, most)} FOR UPDATE SKIP LOCKED)")

    def update(self, session):
        table = self.table(session)
        columns = self.columns(session, table[0])
        if not columns:
            return
        chosen = self.random.sample(columns, min(len(columns), self.random.choice([1, 1, 2, 5])))
        keep_key = self.random.random() < 0.7
        chosen = [c for c in chosen if not (c[5] and keep_key)] or [c for c in columns if not c[5]][:1]
        if not chosen:
            return
        assignments = ", ".join(f"{c[0]} = {self.value(session, table, c)}" for c in chosen)
        self.execute(session, f"UPDATE {table[1]} SET {assignments} WHERE {self.some_rows(table, 3)}", "update")

    def delete(self, session):
        table = self.table(session)
        self.execute(session, f"DELETE FROM {table[1]} WHERE {self.some_rows(table, 4)}", "delete")

    def bulk(self, session):
        """Enough rows to be streamed, or spilled, where logical_decoding_work_mem is 64kB."""
        r = self.random
        rows = r.choice([60, 200, 600])
        low = r.randint(1, 5000)
        statement = r.choice([
            "INSERT INTO app.narrow (id, v) SELECT i, 'bulk ' || i FROM generate_series({low}, {high}) i ON CONFLICT DO NOTHING",
            "INSERT INTO app.narrow_full (id, v) SELECT i, repeat('é\"', i % 50) FROM generate_series({low}, {high}) i ON CONFLICT DO NOTHING",
            "INSERT INTO app.keyless SELECT i, md5(i::text) FROM generate_series({low}, {high}) i",
            "UPDATE app.narrow SET n = coalesce(n, 0) + 1 WHERE id BETWEEN {low} AND {high}",
            "UPDATE app.narrow_full SET v = v || '.' WHERE id BETWEEN {low} AND {high}",
            "UPDATE app.keyless SET a = a + 1 WHERE a BETWEEN {low} AND {high}",
            "DELETE FROM app.narrow WHERE id BETWEEN {low} AND {high}",
            "UPDATE app.toast SET small = small || 'x'",
            "UPDATE app.toast_full SET small = 'y'",
        ])
        self.execute(session, statement.format(low=low, high=low + rows), "bulk")

    def copy(self, session):
        """COPY writes many rows in one WAL record."""
        low = self.next() * 1000 + 100000
        rows = self.random.choice([3, 300])
        self.execute(session, f"COPY app.keyless FROM PROGRAM 'seq {low} {low + rows} | sed s/$/,copied/' (FORMAT csv)", "copy")

    def truncate(self, session):
        session.catalog = True
        names = sorted({self.table(session, "r")[1] for _ in range(self.random.randint(1, 3))})
        options = self.random.choice(["", " RESTART IDENTITY", " CASCADE", " RESTART IDENTITY CASCADE"])
        self.execute(session, "TRUNCATE " + ", ".join(names) + options, "truncate")

    def message(self, session):
        r = self.random
        transactional = r.choice(["true", "false"])
        prefix = values.quote(r.choice(["p", "prefix two", "it's", ""]))
        content = values.quote(values.text(r) if r.random() < 0.8 else values.big_text(r))
        self.execute(session, f"SELECT pg_logical_emit_message({transactional}, {prefix}, {content})", "message")

    # --- schema changes ---------------------------------------------------

    def ddl(self, session):
        session.catalog = True
        r = self.random
        table = self.table(session)
        name = table[1]
        columns = self.columns(session, table[0])
        plain = [c for c in columns if not c[5] and not table[3]]
        column = r.choice(plain) if plain else None
        number = self.next()
        known = [k for k, v in self.makers.items() if v is not None]
        session.cursor.execute("SELECT format_type(%s, %s)", r.choice(known))
        type_name = session.cursor.fetchone()[0]
        choices = [
            f"ALTER TABLE {name} ADD added_{number} {type_name}",
            f"ALTER TABLE {name} ADD added_{number} int DEFAULT {number}",
            f"ALTER TABLE {name} ADD added_{number} text DEFAULT 'it''s' || random()",
            f"ALTER TABLE {name} ADD \"added \"\"{number}\"\"\" text NOT NULL DEFAULT 'x'",
            f"CREATE TABLE app.made_{number} (id int PRIMARY KEY, v {type_name})",
            f"CREATE TABLE app.filled_{number} AS SELECT i AS id, 'row' AS v FROM generate_series(1, 20) i",
            "ALTER SCHEMA app RENAME TO app_moved; ALTER SCHEMA app_moved RENAME TO app",
            "ALTER TYPE app.mood RENAME TO mood_moved; ALTER TYPE app.mood_moved RENAME TO mood",
            "ALTER TYPE app.pair RENAME TO couple; ALTER TYPE app.couple RENAME TO pair",
            f"ALTER TYPE app.pair ADD ATTRIBUTE extra_{number} int CASCADE",
            f"ALTER TYPE app.mood ADD VALUE 'mood {number}'",
            f"DO $$ BEGIN EXECUTE format('ALTER TYPE app.mood RENAME VALUE %L TO %L',"
            f" (SELECT enumlabel FROM pg_enum WHERE enumtypid = 'app.mood'::regtype LIMIT 1), 'renamed {number}'); END $$",
            "REFRESH MATERIALIZED VIEW app.summary",
            f"CREATE INDEX ON {name} (({number}))",
            f"COMMENT ON TABLE {name} IS 'comment {number}'",
            f"ANALYZE {name}",
            "ALTER TABLE app.parts DETACH PARTITION app.parts_a",
            "ALTER TABLE app.parts ATTACH PARTITION app.parts_a FOR VALUES IN ('a')",
            "ALTER TABLE app.parts DETACH PARTITION app.parts_b",
            "ALTER TABLE app.parts ATTACH PARTITION app.parts_b FOR VALUES IN ('b')",
            "DROP TABLE IF EXISTS " + r.choice([t[1] for t in self.tables(session) if ".made_" in t[1] or ".filled_" in t[1]] or ["app.none"]),
        ]
        if table[2] == "r":
            choices += [f"ALTER TABLE {name} REPLICA IDENTITY {r.choice(['DEFAULT', 'FULL', 'NOTHING'])}"] * 3
            choices += [f"ALTER TABLE {name} SET {r.choice(['UNLOGGED', 'LOGGED', 'WITHOUT CLUSTER'])}"]
            choices += [f"ALTER TABLE {name} RENAME TO " + r.choice([f"renamed_{number}", f'"Renamed ""{number}"""'])]
        if column is not None:
            choices += [
                f"ALTER TABLE {name} DROP {column[0]}",
                f"ALTER TABLE {name} RENAME {column[0]} TO renamed_{number}",
                f"ALTER TABLE {name} ALTER {column[0]} SET DEFAULT NULL",
                f"ALTER TABLE {name} ALTER {column[0]} TYPE text USING {column[0]}::text",
                f"ALTER TABLE {name} ALTER {column[0]} TYPE {type_name} USING NULL",
                f"ALTER TABLE {name} ALTER {column[0]} SET NOT NULL",
            ]
        statement = r.choice(choices)
        if "shared_types" not in self.features and re.search("ADD ATTRIBUTE|RENAME VALUE", statement):
            self.settle()
        self.execute(session, statement, "ddl")

    def outside(self, session):
        """Statements that a transaction block does not take."""
        table = self.table(session, "r")
        concurrently = " CONCURRENTLY" if "concurrent_indexes" in self.features else ""
        self.execute(session, self.random.choice([
            f"VACUUM FULL {table[1]}", f"VACUUM (FREEZE) {table[1]}", "REFRESH MATERIALIZED VIEW CONCURRENTLY app.summary",
            f"CREATE INDEX{concurrently} IF NOT EXISTS concurrent_{self.next()} ON app.narrow (n)", "CHECKPOINT"]), "outside")
