#!/usr/bin/env python3
"""Feeds the exported schemas to those who will read them.

- Validators decide every vector as it says of itself (validators.py).
- Generators of code make types of good names (generators.py).
- Types that were made decode every vector, and what they get wrong is what `accepted/` says (consumers.py, table.py).

UPDATE_EXPECT=1 writes `accepted/` and the counts in README.md.
"""

import sys
from functools import partial

import consumers
import generators
import summary
import table
import validators
from install import install
from workshop import Failed, side_by_side


def main():
    install()
    side_by_side([*validators.JOBS, *generators.JOBS])
    verdicts = {}
    side_by_side([generators.narrowing, *(partial(replay, name, verdicts) for name in consumers.CONSUMERS)])
    verdicts = {name: verdicts[name] for name in consumers.CONSUMERS}
    faults = [table.fault(name, table.table(found)) for name, found in verdicts.items()] + [summary.fault(verdicts)]
    if any(faults):
        raise Failed("\n".join([*filter(None, faults), "If that is meant to be so, run again with UPDATE_EXPECT=1."]))


def replay(name, verdicts):
    verdicts[name] = consumers.verdicts(name)
    taken = [verdict for judged, _ in verdicts[name].values() for verdict in judged.values()]
    return f"{name}: {len(taken)} vectors, {sum(taken)} taken"


try:
    main()
except Failed as failure:
    sys.exit(str(failure))
