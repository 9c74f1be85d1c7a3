#!/usr/bin/env python3
"""Kills servers, freezes them, cuts them from their database and kills that, and asks of each promise whether it was kept.

    tests/faults/run.py sqlite [--rounds 50]
    tests/services/postgres.py -- tests/faults/run.py postgres [--rounds 30]
    tests/faults/run.py control      on a store that forgets: passes if that is noticed

What counts is what was acknowledged to the clients (client.py): no such task, answer or cancellation may be lost, no task
may end twice, no tool that is not `rerun` may be started twice, and when all is quiet again every task ends within the
lease and a sweep. `--seed` repeats the clients' choices, though not the timing.
"""

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

sys.dont_write_bytecode = True

from client import Client, Ledger
from nodes import Node, Wire

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
CLIENTS = 8
# The lease and the sweep of node.rs, the longest work of a tool, and what a busy machine may add, in seconds.
RECOVERY = 2 + 0.25 + 1.5 + 8


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", choices=["sqlite", "postgres", "control"])
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--only", help="one kind of trouble: killed, frozen, cut, database_killed")
    parser.add_argument("--server", help="a server that is built already")
    given = parser.parse_args()
    program = given.server or build(given.store)
    print(f"seed {given.seed}", flush=True)
    scenario = {"sqlite": on_sqlite, "postgres": on_postgres, "control": on_memory}[given.store]
    with tempfile.TemporaryDirectory(prefix="faults-", dir=TARGET) as folder:
        broken = asyncio.run(scenario(program, Path(folder), given))
    for what in broken[:20]:
        print(what)
    print(f"{len(broken)} promises broken")
    sys.exit(int(bool(broken) != (given.store == "control")))


def build(store):
    features = ["http", "sqlite"] + (["postgres"] if store == "postgres" else [])
    command = ["cargo", "build", "--locked", "-p", "mcp-tasks", "--example", "faults_node", "--features", ",".join(features)]
    subprocess.run(command, cwd=ROOT, check=True)
    return TARGET / "debug/examples/faults_node"


