"""A client that writes down what was acknowledged to it, and says what became of that.

It keeps asking while servers come and go. A request that got no answer says nothing: the task may or may not be there. One
that was acknowledged is a promise, and `Ledger.broken` lists the promises that were not kept.
"""

import asyncio
import json
import random
from dataclasses import dataclass, field

TASKS = "io.modelcontextprotocol/tasks"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "faults", "version": "1.0"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}, "extensions": {TASKS: {}}},
}
# A call made again with its key is the same call.
KEY = "rs.mcp-tasks/idempotency-key"
TERMINAL = {"completed", "failed", "cancelled"}
# How long a request waits for its answer, in seconds.
PATIENCE = 5


class NoAnswer(Exception):
    """The request may or may not have been obeyed."""


class Refused(Exception):
    """A JSON-RPC error. An internal one says that nothing is promised, not that nothing was done: the store may have been
    lost just after it did."""

    def __init__(self, error):
        super().__init__(json.dumps(error))
        self.code = error["code"]


async def ask(url, method, target, params, meta={}):
    """One request on a connection of its own; `target` is what it is about, the tool or the task."""
    host, _, path = url.removeprefix("http://").partition("/")
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": {**META, **meta}}}).encode()
    head = [f"POST /{path} HTTP/1.1", f"host: {host}", "connection: close", "content-type: application/json"]
    head += ["accept: application/json, text/event-stream", "mcp-protocol-version: 2026-07-28"]
    head += [f"mcp-method: {method}", f"mcp-name: {target}", f"content-length: {len(body)}", "", ""]
    try:
        answer = await asyncio.wait_for(exchange(host, "\r\n".join(head).encode() + body), PATIENCE)
        message = json.loads(answer.partition(b"\r\n\r\n")[2])
    except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, ValueError) as error:
        raise NoAnswer(repr(error)) from error
    if "error" in message:
        raise Refused(message["error"])
    return message["result"]


async def exchange(host, request):
    address, port = host.split(":")
    reader, writer = await asyncio.open_connection(address, int(port))
    try:
        writer.write(request)
        return await reader.read()
    finally:
        writer.close()


@dataclass
class Promise:
    """A task whose creation was acknowledged, and what else was."""

    id: str
    tool: str
    word: str
    # Somebody asked for its cancellation, and it was acknowledged that it is cancelled.
    tried: bool = False
    cancelled: bool = False
    answered: str = None
    # The first terminal state that was read.
    end: dict = None
    broken: list = field(default_factory=list)


class Ledger:
    """What was acknowledged, and what was read since."""

    def __init__(self):
        self.promises = []
        # Of calls that were to make a task: how many got an error, and how many got nothing.
        self.refused = self.unanswered = 0

    def read(self, promise, task):
        """Takes notice of a state."""
        if promise.end is None:
            if task["status"] in TERMINAL:
                promise.end = task
        elif task != promise.end:
            promise.broken.append(f"ended twice: {promise.end} and then {task}")

    def missing(self, promise):
        """The server says that there is no such task, which ends it as far as anybody is concerned."""
        if promise.end is None or promise.end["status"] != "unknown":
            promise.broken.append("was acknowledged and is unknown")
        promise.end = {"status": "unknown"}

    def broken(self, starts, words):
        """What was promised and not kept, given how often each task's tool was started, and `once` with each word."""
        found = [f"{promise.tool} {promise.id}: {what}" for promise in self.promises for what in promise.broken]
        for promise in self.promises:
            found += [f"{promise.tool} {promise.id}: {what}" for what in verdicts(promise, starts.get(promise.id, 0))]
        return found + [f"the call {word!r} started `once` {count} times" for word, count in words.items() if count > 1]


def verdicts(promise, started):
    """What is wrong with how a task ended."""
    if promise.end is None:
        yield "did not end"
        return
    status = promise.end["status"]
    if promise.tool == "once" and started > 1:
        yield f"was started {started} times"
    if status == "unknown":
        return
    if promise.cancelled and status != "cancelled":
        yield f"was cancelled and is {status}"
    if status == "cancelled" and not promise.tried:
        yield "is cancelled and nobody asked for that"
    if status == "failed":
        if promise.tool != "once":
            yield f"failed: {promise.end.get('statusMessage')}"
        elif "restarted" not in promise.end.get("statusMessage", ""):
            yield f"failed without saying that the server restarted: {promise.end}"
    if status == "completed":
        said, due = promise.end["result"]["content"][0]["text"], promise.answered or promise.word
        if said != due:
            yield f"said {said!r} and not {due!r}"


