"""Workloads: the files of bench/workloads.

A file starts with its title and its sizes, and has two parts: what is there
before, and, below the line "-- changes", what is decoded.
"""
import contextlib
import os
import re
import threading

DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'workloads')


class Workload:
    def __init__(self, name):
        self.name = name
        with open(os.path.join(DIRECTORY, name + '.sql'), encoding='utf-8') as file:
            text = file.read()
        self.title = text.splitlines()[0][3:]
        numbers = {key: int(value) for key, value in re.findall(r'^-- (\w+): (\d+)$', text, re.M)}
        self.full_rows = numbers['rows']
        self.quick_rows = numbers.get('quick', self.full_rows // 10)
        self.clients = numbers.get('clients', 1)
        self.before, self.changes = text.split('-- changes\n')

    def rows(self, arguments):
        return int((self.quick_rows if arguments.quick else self.full_rows) * arguments.scale)

    def prepare(self, cluster, rows):
        cluster.sql('DROP SCHEMA IF EXISTS bench CASCADE')
        cluster.sql('CREATE SCHEMA bench')
        cluster.sql(f'ALTER DATABASE {cluster.sql("SELECT current_database()")} '
                    'SET search_path = bench')
        cluster.psql('-v', f'rows={rows}', script=self.before)

    def run(self, cluster, rows):
        failures = []

        def client(number):
            try:
                cluster.psql('-v', f'rows={rows}', '-v', f'client={number}', script=self.changes)
            except RuntimeError as failure:
                failures.append(failure)

        threads = [threading.Thread(target=client, args=(i,)) for i in range(self.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]


class Recording:
    """Changes in the WAL, to be decoded from one position as often as wanted."""

    def __init__(self, cluster, slot, end):
        self.cluster = cluster
        self.slot = slot
        self.end = end

    @contextlib.contextmanager
    def slot_for(self, plugin):
        """A slot of another plugin at the start of the recording."""
        name = 'bench_run'
        self.cluster.sql('SELECT pg_copy_logical_replication_slot('
                         f"'{self.slot}', '{name}', false, '{plugin}')")
        try:
            yield name
        finally:
            self.cluster.sql(f"SELECT pg_drop_replication_slot('{name}')")


@contextlib.contextmanager
def recording(cluster, workload, rows):
    slot = 'bench_base'
    workload.prepare(cluster, rows)
    # the position to start from is one without running transactions
    cluster.sql(f"SELECT pg_create_logical_replication_slot('{slot}', 'test_decoding')")
    try:
        workload.run(cluster, rows)
        yield Recording(cluster, slot, cluster.sql('SELECT pg_current_wal_flush_lsn()'))
    finally:
        cluster.sql(f"SELECT pg_drop_replication_slot('{slot}')")
