"""One measurement each: over pg_recvlogical, over SQL, after COMMIT, in instructions."""
import os
import re
import subprocess
import time
from dataclasses import dataclass

import callgrind
import cluster as server
import workload as workloads


@dataclass
class Run:
    seconds: float
    cpu: float = 0          # seconds of the walsender's processor time
    bytes: int = 0          # of all messages; counted over SQL and after COMMIT only
    peak_memory: int = 0    # bytes, VmHWM of the walsender, shared buffers that it touched included


class Failed(Exception):
    """A contender could not do it."""


def reason(failure):
    """The server's message without what is around it."""
    lines = str(failure).splitlines() or ['no message']
    return next((line.split('ERROR:')[1].strip() for line in lines if 'ERROR:' in line), lines[-1])


def _peak_memory(pid):
    try:
        with open(f'/proc/{pid}/status', encoding='ascii') as file:
            return int(re.search(r'VmHWM:\s+(\d+)', file.read()).group(1)) * 1024
    except (OSError, AttributeError):
        return 0


def _cpu_time(pid):
    try:
        with open(f'/proc/{pid}/schedstat', encoding='ascii') as file:
            return int(file.read().split()[0]) / 1e9
    except OSError:
        return 0


def _written(pid):
    """What a process has written to files; sockets are not counted in."""
    with open(f'/proc/{pid}/io', encoding='ascii') as file:
        return int(re.search(r'wchar: (\d+)', file.read()).group(1))


def _client(cluster, slot, options, *arguments):
    command = [cluster.program('pg_recvlogical'), '-d', server.DATABASE, '-S', slot, '--start',
               '--no-loop', '-f', '/dev/null', *arguments]
    for name, value in options.items():
        command += ['-o', f'{name}={value}']
    return subprocess.Popen(command, env=cluster.environment, stderr=subprocess.PIPE, text=True)


