#!/usr/bin/env python3
"""Feeds the exported schemas to those who will read them: validators on every vector, generators of code.

Installs pinned versions (package-lock.json, requirements.txt) below the target folder, once.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "consumers"
SCHEMAS, VECTORS = ROOT / "generated/schema", ROOT / "generated/vectors"
REVISIONS = ["2026-07-28", "2025-11-25"]
LANGUAGES = {"typescript": "ts", "python": "py", "go": "go", "csharp": "cs", "java": "java", "kotlin": "kt", "swift": "swift", "rust": "rs"}
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


def run(*command, cwd=WORK):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}: {' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def install():
    WORK.mkdir(parents=True, exist_ok=True)
    wanted = (HERE / "package-lock.json").read_text() + (HERE / "requirements.txt").read_text()
    stamp = WORK / "installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    for name in ["package.json", "package-lock.json"]:
        shutil.copy(HERE / name, WORK)
    run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
    run(sys.executable, "-m", "venv", "--clear", WORK / "venv")
    run(WORK / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / "requirements.txt")
    stamp.write_text(wanted)


def unique(tool, text, pattern):
    names = re.findall(pattern, text, re.MULTILINE)
    numbered = [name for name in names if re.search(r"\d$", name)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not names or numbered or twice:
        sys.exit(f"{tool}: {len(names)} types, numbered {numbered}, twice {twice}")
    print(f"{tool}: {len(names)} types, none numbered or twice")


def quicktype(revision, language, suffix):
    folder = WORK / "out" / revision / language
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    schema = SCHEMAS / revision / "2020-12/codegen/bundle.schema.json"
    tool = WORK / "node_modules/.bin/quicktype"
    run(tool, "--src-lang", "schema", "--lang", language, "-o", folder / f"Types.{suffix}", f"{schema}#/$defs/")
    text = "\n".join(path.read_text() for path in sorted(folder.iterdir()))
    unique(f"quicktype {language} {revision}", text, DECLARED[language])


def json2ts(revision):
    out = WORK / "out" / revision / "types.ts"
    schema = SCHEMAS / revision / "2020-12/codegen/bundle.schema.json"
    run(WORK / "node_modules/.bin/json2ts", "--unreachableDefinitions", "-i", schema, "-o", out)
    unique(f"json-schema-to-typescript {revision}", out.read_text(), r"^export (?:interface|type) (\w+)")


def narrowing():
    """tsc narrows by status, and refuses a wrong one."""
    folder = WORK / "out/2026-07-28"
    shutil.copy(HERE / "narrow.ts", folder)
    run(WORK / "node_modules/.bin/tsc", "--strict", "--noEmit", "--target", "es2022", "--types", "", folder / "narrow.ts")
    print("tsc: right statuses are narrowed, wrong ones refused")


def pydantic(revision):
    out = WORK / "out" / revision / "model.py"
    schema = SCHEMAS / revision / "2020-12/codegen/bundle.schema.json"
    arguments = ["--input-file-type", "jsonschema", "--output-model-type", "pydantic_v2.BaseModel", "--disable-timestamp"]
    run(WORK / "venv/bin/datamodel-codegen", "--input", schema, "--output", out, *arguments)
    unique(f"datamodel-code-generator {revision}", out.read_text(), r"^class (\w+)")
    run(WORK / "venv/bin/python", "-c", "import model", cwd=out.parent)


def main():
    install()
    print(run(WORK / "venv/bin/python", HERE / "validate.py", SCHEMAS, VECTORS), end="")
    # Modules are looked for beside the file that names them.
    shutil.copy(HERE / "validate.mjs", WORK)
    print(run("node", WORK / "validate.mjs", SCHEMAS, VECTORS), end="")
    for revision in REVISIONS:
        for language, suffix in LANGUAGES.items():
            quicktype(revision, language, suffix)
        json2ts(revision)
        pydantic(revision)
    narrowing()


main()
