"""Decodes every vector with what quicktype made for Python or datamodel-code-generator for pydantic, and prints which it took.

python decode.py quicktype|pydantic TYPES VECTORS < NAMES
"""

import json
import sys
from importlib import import_module
from pathlib import Path


def quicktype(types, name):
    return getattr(types, f"{name}_from_dict")


def pydantic(types, name):
    from pydantic import TypeAdapter

    # Some are enums, which have no `model_validate`.
    return TypeAdapter(getattr(types, name)).validate_python


def takes(decode, message):
    try:
        decode(message)
        return True
    # A decoder of quicktype fails in whatever way its steps do.
    except Exception:
        return False


def main(kind, types, vectors):
    sys.path.insert(0, str(Path(types).parent))
    module = import_module(Path(types).stem)
    decoder = {"quicktype": quicktype, "pydantic": pydantic}[kind]
    decoders = {definition: decoder(module, name) for definition, name in json.load(sys.stdin).items()}
    verdicts = {}
    for vector in json.loads(Path(vectors).read_text())["vectors"]:
        if vector["definition"] in decoders:
            verdicts[vector["id"]] = takes(decoders[vector["definition"]], vector["message"])
    print(json.dumps(verdicts))


main(*sys.argv[1:])