class Client:
    """Creates tasks one after the other, each with a life of its own."""

    def __init__(self, urls, ledger, seed):
        # A function, for servers come back at other addresses.
        self.urls = urls
        self.ledger = ledger
        self.random = random.Random(seed)
        self.words = 0

    async def work(self, stop):
        """Begins tasks until `stop` is set."""
        lives = set()
        while not stop.is_set():
            promise = await self.begin()
            if promise:
                life = asyncio.ensure_future(self.follow(promise, stop))
                lives.add(life)
                life.add_done_callback(lives.discard)
            await asyncio.sleep(self.random.uniform(0.005, 0.05))
        await asyncio.gather(*lives)

    def url(self):
        return self.random.choice(self.urls())

    async def begin(self):
        tool = self.random.choice(["once", "again", "ask"])
        self.words += 1
        word = f"word {self.words} of {id(self)}"
        arguments = {} if tool == "ask" else {"millis": self.random.choice([0, 50, 300, 1500]), "word": word}
        call = {"name": tool, "arguments": arguments}
        task = await self.create(tool, call, key=word)
        if task is None:
            return None
        promise = Promise(task["taskId"], tool, word)
        self.ledger.promises.append(promise)
        return promise

    async def create(self, tool, call, key):
        """Makes a call, and makes it again with its key for as long as nobody says what became of it."""
        while True:
            try:
                return await ask(self.url(), "tools/call", tool, call, {KEY: key})
            except NoAnswer:
                self.ledger.unanswered += 1
                await asyncio.sleep(0.1)
            except Refused:
                self.ledger.refused += 1
                return None

    async def follow(self, promise, stop):
        """Polls a task, answers what it asks, and may cancel it."""
        cancel_at = self.random.randrange(8) if self.random.random() < 0.3 else None
        polls = 0
        while not stop.is_set():
            await asyncio.sleep(self.random.uniform(0.02, 0.2))
            task = await self.poll(promise)
            polls += 1
            ended = promise.end is not None
            if ended and (polls > 10 or promise.end["status"] == "unknown"):
                return
            if task and task["status"] == "input_required" and promise.answered is None:
                await self.answer(promise)
            if polls == cancel_at and promise.end is None:
                await self.cancel(promise)

    async def poll(self, promise):
        try:
            task = await ask(self.url(), "tasks/get", promise.id, {"taskId": promise.id})
        except NoAnswer:
            return None
        except Refused as refused:
            if refused.code == -32602:
                self.ledger.missing(promise)
            return None
        self.ledger.read(promise, task)
        return task

    async def answer(self, promise):
        self.words += 1
        word = f"answer {self.words} of {id(self)}"
        response = {"action": "accept", "content": {"word": word}}
        try:
            await ask(self.url(), "tasks/update", promise.id, {"taskId": promise.id, "inputResponses": {"word": response}})
        except (NoAnswer, Refused):
            # It may have been taken: of answers to one key the first counts, so this one is given again.
            promise.word = word
            await self.repeat(promise, response)
            return
        promise.answered = word

    async def repeat(self, promise, response):
        while promise.answered is None:
            await asyncio.sleep(0.1)
            try:
                await ask(self.url(), "tasks/update", promise.id, {"taskId": promise.id, "inputResponses": {"word": response}})
            except NoAnswer:
                continue
            except Refused as refused:
                if refused.code == -32602:
                    self.ledger.missing(promise)
                    return
                continue
            promise.answered = response["content"]["word"]

    async def cancel(self, promise):
        """Only of a task that has not ended when the acknowledgement comes can it be said that it ends as cancelled."""
        promise.tried = True
        try:
            await ask(self.url(), "tasks/cancel", promise.id, {"taskId": promise.id})
        except NoAnswer:
            # It may have been cancelled, or not.
            await self.cancel_again(promise)
            return
        except Refused as refused:
            if refused.code == -32602:
                self.ledger.missing(promise)
            return
        await self.settle_cancellation(promise)

    async def cancel_again(self, promise):
        while True:
            await asyncio.sleep(0.1)
            try:
                await ask(self.url(), "tasks/cancel", promise.id, {"taskId": promise.id})
            except NoAnswer:
                continue
            except Refused:
                return
            await self.settle_cancellation(promise)
            return

    async def settle_cancellation(self, promise):
        """The tools here are dropped when they are cancelled: an acknowledged cancellation has ended the task."""
        while promise.end is None:
            await asyncio.sleep(0.05)
            task = await self.poll(promise)
            if task and task["status"] not in TERMINAL:
                promise.broken.append(f"its cancellation was acknowledged, and then it was {task['status']}")
                return
        promise.cancelled = promise.end["status"] == "cancelled"
