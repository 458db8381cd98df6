"""From measurements to tables, ratios and pictures."""
import os
import platform
import re
import statistics
import subprocess
from collections import defaultdict
from dataclasses import dataclass

import chart
import contender as who

WAYS = {'recvlogical': 'pg_recvlogical', 'sql': 'SQL function'}
FLOORS = (who.NOTHING, who.NOTHING_STREAM, who.NOTHING_WRITE)


class Measurements:
    """All runs of one workload."""

    def __init__(self, title, rows):
        self.title = title
        self.rows = rows
        self.runs = defaultdict(lambda: defaultdict(list))  # way -> contender's name -> runs
        self.failures = {}

    def add(self, way, name, run):
        self.runs[way][name].append(run)

    def names(self):
        return list(self.runs['recvlogical'])

    def seconds(self, way, name):
        """The median, or None."""
        runs = self.runs[way].get(name)
        return statistics.median(run.seconds for run in runs) if runs else None

    def spread(self, way, name):
        """(slowest - fastest) / median"""
        times = [run.seconds for run in self.runs[way][name]]
        return (max(times) - min(times)) / statistics.median(times)

    def cpu(self, name):
        """The median of the walsender's processor time, or None."""
        runs = self.runs['recvlogical'].get(name)
        return statistics.median(run.cpu for run in runs) if runs else None

    def most(self, attribute, name):
        return max((getattr(run, attribute) for runs in self.runs.values()
                    for run in runs.get(name, [])), default=0)

    def cpu_ratio(self, ours, theirs):
        ours, theirs = self.cpu(ours.name), self.cpu(theirs.name)
        return ours / theirs if ours and theirs else None

    def ratio(self, ours, theirs, way='recvlogical'):
        ours, theirs = self.seconds(way, ours.name), self.seconds(way, theirs.name)
        return ours / theirs if ours and theirs else None


@dataclass
class Instructions:
    """What callgrind counted: {name: callgrind's profile or None}"""
    title: str
    rows: int
    profiles: dict

    def a_row(self, name):
        return sum(self.profiles[name].values()) / self.rows


def table(heads, rows):
    """Markdown, aligned so that it reads well as text too."""
    rows = [[str(cell) for cell in row] for row in [heads] + rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    lines = ['| ' + ' | '.join(cell.ljust(width) if i == 0 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))) + ' |'
             for row in rows]
    ruler = '| ' + ' | '.join('-' * width if i == 0 else '-' * (width - 1) + ':'
                              for i, width in enumerate(widths)) + ' |'
    return '\n'.join([lines[0], ruler] + lines[1:])


def shown(value, form='{:.2f}'):
    return '-' if value is None else form.format(value)


def megabytes(count):
    return f'{count / 1e6:.1f}' if count else '-'


