"""What the differential compares: for each peer, the options to run it with."""

from dataclasses import dataclass, field


@dataclass
class OptionSet:
    """One comparison: a peer's options, and ours that must give the same bytes."""
    name: str
    peer: str                       # the peer's plugin, or cpp_output itself
    options: dict                   # for the peer and, unless ours says otherwise, for us
    ours: dict = field(default_factory=dict)    # only for us, beside format
    two_phase: bool = False         # on slots with two-phase commit
    streamed: bool = False          # transactions in progress are shown
    binary: bool = False            # read with pg_logical_slot_peek_binary_changes
    fails: bool = False             # both refuse the options, with the same SQLSTATE and message
    server: int = 0                 # from this server version on
    settings: dict = field(default_factory=dict)  # of the session that reads


ODD_SETTINGS = {
    "bytea_output": "escape", "DateStyle": "SQL, DMY", "IntervalStyle": "iso_8601", "extra_float_digits": "-3",
    "TimeZone": "America/St_Johns", "lc_monetary": "C", "search_path": "app, public",
}


def test_decoding():
    tables = [
        {},
        {"include-xids": "0"},
        {"include-timestamp": "1"},
        {"include-xids": "0", "include-timestamp": "on"},
        {"skip-empty-xacts": "1"},
        {"skip-empty-xacts": "1", "include-xids": "0"},
        {"skip-empty-xacts": "true", "include-timestamp": "1"},
        {"only-local": "1"},
        {"only-local": "1", "skip-empty-xacts": "1"},
        {"include-rewrites": "1"},
        {"include-rewrites": "1", "skip-empty-xacts": "1", "include-xids": "false"},
        {"include-rewrites": "1", "include-timestamp": "1", "only-local": "yes"},
        {"stream-changes": "0"},
        {"force-binary": "0", "include-xids": "1"},
    ]
    for options in tables:
        yield OptionSet(label(options), "test_decoding", options)
        yield OptionSet(label(options) + ", odd settings", "test_decoding", options, settings=ODD_SETTINGS)
    yield OptionSet("force-binary=1", "test_decoding", {"force-binary": "1"}, binary=True)
    for options in (
            {"stream-changes": "1"},
            {"stream-changes": "1", "skip-empty-xacts": "1"},
            {"stream-changes": "1", "include-xids": "0"},
            {"stream-changes": "1", "include-xids": "0", "skip-empty-xacts": "1", "include-timestamp": "1"},
            {"stream-changes": "1", "only-local": "1"},
            {"stream-changes": "1", "include-timestamp": "1", "include-rewrites": "1"}):
        yield OptionSet(label(options), "test_decoding", options, streamed=True)
        yield OptionSet("two-phase slot, " + label(options), "test_decoding", options, two_phase=True, streamed=True)
    for options in ({}, {"skip-empty-xacts": "1"}, {"include-xids": "0", "include-timestamp": "1"}, {"only-local": "1"}):
        yield OptionSet("two-phase slot, " + label(options), "test_decoding", options, two_phase=True)


# The peer takes what bytea_output=escape prints for hex, and reads beyond its end.
WAL2JSON_SETTINGS = {name: value for name, value in ODD_SETTINGS.items() if name != "bytea_output"}


