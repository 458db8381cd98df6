"""Who is compared with whom."""
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Contender:
    name: str
    plugin: str
    options: dict = field(default_factory=dict, compare=False)
    ours: bool = False
    # options that make it leave out every change; None: it cannot
    nothing_left: dict = field(default=None, compare=False)

    def with_options(self, extra):
        return replace(self, options={**self.options, **extra})


def _ours(name, options, nothing_left=None):
    return Contender(name, 'cpp_output', options, True,
                     nothing_left or {'exclude-tables': '*.*'})


_PUBLICATION = {'proto_version': '1', 'publication_names': 'bench_all'}
_NO_TABLES = {'publication_names': 'bench_none'}
_W2J_NONE = {'filter-tables': '*.*'}

NOTHING = Contender('nothing', 'bench_nothing', {}, False, {})
NOTHING_STREAM = Contender('nothing, streaming', 'bench_nothing', {'stream': 'on'}, False, {})
NOTHING_WRITE = Contender('nothing, 1 byte a row', 'bench_nothing', {'write': 'on'})

JSON = _ours('json, off', {'streaming': 'off'})
JSON_REORDER = _ours('json, reorder (its default)', {'streaming': 'reorder'})
OUR_TEST_DECODING_REORDER = _ours('our test_decoding, reorder',
                                  {'format': 'test_decoding', 'streaming': 'reorder'})
OUR_WAL2JSON_1_REORDER = _ours('our wal2json v1, reorder',
                               {'format': 'wal2json', 'format-version': '1', 'streaming': 'reorder'},
                               _W2J_NONE)
OUR_WAL2JSON_2_REORDER = _ours('our wal2json v2, reorder',
                               {'format': 'wal2json', 'format-version': '2', 'streaming': 'reorder'},
                               _W2J_NONE)
OUR_TEST_DECODING = _ours('our test_decoding', {'format': 'test_decoding'})
OUR_WAL2JSON_1 = _ours('our wal2json v1', {'format': 'wal2json', 'format-version': '1'}, _W2J_NONE)
OUR_WAL2JSON_2 = _ours('our wal2json v2', {'format': 'wal2json', 'format-version': '2'}, _W2J_NONE)
OUR_PGOUTPUT = _ours('our pgoutput', {'format': 'pgoutput', **_PUBLICATION}, _NO_TABLES)
OUR_PGOUTPUT_BINARY = _ours('our pgoutput, binary',
                            {'format': 'pgoutput', 'binary': 'on', **_PUBLICATION}, _NO_TABLES)

TEST_DECODING = Contender('test_decoding', 'test_decoding')
WAL2JSON_1 = Contender('wal2json v1', 'wal2json', {'format-version': '1'}, False, _W2J_NONE)
WAL2JSON_2 = Contender('wal2json v2', 'wal2json', {'format-version': '2'}, False, _W2J_NONE)
DECODERBUFS = Contender('decoderbufs', 'decoderbufs')
PGOUTPUT = Contender('pgoutput', 'pgoutput', _PUBLICATION, False, _NO_TABLES)
PGOUTPUT_BINARY = Contender('pgoutput, binary', 'pgoutput', {**_PUBLICATION, 'binary': 'on'},
                            False, _NO_TABLES)

# in turn, so that both sides of a pair meet the same noise
ALL = [JSON, WAL2JSON_2, OUR_WAL2JSON_2, JSON_REORDER, OUR_WAL2JSON_2_REORDER, NOTHING,
       NOTHING_STREAM, NOTHING_WRITE, OUR_WAL2JSON_1, WAL2JSON_1, OUR_WAL2JSON_1_REORDER,
       OUR_TEST_DECODING, TEST_DECODING, OUR_TEST_DECODING_REORDER, OUR_PGOUTPUT, PGOUTPUT,
       OUR_PGOUTPUT_BINARY, PGOUTPUT_BINARY, DECODERBUFS]

# what streams only where asked for says something where transactions are large
LARGE_ONLY = {OUR_WAL2JSON_2_REORDER, OUR_WAL2JSON_1_REORDER, OUR_TEST_DECODING_REORDER}
LARGE = ['large', 'interleaved']

PAIRS = [(JSON, WAL2JSON_2), (JSON, DECODERBUFS), (JSON, NOTHING), (JSON_REORDER, WAL2JSON_2),
         (JSON_REORDER, NOTHING), (JSON_REORDER, NOTHING_STREAM), (OUR_WAL2JSON_2, WAL2JSON_2),
         (OUR_WAL2JSON_2_REORDER, WAL2JSON_2),
         (OUR_WAL2JSON_1, WAL2JSON_1), (OUR_WAL2JSON_1_REORDER, WAL2JSON_1),
         (OUR_TEST_DECODING, TEST_DECODING), (OUR_TEST_DECODING_REORDER, TEST_DECODING),
         (OUR_PGOUTPUT, PGOUTPUT), (OUR_PGOUTPUT_BINARY, PGOUTPUT_BINARY)]


@dataclass(frozen=True)
class Goal:
    """A ratio of medians, ours / theirs, that must and that should be reached."""
    workload: str
    ours: Contender
    theirs: Contender
    most: float
    wanted: float


GOALS = [
    Goal('large', JSON_REORDER, WAL2JSON_2, 0.30, 0.20),
    Goal('large', JSON, WAL2JSON_2, 0.30, 0.20),
    Goal('large', OUR_WAL2JSON_2_REORDER, WAL2JSON_2, 0.33, 0.25),
    Goal('large', OUR_WAL2JSON_2, WAL2JSON_2, 0.33, 0.25),
    Goal('large', OUR_WAL2JSON_1_REORDER, WAL2JSON_1, 0.40, 0.25),
    Goal('large', OUR_WAL2JSON_1, WAL2JSON_1, 0.40, 0.25),
    Goal('large', OUR_TEST_DECODING_REORDER, TEST_DECODING, 0.40, 0.28),
    Goal('large', OUR_TEST_DECODING, TEST_DECODING, 0.40, 0.28),
    Goal('large', OUR_PGOUTPUT, PGOUTPUT, 0.65, 0.50),
    Goal('large', OUR_PGOUTPUT_BINARY, PGOUTPUT_BINARY, 0.65, 0.50),
    Goal('large', JSON_REORDER, NOTHING, 1.40, 1.0),
    Goal('small', JSON_REORDER, WAL2JSON_2, 0.60, 0.50),
    Goal('small', JSON, WAL2JSON_2, 0.60, 0.50),
    Goal('small', OUR_PGOUTPUT, PGOUTPUT, 0.80, 0.70),
    Goal('commit', JSON_REORDER, WAL2JSON_2, 0.12, 0.08),
]


def headline():
    """Those that the goals speak of."""
    spoken_of = {one.name for goal in GOALS for one in (goal.ours, goal.theirs)}
    return [one for one in ALL if one.name in spoken_of]
