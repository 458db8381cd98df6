"""What wal2json 2.5 to 2.7 get wrong, so that the differential can tell it from
what we get wrong.

A row of ours that differs from the peer's is fine if one of these explains all
of the difference, and ours is JSON:

  comma    a document of a non-transactional message begins with a comma
  quotes   type names, and default expressions, that are not escaped
  key      version 1 of 2.5 leaves include-pk out where the replica identity is
           not the primary key
"""

import json
import re

COMMA = re.compile(r'^(\{\s*"change":\s*\[\s*),')
KEY = re.compile(r",n?t*pk: ?\{n?t*pknames: ?\[[^]]*\],n?t*pktypes: ?\[[^]]*\]n?t*\}")
# What escaping adds and changes; what is left is the same, escaped or not.
ESCAPING = str.maketrans({'"': None, "\\": None, "\n": "n", "\t": "t", "\r": "r"})


def is_json(data):
    try:
        json.loads(data.lstrip(", \t\n"))  # in chunks a comma comes first
        return True
    except ValueError:
        return False


def without_keys(peer, ours):
    """Ours without the keys that the peer has not; both without escaping."""
    result, last = "", 0
    for found in KEY.finditer(ours):
        result += ours[last:found.start()]
        if peer.startswith(found.group(), len(result)):
            result += found.group()
        last = found.end()
    return result + ours[last:]


def explanation(peer, ours, options):
    """The fault of the peer that explains how the data of two rows differ, or None."""
    if not is_json(ours):
        return None
    if COMMA.sub(r"\1", peer) == ours:
        return "comma"
    unquoted_peer, unquoted_ours = peer.translate(ESCAPING), ours.translate(ESCAPING)
    if unquoted_peer == unquoted_ours:
        return "quotes" if "include-default" in options or not is_json(peer) else None
    if "include-pk" in options and without_keys(unquoted_peer, unquoted_ours) == unquoted_peer:
        return "key"
    return None


def explain(peer, ours, options):
    """Ours, with the peer's data in each row whose difference is the peer's fault, and how often
    each fault was met."""
    result, faults = list(ours), {}
    for index, (theirs, mine) in enumerate(zip(peer, ours)):
        if theirs == mine or theirs[:2] != mine[:2] or theirs[0] == "ERROR":
            continue
        fault = explanation(theirs[2], mine[2], options)
        if fault:
            faults[fault] = faults.get(fault, 0) + 1
            result[index] = theirs
    return result, faults