def wal2json():
    both = [
        {},
        {"include-xids": "1"},
        {"include-timestamp": "1"},
        {"include-lsn": "1", "include-xids": "1"},
        {"include-origin": "1"},
        {"include-schemas": "0"},
        {"include-types": "0"},
        {"include-types": "0", "include-type-oids": "1", "include-domain-data-type": "1", "include-pk": "1"},
        {"include-type-oids": "1"},
        {"include-typmod": "0"},
        {"include-typmod": "0", "include-domain-data-type": "1", "include-pk": "1"},
        {"include-domain-data-type": "1"},
        {"include-domain-data-type": "1", "include-type-oids": "1", "include-pk": "1"},
        {"include-column-positions": "1"},
        {"include-not-null": "1"},
        {"include-default": "1"},
        {"include-pk": "1"},
        {"numeric-data-types-as-string": "1"},
        {"actions": "insert,delete"},
        {"actions": " update , truncate"},
        {"actions": ""},
        {"filter-tables": "app.narrow,*.child,app.some_1"},
        {"filter-tables": 'Odd\\ "Schema".*, app.toast'},
        {"filter-tables": "*.table\\,\\ with\\ 'quotes'"},
        {"filter-tables": "app.\\*,\\*.narrow"},
        {"add-tables": "app.*"},
        {"add-tables": ""},
        {"add-tables": "app.narrow,*.toast"},
        {"add-tables": "*.*", "filter-tables": "app.*"},
        {"filter-origins": "1"},
        {"filter-origins": " 2 ,1,x"},
        {"filter-msg-prefixes": "p"},
        {"add-msg-prefixes": "p, it's"},
        {"add-msg-prefixes": "p,prefix\\ two", "filter-msg-prefixes": "p"},
        {"include-empty-transaction": "0"},
        {"include-empty-transaction": "0", "add-tables": "app.narrow", "filter-msg-prefixes": "p", "include-xids": "1"},
        {"include-empty-transaction": "0", "include-transaction": "0", "actions": "insert"},
        {"partition-root": "1", "actions": "insert,update,delete"},
        {"partition-root": "1", "actions": "insert,update,delete", "add-tables": "app.parts"},
    ]
    everything = {
        "include-xids": "1", "include-timestamp": "1", "include-lsn": "1", "include-origin": "1", "include-type-oids": "1",
        "include-column-positions": "1", "include-not-null": "1", "include-pk": "1"}
    for version in ("1", "2"):
        for options in both:
            yield OptionSet(f"v{version} {label(options)}", "wal2json", {"format-version": version, **options})
        for name, options in (("everything", everything), ("defaults", {}), ("domains", {"include-domain-data-type": "1"})):
            yield OptionSet(f"v{version} {name}", "wal2json", {"format-version": version, **options})
            yield OptionSet(f"v{version} {name}, odd settings", "wal2json", {"format-version": version, **options}, settings=WAL2JSON_SETTINGS)
    for options in (
            {"pretty-print": "1"},
            {"write-in-chunks": "1"},
            {"write-in-chunks": "1", "include-empty-transaction": "0", "actions": "update"},
            {"pretty-print": "1", "write-in-chunks": "1"},
            {"pretty-print": "1", "include-pk": "1", "include-type-oids": "1", "include-lsn": "1", "include-xids": "1"},
            {"write-in-chunks": "1", "include-pk": "1", "include-timestamp": "1", "add-tables": "app.narrow"},
            {"pretty-print": "1", "include-types": "0", "include-default": "1", "include-origin": "1"},
            {"include-transaction": "0"}):
        yield OptionSet("v1 " + label(options), "wal2json", {"format-version": "1", **options})
    for options in (
            {"include-transaction": "0"},
            {"include-transaction": "0", "include-lsn": "1", "actions": "truncate"},
            {"pretty-print": "1", "write-in-chunks": "1"}):
        yield OptionSet("v2 " + label(options), "wal2json", {"format-version": "2", **options})
    for options in (
            {"include-xids": "maybe"}, {"include-pk": ""}, {"format-version": "3"}, {"format-version": "0"}, {"format-version": "x"},
            {"filter-tables": "narrow"}, {"filter-tables": "a.b c.d"}, {"add-tables": "a.b,"}, {"actions": "insert,INSERT"},
            {"actions": "insert update"}, {"filter-origins": "1 2"}, {"add-msg-prefixes": ",p"}, {"include-unchanged-toast": "1"},
            {"no-such-option": "1"}):
        yield OptionSet("refused: " + label(options), "wal2json", options, fails=True)
    for options in ({"format-version": " 2 "}, {"format-version": "0x2"}, {"format-version": "1.8"}):
        yield OptionSet(label(options), "wal2json", options)


def reorder():
    """Ours against ours: streaming=reorder must send what streaming=off sends."""
    for options in (
            {"format": "json"},
            {"format": "json", "include-xids": "on", "include-lsn": "on", "include-timestamp": "on", "include-origin": "on"},
            {"format": "json", "exclude-tables": "app.narrow", "actions": "insert,update"},
            {"format": "json", "messages": "off", "origin": "none"},
            {"format": "test_decoding", "skip-empty-xacts": "1"},
            {"format": "test_decoding", "include-timestamp": "1"},
            {"format": "wal2json", "format-version": "1"},
            {"format": "wal2json", "format-version": "1", "write-in-chunks": "1", "include-lsn": "1"},
            {"format": "wal2json", "format-version": "1", "pretty-print": "1", "include-timestamp": "1", "add-tables": "app.narrow"},
            {"format": "wal2json", "format-version": "2", "include-lsn": "1"},
            {"format": "wal2json", "format-version": "2", "include-timestamp": "1", "include-origin": "1", "include-pk": "1"},
            {"format": "wal2json", "format-version": "2", "include-transaction": "0", "include-empty-transaction": "0"}):
        for two_phase in (False, True):
            for memory in ("64kB", "64MB"):
                yield OptionSet(
                    f"{'two-phase slot, ' if two_phase else ''}{label(options)}, reorder-work-mem={memory}", "cpp_output",
                    {**options, "streaming": "off"}, {**options, "streaming": "reorder", "reorder-work-mem": memory}, two_phase)


def label(options):
    return ", ".join(f"{k}={v}" for k, v in options.items()) or "defaults"


SETS = {"test_decoding": test_decoding, "wal2json": wal2json, "reorder": reorder}
