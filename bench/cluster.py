"""A throw-away server for benchmarks, and what is asked of it."""
import os
import shutil
import subprocess
import tempfile

DATABASE = 'postgres'


class Cluster:
    """A running server in a directory of its own. Use as a context manager.

    libraries are copied, so a build that goes on meanwhile does not disturb.
    """

    def __init__(self, pg_config, root, libraries):
        self.bin = subprocess.check_output([pg_config, '--bindir'], text=True).strip()
        self.directory = tempfile.mkdtemp(prefix='cpp_output-bench.', dir='/tmp')
        self.data = os.path.join(self.directory, 'data')
        self.environment = dict(os.environ, PGHOST=self.directory, PGUSER='postgres',
                                PGDATABASE=DATABASE, PGCLIENTENCODING='UTF8')
        self.running = False
        try:
            self._initialize(root, libraries)
            self.start()
        except BaseException:
            shutil.rmtree(self.directory)
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.running:
            self._pg_ctl('stop', '-m', 'immediate')
        shutil.rmtree(self.directory)

    def program(self, name):
        return os.path.join(self.bin, name)

    def start(self, **settings):
        options = ' '.join(f'-c {name}={value}' for name, value in settings.items())
        self._pg_ctl('start', '-w', '-l', os.path.join(self.directory, 'log'), '-o', options)
        self.running = True

    def stop(self):
        self._pg_ctl('stop', '-m', 'fast')
        self.running = False

    def sql(self, statement):
        """Runs one statement; returns its result as text."""
        return self.psql('-At', '-c', statement).strip()

    def psql(self, *arguments, script=None):
        command = [self.program('psql'), '-qX', '-v', 'ON_ERROR_STOP=1', *arguments]
        done = subprocess.run(command, env=self.environment, input=script, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout

    def walsender(self):
        """The pid of a walsender, or None."""
        with open(os.path.join(self.data, 'postmaster.pid'), encoding='ascii') as file:
            postmaster = file.readline().strip()
        with open(f'/proc/{postmaster}/task/{postmaster}/children', encoding='ascii') as file:
            children = file.read().split()
        for pid in children:
            try:
                with open(f'/proc/{pid}/cmdline', encoding='utf-8') as file:
                    if 'walsender' in file.read():
                        return pid
            except OSError:
                pass
        return None

    def _initialize(self, root, libraries):
        subprocess.run([self.program('initdb'), '-D', self.data, '-U', 'postgres', '--auth=trust',
                        '--no-sync', '-E', 'UTF8', '--locale=C'],
                       stdout=subprocess.DEVNULL, check=True)
        loaded = os.path.join(self.directory, 'lib')
        os.mkdir(loaded)
        for library in libraries:
            shutil.copy(library, loaded)
        settings = subprocess.check_output(
            [os.path.join(root, 'tools/server-settings.sh'), self.bin, loaded], text=True)
        # the floor's plugin has to be allowed too, where the server asks
        settings = ''.join(
            line.rstrip().rstrip("'") + ", bench_nothing'\n"
            if line.startswith('output_plugin_libraries') else line
            for line in settings.splitlines(keepends=True))
        settings += f"""
listen_addresses = ''
unix_socket_directories = '{self.directory}'
shared_buffers = 256MB
max_wal_size = 100GB
checkpoint_timeout = 1h
wal_sender_timeout = 0
autovacuum = off
work_mem = 64MB
max_locks_per_transaction = 1000
"""
        with open(os.path.join(self.data, 'postgresql.conf'), 'a', encoding='utf-8') as file:
            file.write(settings)

    def _pg_ctl(self, *arguments):
        done = subprocess.run([self.program('pg_ctl'), '-D', self.data, *arguments], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise RuntimeError(done.stdout)
