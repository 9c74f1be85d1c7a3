"""Where all this is made, below the target folder, and how a program is run there."""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAMS = HERE / "programs"
WORK = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute() / "consumers"
SCHEMAS, VECTORS = ROOT / "generated/schema", ROOT / "generated/vectors"
REVISIONS = ["2026-07-28", "2025-11-25"]
PYTHON = WORK / "venv/bin/python"
# What is installed there.
STAMP = WORK / "installed"


class Failed(Exception):
    """Something is not as it should be."""


def run(*command, cwd=WORK, stdin="", may_fail=False):
    """What a program prints. One that fails is a failure, unless that is its way to answer."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, cwd=cwd, input=stdin, capture_output=True, text=True)
    except FileNotFoundError:
        ours = words[0].startswith(str(WORK))
        advice = f"; remove {STAMP}, and the next run installs everything again" if ours else ""
        raise Failed(f"{words[0]} is not there{advice}") from None
    if done.returncode and not may_fail:
        raise Failed(f"exit code {done.returncode}: {' '.join(words)}\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def npm(name):
    """A program of an npm package."""
    return WORK / "node_modules/.bin" / name


def node(name, *arguments, stdin=""):
    """What a program of ours prints under node, which looks for modules beside the file that names them."""
    program = WORK / name
    write(program, (PROGRAMS / name).read_text())
    return run("node", program, *arguments, stdin=stdin)


def write(path, text):
    """Writes a file, unless it says so already: builds go by the time of change."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def out(revision):
    """What generators make of a revision."""
    return WORK / "out" / revision


def bundle(revision):
    """The schema that generators take."""
    return SCHEMAS / revision / "2020-12/codegen/bundle.schema.json"


def vector_file(revision):
    return VECTORS / revision / "messages.json"


def vectors(revision):
    return json.loads(vector_file(revision).read_text())["vectors"]


def side_by_side(jobs):
    """Does jobs two at a time, and prints what each says, in their order."""
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(job) for job in jobs]
        try:
            for future in futures:
                print(future.result(), flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