class Results:
    def __init__(self, pg_config, arguments):
        self.pg_config = pg_config
        self.arguments = arguments
        self.workloads = {}
        self.growth = {}
        self.instructions = None
        self.missing = {}

    # --- tables ---------------------------------------------------------------

    def goals(self):
        rows = []
        for goal in who.GOALS:
            if goal.workload not in self.workloads:
                continue
            measurements = self.workloads[goal.workload]
            ratio = measurements.ratio(goal.ours, goal.theirs)
            floor = measurements.ratio(who.NOTHING, goal.theirs)
            if ratio is None:
                continue    # the notes say why
            verdict = ('goal' if ratio <= goal.wanted else
                       'within' if ratio <= goal.most else
                       'floor' if floor is not None and floor > goal.most else 'MISSED')
            rows.append([goal.workload, goal.ours.name, goal.theirs.name, shown(ratio),
                         shown(measurements.cpu_ratio(goal.ours, goal.theirs)),
                         f'{goal.most:.2f}', f'{goal.wanted:.2f}', verdict, shown(floor)])
        return table(['workload', 'ours', 'against', 'ratio', 'CPU',
                      'at most', 'goal', '', 'nothing'], rows)

    def runs(self, measurements):
        ways = [way for way in WAYS if measurements.runs[way]]
        heads = ['plugin'] + [column for way in ways for column in (WAYS[way] + ', s', 'spread')]
        rows = []
        for name in measurements.names():
            row = [name]
            for way in ways:
                seconds = measurements.seconds(way, name)
                row += [shown(seconds), '-' if seconds is None else
                        f'{measurements.spread(way, name):.0%}']
            rows.append(row + [shown(measurements.cpu(name)),
                               megabytes(measurements.most('bytes', name)),
                               megabytes(measurements.most('peak_memory', name))])
        return table(heads + ['CPU, s', 'MB out', 'peak memory, MB'], rows)

    def ratios(self, measurements):
        ways = [way for way in WAYS if measurements.runs[way]]
        rows = []
        for ours, theirs in who.PAIRS:
            found = [measurements.ratio(ours, theirs, way) for way in ways]
            if not any(found):
                continue
            rows.append([ours.name, theirs.name] + [shown(ratio) for ratio in found])
            rows[-1].append(shown(measurements.cpu_ratio(ours, theirs)))
            for attribute in ('bytes', 'peak_memory'):
                mine, yours = (measurements.most(attribute, one.name) for one in (ours, theirs))
                rows[-1].append(shown(mine / yours if mine and yours else None))
        return table(['ours', 'against'] + [WAYS[way] for way in ways] + ['CPU', 'bytes', 'memory'], rows)

    def growth_table(self):
        sizes = list(self.growth)
        rows = []
        for name in self.growth[sizes[0]].names():
            times = [self.growth[size].seconds('recvlogical', name) for size in sizes]
            a_row = [time / size if time else None for time, size in zip(times, sizes)]
            rows.append([name] + [shown(time / a_row[0] if time and a_row[0] else None)
                                  for time in a_row])
        return table(['plugin'] + [f'{size} rows' for size in sizes], rows)

    def instruction_table(self):
        counted = self.instructions
        floor = counted.a_row(who.NOTHING.name)
        rows = []
        for name, profile in counted.profiles.items():
            if profile:
                rows.append([name, f'{counted.a_row(name):.0f}', f'{counted.a_row(name) - floor:.0f}',
                             f'{counted.a_row(name) / floor:.2f}'])
        return table(['plugin', 'instructions a row', 'above nothing', 'ratio'], rows)

    def profile_table(self, one, floor, count=15):
        counted = self.instructions
        costs, ground = counted.profiles[one.name], counted.profiles[floor.name]
        more = sorted(((costs[key] - ground.get(key, 0), key) for key in costs), reverse=True)
        return table(['function', 'of', 'instructions a row above nothing'],
                     [[function, library, f'{instructions / counted.rows:.0f}']
                      for instructions, (library, function) in more[:count]])

    # --- the page ---------------------------------------------------------------

    def machine(self):
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            model = re.search(r'model name\s*: (.*)', file.read())
        with open('/proc/meminfo', encoding='ascii') as file:
            memory = int(re.search(r'MemTotal:\s+(\d+)', file.read()).group(1)) // 1024 ** 2
        version = subprocess.check_output([self.pg_config, '--version'], text=True).strip()
        major = re.search(r'\d+', version).group()
        lines = [f'- {model.group(1) if model else platform.machine()}, {os.cpu_count()} cores, '
                 f'{memory} GB; Linux {platform.release().split("-")[0]}', f'- {version}']
        for package in ('wal2json', 'decoderbufs'):
            found = subprocess.run(['dpkg-query', '-W', '-f', '${Version}',
                                    f'postgresql-{major}-{package}'],
                                   capture_output=True, text=True, check=False)
            if found.returncode == 0:
                lines.append(f'- {package} {found.stdout} (Debian)')
        return '\n'.join(lines)

    def notes(self):
        lines = [f'- {name}: left out, {reason}' for name, reason in self.missing.items()]
        for part, measurements in self.workloads.items():
            lines += [f'- {name} in {part}: {reason}'
                      for name, reason in measurements.failures.items()]
        return '\n'.join(lines)

    def text(self, pictures=None):
        parts = ['# Benchmarks', INTRODUCTION.format(
            turns=self.arguments.turns, scale=self.scale()), self.machine()]
        if self.noise():
            parts.append(self.noise())
        goals = self.goals()
        if goals.count('\n') > 1:
            parts += ['## Against the goals', GOALS_EXPLAINED, goals]
        if self.notes():
            parts += ['Not everything could be measured:', self.notes()]
        if pictures:
            parts += [f'![{title}]({path})' for title, path in pictures]
        for part, measurements in self.workloads.items():
            if measurements.names():
                parts += [f'## {part}', f'{measurements.title}; {measurements.rows} rows.',
                          self.ratios(measurements), self.runs(measurements)]
        if self.growth:
            parts += ['## growth', GROWTH_EXPLAINED, self.growth_table()]
        if self.instructions:
            parts += ['## instructions', INSTRUCTIONS_EXPLAINED.format(rows=self.instructions.rows),
                      self.instruction_table()]
            for one, floor in ((who.JSON, who.NOTHING), (who.JSON_REORDER, who.NOTHING_STREAM)):
                if all(self.instructions.profiles.get(each.name) for each in (one, floor)):
                    parts += [f'Where those of {one.name} go, against {floor.name}:',
                              self.profile_table(one, floor)]
        return '\n\n'.join(parts) + '\n'

    def noise(self):
        """A warning, if the runs of one and the same differ much."""
        spreads = [measurements.spread('recvlogical', name)
                   for measurements in self.workloads.values() for name in measurements.names()]
        if spreads and statistics.median(spreads) > 0.25:
            return DISTURBED.format(spread=statistics.median(spreads))
        return ''

    def scale(self):
        if self.arguments.quick:
            return ', --quick: at a fraction of the full size, memory limits scaled with it'
        if self.arguments.scale != 1:
            return f' at {self.arguments.scale} of the full size, memory limits scaled with it'
        return ''

    # --- pictures ---------------------------------------------------------------

    def pictures(self):
        """[(title, name, SVG)]"""
        found = []
        for part, title in (('large', 'One large transaction'), ('small', 'Small transactions'),
                            ('commit', 'From COMMIT to the last byte')):
            measurements = self.workloads.get(part)
            unit = measurements and measurements.seconds('recvlogical', who.WAL2JSON_2.name)
            if unit:
                rows = [(name, measurements.seconds('recvlogical', name) / unit, kind(name))
                        for name in measurements.names()]
                rows.sort(key=lambda row: row[1])
                found.append((title, part, chart.bars(
                    title, 'time over pg_recvlogical, wal2json v2 = 1; less is better', rows)))
        if self.growth:
            rows = []
            sizes = list(self.growth)
            for name in self.growth[sizes[0]].names():
                first = self.growth[sizes[0]].seconds('recvlogical', name)
                for size in sizes:
                    seconds = self.growth[size].seconds('recvlogical', name)
                    if first and seconds:
                        rows.append((f'{name}, {size // sizes[0]}x',
                                     seconds / size / (first / sizes[0]), kind(name)))
            found.append(('Time per row', 'growth', chart.bars(
                'Time per row as a transaction grows', 'that of 1x = 1; flat is right', rows)))
        return found

    def write(self, directory):
        folder = os.path.join(directory, 'benchmarks')
        os.makedirs(folder, exist_ok=True)
        pictures = []
        for title, name, svg in self.pictures():
            with open(os.path.join(folder, name + '.svg'), 'w', encoding='utf-8') as file:
                file.write(svg)
            pictures.append((title, f'benchmarks/{name}.svg'))
        with open(os.path.join(directory, 'benchmarks.md'), 'w', encoding='utf-8') as file:
            file.write(self.text(pictures))


