"""Memory of server processes: sampling it, and fitting its growth."""

import os
import re
import statistics
import threading

MB = 1 << 20


def rss_anon(pid):
    """Private memory of a process in bytes; None where there is no such process."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            for line in status:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return None


class Peak:
    """The highest RssAnon of a process while a with block runs."""

    def __init__(self, pid, interval=0.01):
        self.pid = pid
        self.interval = interval
        self.idle = self.bytes = rss_anon(pid) or 0
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.sample, daemon=True)

    def sample(self):
        while not self.done.wait(self.interval):
            self.bytes = max(self.bytes, rss_anon(self.pid) or 0)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.done.set()
        self.thread.join()

    @property
    def growth(self):
        return self.bytes - self.idle


CONTEXT = re.compile(r"\[(\d+)\] LOG:  level: \d+; (.*?): \d+ total in \d+ blocks; \d+ free \(\d+ chunks\); (\d+) used")
TOTAL = re.compile(r"\[(\d+)\] LOG:  Grand total: \d+ bytes in \d+ blocks; \d+ free \(\d+ chunks\); (\d+) used")


class Contexts:
    """Bytes in use by the memory contexts of backends, from what they log about them."""

    def __init__(self, log):
        self.log = log
        self.offset = os.path.getsize(log)
        self.used = {}      # pid: {name: bytes}
        self.total = {}     # pid: bytes

    def read(self):
        """Takes in what was logged since."""
        with open(self.log, encoding="utf-8", errors="replace") as file:
            file.seek(self.offset)
            for line in file:
                if not line.endswith("\n"):
                    break
                self.offset += len(line.encode("utf-8", "surrogateescape"))
                found = CONTEXT.search(line)
                if found:
                    names = self.used.setdefault(int(found[1]), {})
                    names[found[2]] = names.get(found[2], 0) + int(found[3])
                found = TOTAL.search(line)
                if found:
                    self.total[int(found[1])] = int(found[2])


class Fit:
    """A straight line through (time, bytes), by the median of the slopes of all pairs.

    Steps, which a heap grows by, and single outliers move it little. The interval has the true slope
    with 99 % if the deviations are independent (Sen 1968).
    """

    def __init__(self, points):
        slopes = sorted((y2 - y1) / (x2 - x1) for i, (x1, y1) in enumerate(points) for x2, y2 in points[i + 1:])
        n = len(points)
        self.seconds = points[-1][0] - points[0][0]
        self.slope = slopes[len(slopes) // 2]
        half = 2.576 * (n * (n - 1) * (2 * n + 5) / 18) ** 0.5 / 2
        middle = len(slopes) / 2
        self.low = slopes[max(0, int(middle - half))]
        self.high = slopes[min(len(slopes) - 1, int(middle + half))]
        thirds = [statistics.median(y for _, y in points[n * i // 3:n * (i + 1) // 3]) for i in range(3)]
        self.rises = (thirds[1] - thirds[0], thirds[2] - thirds[1])     # bytes from third to third

    def per_hour(self):
        return "{:+.2f} ({:+.2f} .. {:+.2f}) MB per hour".format(*(s * 3600 / MB for s in (self.slope, self.low, self.high)))
