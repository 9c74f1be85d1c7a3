"""Holds the exported schemas against the meta-schema, and every vector against them, with Python's jsonschema."""

import json
import sys
from pathlib import Path

import jsonschema

CLASSES = {"2020-12": (jsonschema.Draft202012Validator, "$defs"), "draft-07": (jsonschema.Draft7Validator, "definitions")}
FLAVOURS = ["strict", "tolerant"]


def read(path):
    return json.loads(path.read_text())


class Bundle:
    """A file of definitions, with a validator for each that was asked for."""

    def __init__(self, path, kind, word):
        self.document, self.kind, self.word, self.made = read(path), kind, word, {}

    def has(self, name):
        return name in self.document[self.word]

    def takes(self, name, message):
        if name not in self.made:
            definitions = {"$schema": self.document["$schema"], self.word: self.document[self.word]}
            root = {**definitions, "allOf": [{"$ref": f"#/{self.word}/{name}"}]}
            self.made[name] = self.kind(root, format_checker=self.kind.FORMAT_CHECKER)
        return self.made[name].is_valid(message)


class Messages:
    """The files of single messages."""

    def __init__(self, folder, kind):
        of = {path.name.removesuffix(".schema.json"): read(path) for path in folder.iterdir()}
        self.made = {name: kind(root, format_checker=kind.FORMAT_CHECKER) for name, root in of.items()}

    def has(self, name):
        return name in self.made

    def takes(self, name, message):
        return self.made[name].is_valid(message)


class Folder:
    """The files of one revision, draft and flavour. Each hears every vector of a definition it has."""

    def __init__(self, path, kind, word, flavour):
        self.flavour = flavour
        self.exact = {"bundle": Bundle(path / "bundle.schema.json", kind, word), "messages": Messages(path / "messages", kind)}
        self.small = Bundle(path / "tasks.schema.json", kind, word)
        # Definitions of the small bundle: what it has to refuse some vector of, and what it did refuse one of.
        self.refusable, self.refused = set(), set()
        self.judged = 0

    def hear(self, vector):
        name, message, wanted = vector["definition"], vector["message"], vector[self.flavour]
        for file, judge in self.exact.items():
            if judge.has(name):
                self.judged += 1
                if judge.takes(name, message) != wanted:
                    yield f"{file} {vector['id']}: should be {wanted}"
        if self.small.has(name):
            yield from self.hear_small(name, message, wanted, vector["id"])

    def hear_small(self, name, message, wanted, id):
        """Core shapes are open there: it takes all that the others take, and may take more."""
        if not wanted:
            self.refusable.add(name)
            if name in self.refused:
                return
        self.judged += 1
        if not self.small.takes(name, message):
            self.refused.add(name)
            if wanted:
                yield f"tasks {id}: should be {wanted}"

    def toothless(self):
        return [f"tasks: refuses no vector of {name}" for name in sorted(self.refusable - self.refused)]


def main(schemas, vectors):
    files = sorted(schemas.rglob("*.schema.json"))
    for path in files:
        document = read(path)
        jsonschema.validators.validator_for(document).check_schema(document)
    faults, judged = [], 0
    for path in sorted(vectors.glob("*/messages.json")):
        replay = read(path)
        for draft, (kind, word) in CLASSES.items():
            for flavour in FLAVOURS:
                folder = Folder(schemas / replay["revision"] / draft / flavour, kind, word, flavour)
                found = [fault for vector in replay["vectors"] for fault in folder.hear(vector)] + folder.toothless()
                faults += [f"{replay['revision']} {draft} {flavour} {fault}" for fault in found]
                judged += folder.judged
    print(f"jsonschema: {len(files)} schemas, {judged} verdicts")
    sys.exit("\n".join([*faults[:40], f"{len(faults)} faults"]) if faults else 0)


main(*map(Path, sys.argv[1:]))
