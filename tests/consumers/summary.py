"""The tables of README.md, counted from what the consumers' verdicts are."""

import re

from table import UPDATE, listed
from workshop import HERE, ROOT, vectors, write

README = HERE / "README.md"
BEGIN, END = "<!-- counted by run.py: begin -->\n", "<!-- counted by run.py: end -->\n"
# What is wrong with a vector, by the last part of its id. The first that matches.
KINDS = {
    "a member missing": r"^without-",
    "`null`": r"\bis-null$",
    "another type": r"\bis-an?-(number|string|list|object)$",
    "an empty object": r"\bempty$",
    "no time": r"\bno-(moment|time)$",
    "out of bounds": r"\b(below|above)$",
    "a fraction": r"\bfraction$",
    "digits in a string": r"\bdigits-in-a-string$",
    "no such word or number": r"\bother-(word|number)$",
    "other": r"",
}


def kind(vector):
    """What is wrong with a vector."""
    rule = vector["id"].split("/")[-1]
    return next(name for name, pattern in KINDS.items() if re.search(pattern, rule))


def fault(verdicts):
    """Whether README.md counts otherwise. With UPDATE_EXPECT in the environment it is corrected."""
    text = README.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    wanted = before + BEGIN + counted(verdicts) + END + after
    if UPDATE:
        write(README, wanted)
    return None if UPDATE or text == wanted else f"{README.relative_to(ROOT)}: its tables count otherwise"


def counted(verdicts):
    """Both tables."""
    results = {consumer: judged(found) for consumer, found in verdicts.items()}
    return f"{totals(results)}\n{by_kind(results)}"


def judged(found):
    """Of each vector: whether it was taken (nothing if it was not run), and the kind of what no schema takes."""
    rows = []
    for revision, (taken, _) in found.items():
        for vector in vectors(revision):
            rows.append((vector, taken.get(vector["id"]), None if vector["tolerant"] else kind(vector)))
    return rows


def totals(results):
    head = ["consumer", "vectors run", "not run", "invalid, unnoticed", "valid, refused", "readable, refused"]
    return markdown(head, [[consumer, *total(rows)] for consumer, rows in results.items()])


def total(rows):
    run = [(vector, taken) for vector, taken, _ in rows if taken is not None]
    readable = [taken for vector, taken in run if vector["tolerant"] and not vector["strict"]]
    return [
        len(run),
        len(rows) - len(run),
        share([listed(vector, taken) == "unnoticed" for vector, taken in run if not vector["tolerant"]]),
        share([listed(vector, taken) == "refused" for vector, taken in run if vector["strict"]]),
        share([not taken for taken in readable]),
    ]


def by_kind(results):
    head = ["invalid, unnoticed", *KINDS]
    cells = [
        [consumer, *(share([taken for _, taken, of in rows if of == name and taken is not None]) for name in KINDS)]
        for consumer, rows in results.items()
    ]
    return markdown(head, cells)


def share(flags):
    return f"{sum(flags)} of {len(flags)}"


def markdown(head, rows):
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)