class Scene:
    """Nodes on one store, and clients that work on them all the while."""

    def __init__(self, program, folder, stores, seed):
        self.log, self.errors = folder / "starts", open(folder / "stderr", "ab")
        self.nodes = [Node(program, store, self.log, self.errors) for store in stores]
        self.ledger, self.stop = Ledger(), asyncio.Event()
        urls = lambda: [node.url for node in self.nodes]
        self.clients = [Client(urls, self.ledger, seed + number) for number in range(CLIENTS)]

    async def run(self, trouble):
        """Works while there is trouble, and then until every task has ended; says what was promised and not kept."""
        for node in self.nodes:
            await node.start()
        work = [asyncio.ensure_future(client.work(self.stop)) for client in self.clients]
        try:
            await trouble(self.nodes)
            self.stop.set()
            await asyncio.gather(*work)
            slowest = await self.settle()
            broken = self.ledger.broken(*self.starts())
        finally:
            for node in self.nodes:
                await node.kill()
            self.errors.close()
        ends = Counter(promise.end["status"] for promise in self.ledger.promises if promise.end)
        asked = sum(promise.answered is not None for promise in self.ledger.promises)
        print(f"{len(self.ledger.promises)} tasks: {dict(ends)}, {asked} answers; the last ended after {slowest:.1f} s")
        print(f"  {self.ledger.refused} calls refused, {self.ledger.unanswered} without an answer")
        return broken

    async def settle(self):
        """Answers what is open, and waits for the end of each task."""
        start = time.monotonic()
        open_ones = [promise for promise in self.ledger.promises if promise.end is None]
        client = self.clients[0]
        while open_ones and time.monotonic() < start + RECOVERY:
            for promise in open_ones:
                task = await client.poll(promise)
                if task and task["status"] == "input_required" and promise.answered is None:
                    await client.answer(promise)
            open_ones = [promise for promise in open_ones if promise.end is None]
            await asyncio.sleep(0.05)
        taken = time.monotonic() - start
        # What has ended stays as it is, wherever it is read.
        for promise in self.ledger.promises:
            await client.poll(promise)
        return taken

    def starts(self):
        """How often the tool of each task was started, and how often `once` with each word."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        fields = [line.split(" ", 3) for line in lines]
        return Counter(task for task, *_ in fields), Counter(word for _, tool, _, word in fields if tool == "once")


async def on_sqlite(program, folder, given):
    """One process on a file, killed again and again."""
    return await killed_alone(program, folder, given, f"sqlite:{folder}/tasks.db", given.rounds or 50)


async def on_memory(program, folder, given):
    """The same where nothing outlives the process."""
    return await killed_alone(program, folder, given, "memory:", given.rounds or 2)


async def killed_alone(program, folder, given, store, rounds):
    chance = random.Random(given.seed)
    print(f"kill -9 on {store.partition(':')[0]}, {rounds} rounds", flush=True)

    async def trouble(nodes):
        for _ in range(rounds):
            await asyncio.sleep(chance.uniform(0.05, 0.6))
            await nodes[0].kill()
            await nodes[0].start()

    return await Scene(program, folder, [store], given.seed).run(trouble)


async def on_postgres(program, folder, given):
    """Three nodes on one database: each kind of trouble in turn."""
    # Its certificate signs itself; with TLS built in it would be refused.
    url = os.environ["MCP_TASKS_TEST_POSTGRES"] + "?sslmode=disable"
    control = os.environ["MCP_TASKS_TEST_POSTGRES_CONTROL"]
    rounds = given.rounds or 30
    chance = random.Random(given.seed)
    wire = Wire(urlsplit(url).hostname, urlsplit(url).port)
    through = urlsplit(url)._replace(netloc=f"{urlsplit(url).netloc.rpartition('@')[0]}@127.0.0.1:{await wire.open()}")

    async def killed(nodes):
        for _ in range(rounds):
            await asyncio.sleep(chance.uniform(0.05, 0.6))
            node = chance.choice(nodes)
            await node.kill()
            await node.start()

    async def frozen(nodes):
        for _ in range(max(1, rounds // 10)):
            node = chance.choice(nodes)
            node.freeze()
            await asyncio.sleep(3)
            node.thaw()
            await asyncio.sleep(0.5)

    async def cut(nodes):
        for state in ["cut", "stuck"] * max(1, rounds // 30):
            for seconds in [0.5, 4]:
                wire.set(state)
                await asyncio.sleep(seconds)
                wire.set("open")
                await asyncio.sleep(1)

    async def database_killed(nodes):
        for _ in range(max(1, rounds // 15)):
            await asyncio.sleep(1)
            await tell(control, "kill")
            await asyncio.sleep(chance.uniform(0, 1))
            await tell(control, "start")
            await asyncio.sleep(2)

    broken = []
    troubles = [("kill -9 of nodes", killed), ("frozen nodes", frozen), ("a node cut off", cut), ("kill -9 of PostgreSQL", database_killed)]
    for number, (name, trouble) in enumerate(troubles):
        if given.only not in (None, trouble.__name__):
            continue
        print(f"{name}, three nodes", flush=True)
        part = folder / str(number)
        part.mkdir()
        # The first node's connections go through the wire.
        stores = [through.geturl(), url, url]
        start = time.monotonic()
        broken += await Scene(program, part, stores, given.seed + number).run(trouble)
        print(f"  in {time.monotonic() - start:.0f} s", flush=True)
    await wire.close()
    return broken


async def tell(control, word):
    host, port = control.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(word.encode() + b"\n")
    answer = await reader.readline()
    writer.close()
    if answer != b"ok\n":
        raise RuntimeError(f"{word}: {answer.decode()}")


if __name__ == "__main__":
    main()
