"""Generators of code take the codegen flavour, and name no type twice or by a number."""

import re
import shutil
from functools import partial

from workshop import PROGRAMS, PYTHON, REVISIONS, WORK, Failed, bundle, npm, out, run

LANGUAGES = {
    "typescript": "ts",
    "python": "py",
    "go": "go",
    "csharp": "cs",
    "java": "java",
    "kotlin": "kt",
    "swift": "swift",
    "rust": "rs",
}
# A type's declaration where quicktype writes it; nested ones are indented.
DECLARED = {
    "typescript": r"^export (?:interface|type|enum) (\w+)",
    "python": r"^class (\w+)",
    "go": r"^type (\w+)",
    # A class may stand there a second time, for `FromJson`: the halves of one partial class.
    "csharp": r"^    public (?:enum |partial class (?=\w+\n    \{\n(?!        public static)))(\w+)",
    "java": r"^public (?:class|enum) (\w+)",
    "kotlin": r"^(?:data |sealed |enum )?class (\w+)",
    "swift": r"^(?:struct|enum|class) (\w+)",
    "rust": r"^pub (?:struct|enum) (\w+)",
}


def unique(tool, text, pattern):
    names = re.findall(pattern, text, re.MULTILINE)
    numbered = [name for name in names if re.search(r"\d$", name)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not names or numbered or twice:
        raise Failed(f"{tool}: {len(names)} types, numbered {numbered}, twice {twice}")
    return f"{tool}: {len(names)} types, none numbered or twice"


def quicktype(revision, language):
    folder = out(revision) / language
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    types = folder / f"Types.{LANGUAGES[language]}"
    run(npm("quicktype"), "--src-lang", "schema", "--lang", language, "-o", types, f"{bundle(revision)}#/$defs/")
    text = "\n".join(path.read_text() for path in sorted(folder.iterdir()))
    return unique(f"quicktype {language} {revision}", text, DECLARED[language])


def json2ts(revision):
    types = out(revision) / "types.ts"
    types.parent.mkdir(parents=True, exist_ok=True)
    run(npm("json2ts"), "--unreachableDefinitions", "-i", bundle(revision), "-o", types)
    return unique(f"json-schema-to-typescript {revision}", types.read_text(), r"^export (?:interface|type) (\w+)")


def pydantic(revision):
    models = out(revision) / "model.py"
    models.parent.mkdir(parents=True, exist_ok=True)
    arguments = ["--input-file-type", "jsonschema", "--output-model-type", "pydantic_v2.BaseModel", "--disable-timestamp"]
    run(WORK / "venv/bin/datamodel-codegen", "--input", bundle(revision), "--output", models, *arguments)
    run(PYTHON, "-c", "import model", cwd=models.parent)
    return unique(f"datamodel-code-generator {revision}", models.read_text(), r"^class (\w+)")


def narrowing():
    """tsc narrows by status, and refuses a wrong one."""
    folder = out("2026-07-28")
    shutil.copy(PROGRAMS / "narrow.ts", folder)
    run(npm("tsc"), "--strict", "--noEmit", "--target", "es2022", "--types", "", folder / "narrow.ts")
    return "tsc: right statuses are narrowed, wrong ones refused"


JOBS = [
    job
    for revision in REVISIONS
    for job in [
        *(partial(quicktype, revision, language) for language in LANGUAGES),
        partial(json2ts, revision),
        partial(pydantic, revision),
    ]
]
