"""Random values, as SQL literals, of every type that a table can have."""

TEXTS = [
    "", " ", "plain", "it's", 'double "quoted"', "back\\slash", "new\nline", "tab\tand\rreturn",
    "\x01\x1f\x7f", "naïve café", "日本語", "🐘 elephant", "e\u0301", "\u202eright to left", "\u2028",
    "NULL", "null", "{}", "{a,b}", "(1,2)", "$1", "%s", "a/*b*/--c", "</script>", "\ufeff", "\U0010ffff",
]
WORDS = ["a", "b", "key", "a b", 'q"uote', "comma,", "{brace}", "ünï", "NULL", "", "back\\", "line\nfeed"]


def quote(text):
    """An SQL literal; the E form where a backslash is in it."""
    body = text.replace("'", "''")
    if "\\" in body:
        return "E'" + body.replace("\\", "\\\\") + "'"
    return "'" + body + "'"


def pick(*choices):
    return lambda r: r.choice(choices)


def integer(bits):
    top = 2 ** (bits - 1)

    def make(r):
        return str(r.choice([0, 1, -1, top - 1, -top, r.randrange(-top, top), r.randrange(-999, 999)]))
    return make


def digits(r, most):
    return "".join(r.choice("0123456789") for _ in range(r.randint(1, most)))


def numeric(r):
    return r.choice([
        "0", "0.00", "-0", "1.50", "NaN", "Infinity", "-Infinity", "1e-20", "1e100", "9999", "10000", "0.0001",
        digits(r, 5) + "." + digits(r, 5), "-" + digits(r, 40) + "." + digits(r, 30), digits(r, 300),
        "0." + "0" * r.randint(0, 30) + digits(r, 20), digits(r, 3) + "0000" * r.randint(1, 5)])


def floating(r):
    return r.choice([
        "0", "-0", "1", "100000", "1e15", "1e16", "1e-5", "0.1", "NaN", "Infinity", "-Infinity", "3.4028235e38",
        "1e-37", repr(r.uniform(-1000, 1000)), repr(r.uniform(-1, 1) * 10.0 ** r.randint(-30, 30))])


def double(r):
    return r.choice([floating(r), "1.7976931348623157e308", "5e-324", repr(r.uniform(0, 1) * 10.0 ** r.randint(-300, 300))])


def text(r):
    kind = r.random()
    if kind < 0.6:
        return r.choice(TEXTS)
    return "".join(r.choice(TEXTS) for _ in range(r.randint(1, 12)))


def short_text(n):
    return lambda r: text(r)[:n]


