"""Holds the exported schemas against the meta-schema, and every vector against them, with Python's jsonschema."""

import json
import sys
from pathlib import Path

import jsonschema

CLASSES = {"2020-12": (jsonschema.Draft202012Validator, "$defs"), "draft-07": (jsonschema.Draft7Validator, "definitions")}
schemas, vectors = map(Path, sys.argv[1:])
files = sorted(schemas.rglob("*.schema.json"))
for path in files:
    document = json.loads(path.read_text())
    jsonschema.validators.validator_for(document).check_schema(document)
faults, judged = [], 0
for path in sorted(vectors.glob("*/messages.json")):
    replay = json.loads(path.read_text())
    for draft, (kind, word) in CLASSES.items():
        for flavour in ["strict", "tolerant"]:
            document = json.loads((schemas / replay["revision"] / draft / flavour / "bundle.schema.json").read_text())
            of = {}
            for vector in replay["vectors"]:
                name = vector["definition"]
                if name not in of:
                    root = {"$schema": document["$schema"], word: document[word], "allOf": [{"$ref": f"#/{word}/{name}"}]}
                    of[name] = kind(root, format_checker=kind.FORMAT_CHECKER)
                judged += 1
                if of[name].is_valid(vector["message"]) != vector[flavour]:
                    faults.append(f"{replay['revision']} {draft} {flavour} {vector['id']}: should be {vector[flavour]}")
print(f"jsonschema: {len(files)} schemas, {judged} verdicts")
sys.exit("\n".join([*faults[:40], f"{len(faults)} verdicts differ"]) if faults else 0)
