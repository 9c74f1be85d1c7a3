#!/usr/bin/env python3
"""Runs the official conformance suite against `examples/conformance.rs`, and fails if anything is amiss.

1. Installs the pinned suite into target/conformance, once.
2. Starts the example server on a free port, behind a recorder that lets every byte through.
3. Runs the ten scenarios about tasks: 44 checks succeed, 1 is skipped by the suite itself.
4. Runs the frozen core set (`--requirements 2026-07-28`): what fails there is what EXCUSED says, and nothing else.
5. Holds every answer that was recorded against our own schema, for the suite looks at few fields. That this finds
   faults is tried first, with planted ones (planted.py).

Needs python3, node (20 or later), npm, cargo. Options: --store memory, sqlite (a file below target/) or postgres (the URL in
MCP_TASKS_TEST_POSTGRES; features of PostgreSQL are built then), --server PATH for a server that is built already,
--skip-requirements, --record FILE to keep what was recorded as JSON lines.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.dont_write_bytecode = True

from recorder import Recorder
from schema import Schema, problems_of

SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
HOME = TARGET / "conformance"

SCENARIOS = [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-status-notifications",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
]
FULL_MARKS = {"SUCCESS": 44, "SKIPPED": 1}

# Checks of the frozen core set that this server does not pass, each with the reason why that says nothing about tasks.
EXCUSED = json.loads((HERE / "excused.json").read_text())


def main():
    options = arguments()
    subprocess.run([sys.executable, "-B", "-m", "unittest", "--quiet", "planted"], cwd=HERE, check=True)
    suite = install()
    server = options.server or build(options.store)
    with tempfile.TemporaryDirectory(prefix="conformance-", dir=TARGET) as folder:
        check(options, suite, *start(server, place(options.store, folder)))


def check(options, suite, process, port):
    """Runs everything against the server, and exits."""
    try:
        with Recorder(port) as recorder:
            url = f"http://127.0.0.1:{recorder.port}/mcp"
            failures = tasks(suite, url)
            if not options.skip_requirements:
                failures += requirements(suite, url)
        exchanges = recorder.exchanges()
    finally:
        process.terminate()
        process.wait(10)
    if options.record:
        Path(options.record).write_text("".join(json.dumps(exchange) + "\n" for exchange in exchanges))
    failures += own_schema(exchanges)
    for failure in failures:
        print(f"FAILED {failure}")
    sys.exit(1 if failures else 0)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", choices=["memory", "sqlite", "postgres"], default="memory")
    parser.add_argument("--server")
    parser.add_argument("--skip-requirements", action="store_true")
    parser.add_argument("--record")
    return parser.parse_args()


def install():
    """The command that runs the suite."""
    entry = HOME / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    stamp = HOME / "installed"
    if not entry.exists() or not stamp.exists() or stamp.read_text() != SUITE:
        shutil.rmtree(HOME, ignore_errors=True)
        HOME.mkdir(parents=True)
        (HOME / "package.json").write_text("{}\n")
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts", SUITE],
            cwd=HOME,
            check=True,
        )
        stamp.write_text(SUITE)
    version = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout
    shim = [] if int(version.lstrip("v").split(".")[0]) >= 22 else ["--import", str(HERE / "node20.mjs")]
    return ["node", *shim, str(entry), "server"]


def place(store, folder):
    """What the server calls the store."""
    url = os.environ.get("MCP_TASKS_TEST_POSTGRES", "")
    return {"memory": "memory", "sqlite": f"{folder}/tasks.db", "postgres": f"{url}?sslmode=disable"}[store]


def build(store):
    features = ["--features", "postgres"] if store == "postgres" else []
    subprocess.run(["cargo", "build", "--quiet", "--example", "conformance", *features], cwd=ROOT, check=True)
    return TARGET / "debug/examples/conformance"


def start(server, store):
    process = subprocess.Popen([server, "--port", "0", "--store", store], stdout=subprocess.PIPE, text=True)
    url = process.stdout.readline().strip()
    if not url.startswith("http://127.0.0.1:"):
        process.terminate()
        sys.exit(f"the server did not start: {url!r}")
    return process, int(url.split(":")[2].split("/")[0])


def run(suite, url, *what):
    """Runs the suite, and gives the checks of each scenario."""
    out = HOME / "out" / what[-1]
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run(
        [*suite, "--url", url, *what, "-o", str(out)], capture_output=True, text=True, timeout=1200, cwd=HOME
    )
    checks = {path.parent.name: json.loads(path.read_text()) for path in sorted(out.rglob("checks.json"))}
    if not checks:
        print(done.stdout[-4000:], done.stderr[-4000:], sep="\n")
    return checks


def tasks(suite, url):
    count, failures, begun = Counter(), [], time.monotonic()
    for scenario in SCENARIOS:
        checks = [check for checks in run(suite, url, "--scenario", scenario).values() for check in checks]
        count.update(check["status"] for check in checks)
        failures += [describe(scenario, check) for check in checks if check["status"] not in ("SUCCESS", "SKIPPED", "INFO")]
    print(f"tasks scenarios: {dict(count)} in {time.monotonic() - begun:.0f} s")
    if {status: count[status] for status in FULL_MARKS} != FULL_MARKS or set(count) - {*FULL_MARKS, "INFO"}:
        failures.append(f"full marks are {FULL_MARKS}, and these are {dict(count)}")
    return failures


def requirements(suite, url):
    count, failed = Counter(), {}
    for folder, checks in run(suite, url, "--requirements", "2026-07-28").items():
        count.update(check["status"] for check in checks)
        failed[scenario_of(folder)] = [check for check in checks if check["status"] == "FAILURE"]
    print(f"core requirements of 2026-07-28: {dict(count)}; excused:")
    failures = [] if count else ["the core requirements were not run"]
    for scenario, checks in sorted(failed.items()):
        excused = EXCUSED.get(scenario, {"checks": []})
        if checks and excused["checks"]:
            print(f"  {scenario}: {excused['why']}")
        failures += [describe(scenario, check) for check in checks if check["id"] not in excused["checks"]]
        over = set(excused["checks"]) - {check["id"] for check in checks}
        failures += [f"{scenario}: {check} passes: take it out of excused.json" for check in sorted(over)]
    return failures


def scenario_of(folder):
    """`server-NAME-2026-11-30T02-00-00-000Z` -> `NAME`"""
    return folder.removeprefix("server-").split("-20")[0]


def describe(scenario, check):
    return f"{scenario}: {check['id']}: {check.get('errorMessage') or check.get('description')}"


def own_schema(exchanges):
    schema = Schema(ROOT / "generated/src/v2026_07_28/schema.json")
    count, failures = Counter(), []
    for exchange in exchanges:
        for kind, problem in problems_of(schema, exchange):
            count[kind] += 1
            if problem:
                failures.append(f"{kind}: {problem}: {json.dumps(exchange)[:600]}")
    print(f"held against our schema: {dict(count)}")
    for kind in ("CreateTaskResult", "GetTaskResult", "UpdateTaskResult", "CancelTaskResult", "error"):
        if not count[kind]:
            failures.append(f"no {kind} was recorded")
    return failures


if __name__ == "__main__":
    main()
