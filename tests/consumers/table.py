"""The table of what a consumer takes and should not, or refuses and should not: `accepted/CONSUMER.json`."""

import json
import os

from workshop import HERE, ROOT, vectors, write

UPDATE = "UPDATE_EXPECT" in os.environ
SHOWN = 20
# A vector that no list has was decided as it says of itself.
LISTS = ["tolerated", "unnoticed", "refused"]


def listed(vector, taken):
    """The list that a vector belongs to, by the verdict on it."""
    if taken == vector["strict"]:
        return None
    if vector["strict"]:
        return "refused"
    return "tolerated" if vector["tolerant"] else "unnoticed"


def table(verdicts):
    """For each revision: the definitions that cannot be run, and for each other one the rules in each list."""
    return {revision: part(revision, *found) for revision, found in verdicts.items()}


def part(revision, taken, not_run):
    definitions = {}
    for vector in vectors(revision):
        name = vector["id"] in taken and listed(vector, taken[vector["id"]])
        if name:
            rule = vector["id"].removeprefix(vector["definition"] + "/")
            definitions.setdefault(vector["definition"], {}).setdefault(name, []).append(rule)
    in_order = {
        definition: {name: sorted(found[name]) for name in LISTS if name in found}
        for definition, found in sorted(definitions.items())
    }
    return {"not run": not_run, "definitions": in_order}


def fault(consumer, found):
    """How a table differs from the one that is kept. With UPDATE_EXPECT in the environment it is kept from now on."""
    path = HERE / "accepted" / f"{consumer}.json"
    text = json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    if UPDATE:
        write(path, text)
    kept = path.read_text() if path.exists() else "{}"
    if kept == text:
        return None
    differences = differing(flat(json.loads(kept)), flat(found)) or ["the order or the spelling alone"]
    shown = [*differences[:SHOWN], "..."] if len(differences) > SHOWN else differences
    return "\n  ".join([f"{consumer}: {len(differences)} differ from {path.relative_to(ROOT)}", *shown])


def flat(table):
    """The list that each vector is in, by revision and id, and `not run` for whole definitions."""
    return {
        **{f"{revision} {name}": "not run" for revision, part in table.items() for name in part["not run"]},
        **{
            f"{revision} {definition}/{rule}": name
            for revision, part in table.items()
            for definition, lists in part["definitions"].items()
            for name, rules in lists.items()
            for rule in rules
        },
    }


def differing(kept, found):
    return [
        f"{vector}: is {found.get(vector, 'in no list')}, was {kept.get(vector, 'in no list')}"
        for vector in sorted(kept.keys() | found.keys())
        if kept.get(vector) != found.get(vector)
    ]
