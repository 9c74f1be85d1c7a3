#!/usr/bin/env python3
"""Our client against a server of somebody else's, and somebody else's client against ours.

    tests/peers/run.py

`fastmcp-tasks` (PyPI) serves, with its in-memory backend, and examples/peer_client drives it. `@modelcontextprotocol/ext-tasks`
(npm) drives examples/conformance. Each goes through a result, a question and a cancellation. Everything is installed below
target/, as requirements.txt and package-lock.json say.

What does not work, and whose fault it is:
- `ctx.elicit()` inside a task of fastmcp-tasks is refused by that server: it asks only by returning the question.
- `subscriptions/listen` is not known to it (-32601): our client polls.
- ext-tasks leaves transport, headers and the `_meta` of requests to its host, and writes client capabilities of its own
  that name no elicitation: client.mjs does that part.
- ext-tasks never listens: tasks are polled.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import venv
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
HOME = TARGET / "peers"
PATIENCE = 60


def main():
    python, node = install_python(), install_node()
    examples = ["--example", "peer_client", "--example", "conformance"]
    subprocess.run(["cargo", "build", "--quiet", *examples], cwd=ROOT, check=True)
    failures = our_client(python) + their_client(node)
    for failure in failures:
        print(f"FAILED {failure}")
    sys.exit(1 if failures else 0)


def installed(place, lock, install):
    """Installs what the lock file says, unless it is there."""
    stamp = place / "installed"
    if not stamp.exists() or stamp.read_bytes() != lock.read_bytes():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        install(place)
        shutil.copy(lock, stamp)
    return place


def install_python():
    lock = HERE / "requirements.txt"

    def install(place):
        venv.create(place, with_pip=True)
        pip = [place / "bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--no-deps", "-r", lock], check=True)

    return installed(HOME / "python", lock, install) / "bin/python"


def install_node():
    lock = HERE / "package-lock.json"

    def install(place):
        for file in (lock, HERE / "package.json"):
            shutil.copy(file, place)
        npm = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"]
        subprocess.run(npm, cwd=place, check=True)

    return installed(HOME / "node", lock, install)


@contextmanager
def running(command, **options):
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def listens(port):
    """Waits until somebody listens there."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
    sys.exit(f"nobody listens on port {port}")


def our_client(python):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with open(HOME / "server.log", "w") as log, running([python, HERE / "server.py", str(port)], stdout=log, stderr=log):
        listens(port)
        url = f"http://127.0.0.1:{port}/mcp"
        expected = [
            (["add", '{"a": 1, "b": 2}'], lambda lines: text(lines) == "3"),
            (["greet", "{}"], lambda lines: text(lines) == "hello Ada" and asked(lines) == 1),
            (["forever", "{}", "cancel"], lambda lines: lines[-1].get("kind") == "Cancelled"),
        ]
        failures = []
        for arguments, holds in expected:
            lines = call(url, arguments)
            ours = any("task" in line for line in lines) and holds(lines)
            print(f"our client, fastmcp-tasks: {arguments[0]}: {'well' if ours else lines}")
            failures += [] if ours else [f"our client: {arguments[0]}: {lines}"]
        return failures


def call(url, arguments):
    command = [TARGET / "debug/examples/peer_client", url, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return lines or [{"error": done.stderr}]


def text(lines):
    content = lines[-1].get("result", {}).get("content") or [{}]
    return content[0].get("text")


def asked(lines):
    return sum("asked" in line for line in lines)


def their_client(node):
    expected = {
        "plain": {"kind": "immediate", "text": "Hello, Ada!"},
        "result": {"kind": "task", "text": "the computation took 1 s"},
        "question": {"kind": "task", "text": "a.txt is deleted"},
        "cancelled": {"kind": "task", "error": "TaskCancelledError"},
        "asked": 1,
    }
    # A module is looked up beside the file that asks for it.
    shutil.copy(HERE / "client.mjs", node)
    with running([TARGET / "debug/examples/conformance", "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
        url = server.stdout.readline().strip()
        command = ["node", node / "client.mjs", url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return [f"ext-tasks: {done.stdout}{done.stderr}"]
    wrong = {key: said.get(key) for key, value in expected.items() if said.get(key) != value}
    print(f"ext-tasks, our server: {wrong or 'well'}; it used {', '.join(said['methods'])}")
    return [f"ext-tasks: {wrong}"] if wrong else []


if __name__ == "__main__":
    main()
