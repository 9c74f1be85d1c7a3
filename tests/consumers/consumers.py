"""Types that generators made, and what they take of the vectors.

A consumer gives for each revision a verdict on each vector of each definition that its code has a name for.
"""

import json
import re
from collections import namedtuple

from workshop import HERE, PROGRAMS, PYTHON, REVISIONS, ROOT, WORK, Failed
from workshop import bundle, node, npm, out, run, vector_file, vectors, write

# Where its types are, what declares a decoder there, and how they judge a revision's vectors, given the decoders' names.
# `renamed` are definitions that the generator calls something else.
Consumer = namedtuple("Consumer", "types declared judge renamed", defaults=[{}])

# Rust has a `Result` already; and quicktype makes one type of two that are the same.
RUST_NAMES = {"Result": "PurpleResult", "RequestId": "ProgressToken"}

TSC = ["--strict", "--target", "es2022", "--types", "", "--pretty", "false"]


def quicktype_typescript(revision, names):
    folder = out(revision) / "typescript"
    run(npm("tsc"), *TSC, "--module", "commonjs", "--outDir", folder / "js", folder / "Types.ts")
    return json.loads(node("decode.mjs", folder / "js/Types.js", vector_file(revision), stdin=json.dumps(names)))


def quicktype_python(revision, names):
    return decode_in_python("quicktype", out(revision) / "python/Types.py", revision, names)


def pydantic(revision, names):
    return decode_in_python("pydantic", out(revision) / "model.py", revision, names)


def decode_in_python(kind, types, revision, names):
    program = PROGRAMS / "decode.py"
    return json.loads(run(PYTHON, program, kind, types, vector_file(revision), stdin=json.dumps(names)))


def quicktype_rust(revision, names):
    """A program for the revision: that of `rust/`, with the types and a decoder by the name of each definition."""
    project, target = WORK / "rust", WORK / "rust/target"
    program = project / "src/bin" / revision
    arms = [f'        "{definition}" => from_str::<types::{name}>(text).is_ok(),' for definition, name in names.items()]
    write(program / "decode.rs", (HERE / "rust/decode.rs").read_text().replace("        // ARMS", "\n".join(arms)))
    write(program / "types.rs", (out(revision) / "rust/Types.rs").read_text())
    write(program / "main.rs", (HERE / "rust/main.rs").read_text())
    for name in ["Cargo.toml", "Cargo.lock"]:
        write(project / name, (HERE / "rust" / name).read_text())
    # From the root of the repository, where the compiler's version is pinned.
    build = ["cargo", "build", "--locked", "--manifest-path", project / "Cargo.toml", "--target-dir", target]
    run(*build, "--bin", revision, cwd=ROOT)
    return json.loads(run(target / "debug" / revision, vector_file(revision)))


def json2ts(revision, names):
    """There is no decoder; tsc says which literals have the type: one a line from the first, so that a line is a vector."""
    judged = [vector for vector in vectors(revision) if vector["definition"] in names]
    literals = out(revision) / "literals.ts"
    lines = [f"const v{n}: types.{names[v['definition']]} = {json.dumps(v['message'])};" for n, v in enumerate(judged)]
    literals.write_text("\n".join([*lines, 'import type * as types from "./types";', ""]))
    said = run(npm("tsc"), *TSC, "--noEmit", literals, cwd=literals.parent, may_fail=True)
    # A reason in more words is indented.
    refused = {line_of_type_error(line) - 1 for line in said.splitlines() if not line.startswith(" ")}
    if not refused:
        raise Failed(f"{literals}: tsc has nothing to say")
    return {vector["id"]: n not in refused for n, vector in enumerate(judged)}


def line_of_type_error(said):
    """The errors 2000 to 2999 are those of types."""
    found = re.match(r"literals\.ts\((\d+),\d+\): error TS2\d{3}: ", said)
    if not found:
        raise Failed(f"tsc says something else than that a literal has not its type: {said}")
    return int(found[1])


CONSUMERS = {
    "quicktype-rust": Consumer("rust/Types.rs", r"^pub (?:struct|enum|type) (\w+)", quicktype_rust, RUST_NAMES),
    "quicktype-typescript": Consumer("typescript/Types.ts", r"^    public static to(\w+)\(", quicktype_typescript),
    "quicktype-python": Consumer("python/Types.py", r"^def (\w+)_from_dict", quicktype_python),
    "pydantic": Consumer("model.py", r"^class (\w+)", pydantic),
    "json-schema-to-typescript": Consumer("types.ts", r"^export (?:interface|type) (\w+)", json2ts),
}


def verdicts(name):
    """By revision: the verdicts of a consumer, and the definitions it has nothing for."""
    return {revision: verdicts_on(revision, CONSUMERS[name]) for revision in REVISIONS}


def verdicts_on(revision, consumer):
    definitions = json.loads(bundle(revision).read_text())["$defs"]
    names = decoders(definitions, (out(revision) / consumer.types).read_text(), consumer)
    found = consumer.judge(revision, names)
    due = {vector["id"] for vector in vectors(revision) if vector["definition"] in names}
    if set(found) != due:
        astray = sorted(set(found) ^ due)[:5]
        raise Failed(f"{consumer.types} {revision}: {len(found)} verdicts on {len(due)} vectors; one alone: {astray}")
    return found, sorted(set(definitions) - set(names))


def decoders(definitions, text, consumer):
    """What a generator calls each definition; it has its own ways with capitals and underscores, and leaves some out."""
    called = {}
    for name in re.findall(consumer.declared, text, re.MULTILINE):
        if called.setdefault(bare(name), name) != name:
            raise Failed(f"two decoders that differ in capitals alone: {name}, {called[bare(name)]}")
    calls = {definition: bare(consumer.renamed.get(definition, definition)) for definition in definitions}
    return {definition: called[name] for definition, name in calls.items() if name in called}


def bare(name):
    return name.replace("_", "").lower()