def receive(record, contender):
    """From the start of pg_recvlogical to its end."""
    with record.slot_for(contender.plugin) as slot:
        start = time.monotonic()
        client = _client(record.cluster, slot, contender.options, '--endpos', record.end)
        walsender, cpu, peak = None, 0, 0
        while os.waitid(os.P_PID, client.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            walsender = walsender or record.cluster.walsender()
            if walsender:
                cpu, peak = max(cpu, _cpu_time(walsender)), max(peak, _peak_memory(walsender))
            time.sleep(0.005)
        seconds = time.monotonic() - start
        _, messages = client.communicate()
        _wait_until_free(record.cluster, slot)
        if client.returncode != 0:
            raise Failed(messages.strip())
    return Run(seconds, cpu, peak_memory=peak)


def _wait_until_free(cluster, slot):
    while cluster.sql('SELECT active FROM pg_replication_slots '
                      f"WHERE slot_name = '{slot}'") == 't':
        time.sleep(0.02)


def peek_query(slot, options):
    listed = ''.join(f", '{name}', '{value}'" for name, value in options.items())
    return ('SELECT count(*), coalesce(sum(length(data)), 0) '
            f"FROM pg_logical_slot_peek_binary_changes('{slot}', NULL, NULL{listed})")


def peek(record, contender):
    """The SQL function, in a session that is there already."""
    with record.slot_for(contender.plugin) as slot:
        try:
            output = record.cluster.psql('-At', script='\\timing on\n' + peek_query(
                slot, contender.options) + ';\n')
        except RuntimeError as failure:
            raise Failed(str(failure)) from None
    total, timing = output.splitlines()[-2:]
    return Run(float(re.search(r'([\d.]+) ms', timing).group(1)) / 1000,
               bytes=int(total.split('|')[1]))


def after_commit(cluster, load, rows, contender):
    """From COMMIT to the last byte at pg_recvlogical, attached all along.

    COMMIT comes when the walsender has read all that was there before it.
    """
    load.prepare(cluster, rows)
    slot = 'bench_run'
    cluster.sql(f"SELECT pg_create_logical_replication_slot('{slot}', '{contender.plugin}')")
    client = _client(cluster, slot, contender.options)
    try:
        with subprocess.Popen([cluster.program('psql'), '-qXAt', '-v', 'ON_ERROR_STOP=1',
                               '-v', f'rows={rows}'], env=cluster.environment, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1) as session:
            print('BEGIN;', load.changes, "\\echo 'done'", sep='\n', file=session.stdin, flush=True)
            session.stdout.readline()
            # only what is flushed is decoded, and another COMMIT flushes it
            cluster.sql('CREATE TABLE bench.flushed ()')
            position = cluster.sql('SELECT pg_current_wal_flush_lsn()')
            _wait_until_sent(cluster, slot, position, client)
            walsender = cluster.walsender()
            cpu, written = _cpu_time(walsender), _written(client.pid)
            start = time.monotonic()
            print('COMMIT;', "\\echo 'done'", sep='\n', file=session.stdin, flush=True)
            session.stdout.readline()
            position = cluster.sql('SELECT pg_current_wal_flush_lsn()')
            last = _last_byte(cluster, slot, position, client)
            run = Run(last - start, _cpu_time(walsender) - cpu, _written(client.pid) - written,
                      _peak_memory(walsender))
            session.stdin.close()
    finally:
        client.terminate()
        _, messages = client.communicate()
        _wait_until_free(cluster, slot)
        cluster.sql(f"SELECT pg_drop_replication_slot('{slot}')")
    return run


def _sent(cluster, slot, position):
    # a LEFT JOIN, because without a walsender there is nothing to wait for
    return cluster.sql(f"""SELECT coalesce(sent_lsn >= '{position}', true)
        FROM pg_replication_slots LEFT JOIN pg_stat_replication ON pid = active_pid
        WHERE slot_name = '{slot}'""") == 't'


def _check_alive(client):
    if client.poll() is not None:
        raise Failed(client.stderr.read().strip())


def _wait_until_sent(cluster, slot, position, client):
    while not _sent(cluster, slot, position):
        _check_alive(client)
        time.sleep(0.05)


def _last_byte(cluster, slot, position, client):
    """When the client wrote for the last time, to 2 ms."""
    written, last, asked = 0, time.monotonic(), time.monotonic()
    while True:
        _check_alive(client)
        now = time.monotonic()
        total = _written(client.pid)
        if total != written:
            written, last = total, now
        elif now - last > 0.3 and now - asked > 0.3:
            if _sent(cluster, slot, position):
                return last
            asked = now
        time.sleep(0.002)


def instructions(cluster, load, rows, contenders, directory):
    """Instructions of decoding over the SQL function, counted by callgrind.

    A server in single-user mode decodes, so that nothing else is counted.
    Returns {name: profile.self_costs() or None}.
    """
    profiles = {}
    with workloads.recording(cluster, load, rows) as record:
        for contender in contenders:
            cluster.sql(f"SELECT pg_copy_logical_replication_slot('{record.slot}', 'bench_run', "
                        f"false, '{contender.plugin}')")
            cluster.stop()
            path = os.path.join(directory, re.sub(r'\W+', '-', contender.name) + '.callgrind')
            command = [
                'valgrind', '--tool=callgrind', '--callgrind-out-file=' + path,
                '--toggle-collect=pg_logical_slot_peek_binary_changes',
                cluster.program('postgres'), '--single', '-D', cluster.data,
                server.DATABASE]
            done = subprocess.run(command, input=peek_query('bench_run', contender.options) + '\n',
                                  text=True, capture_output=True, check=False)
            cluster.start()
            cluster.sql("SELECT pg_drop_replication_slot('bench_run')")
            failed = done.returncode != 0 or 'ERROR' in done.stderr
            profiles[contender.name] = None if failed else callgrind.self_costs(path)
    return profiles


def scaled_memory(share):
    """The default limit of 64 MB, for that share of the rows, in kB."""
    return min(65536, max(64, int(65536 * share)))
