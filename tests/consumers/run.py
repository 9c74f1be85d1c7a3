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


def replay(name, found):
    found[name] = consumers.verdicts(name)
    table.compare(name, table.table(found[name]))
    return f"{name}: {sum(len(taken) for taken, _ in found[name].values())} vectors, as accepted/{name}.json says"


def main():
    install()
    side_by_side([*validators.JOBS, *generators.JOBS])
    found = {}
    side_by_side([generators.narrowing, *(partial(replay, name, found) for name in consumers.CONSUMERS)])
    summary.compare({name: found[name] for name in consumers.CONSUMERS})


try:
    main()
except Failed as failure:
    sys.exit(str(failure))