def kind(name):
    if any(name == one.name for one in FLOORS):
        return 'floor'
    return 'ours' if any(name == one.name for one in who.ALL if one.ours) else 'peer'


INTRODUCTION = """\
Written by `./dev bench`{scale}.

All plugins decode the same WAL from the same position and take turns, {turns} of
them; a number is the median, spread is from the fastest to the slowest run.
**Only ratios within one run mean anything**: seconds are this machine's on
that day. A ratio is our time by theirs; less is better. "nothing" is a plugin
that does nothing: what the server takes anyway.

The server: fsync off, shared_buffers 256 MB, all else about memory at its
default. pg_recvlogical writes to /dev/null. CPU is the walsender's processor
time: other load on the machine disturbs it less than it does the time that
passes. Peak memory is the walsender's VmHWM, with the shared buffers that it
touched."""

DISTURBED = """\
**The machine was busy with other work during this run**: half of the spreads are
above {spread:.0%}. Ratios of processor time are worth more here than those of time."""

GOALS_EXPLAINED = """\
Over pg_recvlogical. "within": at most what it must be; "goal": what it should
be. CPU is the ratio of processor time. The last column is the ratio of the
plugin that does nothing and does not stream: below it is only what streams.
"floor": more than it must be, but the one that does nothing is, too."""
GROWTH_EXPLAINED = """\
Time per row of one large transaction over pg_recvlogical, that of the smallest
size = 1. The memory limits are the same for all sizes, and so low that all of
them spill."""
INSTRUCTIONS_EXPLAINED = """\
Counted by callgrind in a server in single-user mode that decodes {rows} rows of
`large` over the SQL function, memory limits scaled with the rows. An address in
place of a name is a function that the server does not export."""
