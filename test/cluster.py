"""A throw-away server with the library of this tree, for the oracles."""

import os
import shutil
import signal
import subprocess
import tempfile
import time

import psycopg2
import psycopg2.extensions

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Cluster:
    """Runs from entering to leaving a with block; nothing of it stays."""

    def __init__(self, pg_config=None, library_dir=ROOT, settings=(), encoding="UTF8", keep_log=None):
        pg_config = pg_config or os.environ.get("PG_CONFIG", "pg_config")
        self.bindir = subprocess.check_output([pg_config, "--bindir"], text=True).strip()
        self.library_dir = library_dir
        self.settings = list(settings)
        self.encoding = encoding
        self.keep_log = keep_log
        # short: the path of a socket has 107 bytes at most
        self.dir = tempfile.mkdtemp(prefix="cpo-", dir="/tmp")
        self.data = os.path.join(self.dir, "data")
        self.log = os.path.join(self.dir, "log")

    def program(self, name):
        return os.path.join(self.bindir, name)

    def __enter__(self):
        try:
            subprocess.run(
                [self.program("initdb"), "-D", self.data, "-U", "postgres", "--auth=trust",
                 "--no-sync", "--no-instructions", "-E", self.encoding, "--locale=C"],
                check=True, stdout=subprocess.DEVNULL)
            lines = subprocess.check_output(
                [os.path.join(ROOT, "tools", "server-settings.sh"), self.bindir, self.library_dir],
                text=True)
            with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as conf:
                conf.write(lines)
                conf.write("listen_addresses = ''\n")
                conf.write(f"unix_socket_directories = '{self.dir}'\n")
                conf.writelines(line + "\n" for line in self.settings)
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc):
        if os.path.exists(os.path.join(self.data, "postmaster.pid")):
            self.stop("immediate")
        if self.keep_log and os.path.exists(self.log):
            os.makedirs(os.path.dirname(self.keep_log), exist_ok=True)
            shutil.copy(self.log, self.keep_log)
        shutil.rmtree(self.dir, ignore_errors=True)

    def start(self):
        done = subprocess.run(
            [self.program("pg_ctl"), "-D", self.data, "-l", self.log, "-w", "-s", "start"],
            check=False)
        if done.returncode != 0:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                raise RuntimeError("the server did not start:\n" + log.read())

    def stop(self, mode="fast"):
        subprocess.run(
            [self.program("pg_ctl"), "-D", self.data, "-w", "-s", "-m", mode, "stop"], check=True)

    def wait(self):
        """Until the server is back after a crash.

        Its postmaster may take connections for a moment before it notices, so
        several in a row have to succeed.
        """
        successes = 0
        for _ in range(600):
            try:
                psycopg2.connect(self.dsn()).close()
                successes += 1
            except psycopg2.OperationalError:
                successes = 0
            if successes == 10:
                return
            time.sleep(0.1)
        raise RuntimeError("the server did not come back")

    def kill(self):
        """As if the power went: every process of the server gets SIGKILL."""
        with open(os.path.join(self.data, "postmaster.pid"), encoding="ascii") as file:
            pid = int(file.readline())
        with psycopg2.connect(self.dsn()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT pid FROM pg_stat_activity")
            pids = [row[0] for row in cursor.fetchall()]
        for victim in [pid] + pids:
            try:
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def dsn(self, database="postgres"):
        return f"host={self.dir} user=postgres dbname={database}"

    def connect(self, database="postgres", **settings):
        """A connection in autocommit mode with these settings."""
        connection = psycopg2.connect(self.dsn(database))
        connection.autocommit = True
        with connection.cursor() as cursor:
            for name, value in settings.items():
                cursor.execute(f"SET {name} = %s", (value,))
        return connection

    def server_version(self):
        connection = self.connect()
        try:
            return connection.server_version
        finally:
            connection.close()
