"""Validators of others take the schemas, and say of every vector what it says of itself."""

from workshop import PROGRAMS, PYTHON, SCHEMAS, VECTORS, node, run


def jsonschema():
    return run(PYTHON, PROGRAMS / "validate.py", SCHEMAS, VECTORS).rstrip()


def ajv():
    return node("validate.mjs", SCHEMAS, VECTORS).rstrip()


JOBS = [jsonschema, ajv]