def big_text(r):
    """Long enough for TOAST, and hard to compress unless it is very long."""
    n = r.choice([100, 2500, 9000, 30000, 120000])
    if n > 50000:
        return "long " * (n // 5)
    return "".join(r.choice("abcdefghijklmnopqrstuvwxyz0123456789'\"\\\n é") for _ in range(n))


def hexadecimal(n):
    return lambda r: "\\x" + r.randbytes(r.randint(0, n)).hex()


def date(r):
    return r.choice([
        "infinity", "-infinity", "2000-01-01", "1999-12-31", "0001-01-01", "0044-03-15 BC", "4713-01-01 BC",
        "5874897-12-31", "10000-01-01",
        f"{r.randint(1, 9999):04}-{r.randint(1, 12):02}-{r.randint(1, 28):02}"])


def clock(r):
    fraction = r.choice(["", ".1", ".000001", ".999999", f".{r.randrange(1000000):06}"])
    return f"{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}{fraction}"


def time(r):
    return r.choice(["00:00:00", "24:00:00", clock(r)])


def timetz(r):
    return time(r) + r.choice(["+00", "-03:30", "+15:59:59", "+05:45", "-12"])


def timestamp(r):
    return r.choice([
        "infinity", "-infinity", "294276-12-31 23:59:59", "4713-01-02 00:00:00 BC", "0001-01-01 00:00:00",
        f"{r.randint(1, 9999):04}-{r.randint(1, 12):02}-{r.randint(1, 28):02} {clock(r)}",
        f"{r.randint(1, 4000):04}-{r.randint(1, 12):02}-{r.randint(1, 28):02} {clock(r)} BC"])


def timestamptz(r):
    return r.choice([
        "infinity", "-infinity", "2026-03-29 02:30:00 Europe/Berlin", "1883-11-18 12:03:58 America/New_York",
        "0044-03-15 12:00:00+00 BC",
        f"{r.randint(1, 9999):04}-{r.randint(1, 12):02}-{r.randint(1, 28):02} {clock(r)}{r.choice(['+00', '-07', '+05:30'])}"])


def interval(r):
    return r.choice([
        "0", "1 year 2 months 3 days 04:05:06.789", "-1 year", "-1 mons +2 days -00:00:01.5", "1 day -1 second",
        "178000000 years", "00:00:00.000001", f"{r.randint(-99, 99)} mons {r.randint(-99, 99)} days {r.randint(-99999, 99999)} seconds"])


def uuid(r):
    h = r.randbytes(16).hex()
    return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"


def json_string(r):
    s = r.choice(TEXTS)
    out = s.replace("\\", "\\\\").replace('"', '\\"')
    out = "".join(c if c >= " " else f"\\u{ord(c):04x}" for c in out)
    return '"' + out + '"'


def json_value(r, depth=0):
    kind = r.randrange(8 if depth < 3 else 5)
    if kind == 0:
        return r.choice(["null", "true", "false"])
    if kind in (1, 2):
        return r.choice(["0", "-1.50", "1e3", "12345678901234567890.123", digits(r, 4).lstrip("0") or "7"])
    if kind in (3, 4):
        return json_string(r)
    space = r.choice(["", " ", "\n", " \t"])
    if kind == 5:
        return "[" + ("," + space).join(json_value(r, depth + 1) for _ in range(r.randint(0, 3))) + "]"
    return "{" + space + ("," + space).join(
        json_string(r) + ":" + space + json_value(r, depth + 1) for _ in range(r.randint(0, 3))) + "}"


def bits(n):
    return lambda r: "".join(r.choice("01") for _ in range(n))


def element(item):
    """Makes the text of an array's element, or of a composite's field."""
    def make(r):
        s = item(r)
        return '"' + s.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return make


def array(item, bounds=True):
    one = element(item)

    def some(r):
        return "NULL" if r.random() < 0.2 else one(r)

    def make(r):
        kind = r.random()
        if kind < 0.15:
            return "{}"
        n = r.randint(1, 4)
        if kind < 0.6:
            return "{" + ",".join(some(r) for _ in range(n)) + "}"
        m = r.randint(1, 3)
        rows = ["{" + ",".join(some(r) for _ in range(n)) + "}" for _ in range(m)]
        if bounds and kind > 0.85:
            low, low2 = r.randint(-3, 3), r.randint(0, 9)
            return f"[{low}:{low + m - 1}][{low2}:{low2 + n - 1}]={{" + ",".join(rows) + "}"
        return "{" + ",".join(rows) + "}"
    return make


def composite(*items):
    fields = [element(item) for item in items]

    def make(r):
        return "(" + ",".join("" if r.random() < 0.2 else f(r) for f in fields) + ")"
    return make


def ranged(low, high):
    def make(r):
        if r.random() < 0.15:
            return "empty"
        left = r.choice(["[", "("]) + r.choice(["", low(r)])
        return left + "," + r.choice(["", high(r)]) + r.choice(["]", ")"])
    return make


def multirange(low, high):
    one = ranged(low, high)
    return lambda r: "{" + ",".join(one(r) for _ in range(r.randint(0, 3))) + "}"


def low_number(r):
    return str(r.randint(-50, 0))


def high_number(r):
    return str(r.randint(1, 50))


def number(r):
    return str(r.randint(-99, 99))


def point(r):
    return f"({r.randint(-9, 9)},{r.randint(-9, 9)}.5)"


def points(r):
    return ",".join(point(r) for _ in range(r.randint(1, 4)))


def inet(r):
    return r.choice(["::1", "2001:db8::/32", "0.0.0.0/0", "10.1.2.3", f"192.168.{r.randint(0, 255)}.7/{r.randint(8, 32)}"])


def hstore(r):
    pairs = []
    for _ in range(r.randint(0, 3)):
        key, value = r.choice(WORDS), r.choice(WORDS)
        pairs.append(element(lambda _: key)(r) + "=>" + ("NULL" if r.random() < 0.2 else element(lambda _: value)(r)))
    return ",".join(pairs)


def vector(r):
    return " ".join(f"'{w}':{i + 1}{r.choice(['', 'A', 'B'])}" for i, w in
                    enumerate(r.sample(["cat", "dog", "fish", "it''s"], r.randint(0, 4))))


# Type as declared -> maker of the text of a value. Schema-qualified ones are
# made by schema.py.
TYPES = {
    "smallint": integer(16), "integer": integer(32), "bigint": integer(64),
    "real": floating, "double precision": double,
    "numeric": numeric, "numeric(12,3)": lambda r: r.choice(["0", "1.5", "-99999.125", "NaN", digits(r, 6)]),
    "text": text, "varchar(20)": short_text(20), "char(8)": short_text(8), "name": short_text(15), '"char"': pick("a", "", "\\", "'"),
    "bytea": hexadecimal(40), "boolean": pick("t", "f"),
    "date": date, "time": time, "time(3)": time, "time with time zone": timetz,
    "timestamp": timestamp, "timestamp(2)": timestamp, "timestamp with time zone": timestamptz, "interval": interval,
    "interval day to second(2)": lambda r: "3 days 04:05:06.789",
    "uuid": uuid, "json": json_value, "jsonb": json_value,
    "bit(5)": bits(5), "bit varying(20)": lambda r: bits(r.randint(0, 20))(r),
    "oid": pick("0", "4294967295", "16384"), "xid": pick("3", "4294967295"), "cid": pick("0", "7"), "tid": pick("(0,1)", "(4294967295,65535)"),
    "pg_lsn": pick("0/0", "16/B374D848", "FFFFFFFF/FFFFFFFF"), "xid8": pick("0", "18446744073709551615"),
    "pg_snapshot": pick("10:20:10,14,15"), "jsonpath": pick('$."a"[*] ? (@ > 1)'), "regtype": pick("integer", "text[]"),
    "int2vector": pick("1 2 3", ""), "oidvector": pick("1 2 3"),
    "money": pick("0", "-12.34", "92233720368547758.07"),
    "inet": inet, "cidr": pick("10.0.0.0/8", "::/0", "192.168.1.0/24"), "macaddr": pick("08:00:2b:01:02:03"), "macaddr8": pick("08:00:2b:01:02:03:04:05"),
    "point": point, "line": pick("{1,-1,0}"), "lseg": lambda r: f"[{point(r)},{point(r)}]", "box": lambda r: f"{point(r)},{point(r)}",
    "path": lambda r: r.choice(["[%s]", "(%s)"]) % points(r), "polygon": lambda r: f"({points(r)})", "circle": lambda r: f"<{point(r)},{r.randint(0, 9)}>",
    "xml": pick("<a>x</a>", "<a b=\"c\">\n <d/></a>", "text &amp; more"),
    "tsvector": vector, "tsquery": pick("'cat' & !'dog'", "'a' <-> 'b':*"),
    "int4range": ranged(low_number, high_number), "int8range": ranged(low_number, high_number), "numrange": ranged(low_number, lambda r: high_number(r) + ".25"),
    "daterange": ranged(pick("2000-01-01", "0044-03-15 BC"), pick("2020-02-29", "infinity")),
    "tsrange": ranged(pick('"2000-01-01 00:00:00"'), pick('"2026-01-01 12:00:00.5"')),
    "tstzrange": ranged(pick('"2000-01-01 00:00:00+00"'), pick('"2026-01-01 12:00:00.5+00"')),
    "int4multirange": multirange(low_number, high_number), "nummultirange": multirange(low_number, high_number),
    "tsmultirange": pick('{["2000-01-01 00:00:00","2001-01-01 00:00:00")}'),
    "smallint[]": array(integer(16)), "integer[]": array(integer(32)), "bigint[]": array(integer(64)), "real[]": array(floating), "double precision[]": array(double),
    "numeric[]": array(numeric), "text[]": array(text), "varchar(5)[]": array(short_text(5)), "bytea[]": array(hexadecimal(9)), "boolean[]": array(pick("t", "f")),
    "date[]": array(date), "time[]": array(time), "timestamp[]": array(timestamp), "timestamp with time zone[]": array(timestamptz),
    "interval[]": array(interval), "uuid[]": array(uuid), "json[]": array(json_value), "jsonb[]": array(json_value), "bit(3)[]": array(bits(3)),
    "inet[]": array(inet), "box[]": lambda r: "{" + ";".join("(%d,1),(0,0)" % i for i in range(1, r.randint(2, 4))) + "}",
    "int4range[]": array(ranged(low_number, high_number)), "point[]": array(point), "money[]": array(pick("1.00", "-2.50")), "oid[]": array(pick("1", "4294967295")),
}
