"""Servers as processes that can be killed, frozen, and started again; and a wire that can be cut."""

import asyncio
import os
import signal
import subprocess


class Node:
    """One server process at a time, on a store and a log that outlive it."""

    def __init__(self, program, store, log, errors):
        self.command, self.errors = [str(program), store, str(log)], errors
        self.process = self.url = None

    async def start(self):
        environment = {**os.environ, "RUST_BACKTRACE": "1"}
        self.process = await asyncio.create_subprocess_exec(
            *self.command, stdout=subprocess.PIPE, stderr=self.errors, env=environment
        )
        line = await asyncio.wait_for(self.process.stdout.readline(), 30)
        if not line:
            raise RuntimeError(f"the server did not start: {self.command}")
        self.url = line.decode().strip()

    async def kill(self):
        if self.process and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)


class Wire:
    """A TCP connection to a database that goes through here. `state` is `open`, `stuck` (nothing passes, nothing ends) or
    `cut` (connections are reset, new ones are refused)."""

    def __init__(self, host, port):
        self.target, self.state = (host, port), "open"
        self.server, self.writers = None, set()

    async def open(self):
        self.server = await asyncio.start_server(self.connected, "127.0.0.1", 0)
        return self.server.sockets[0].getsockname()[1]

    def set(self, state):
        self.state = state
        if state == "cut":
            for writer in list(self.writers):
                writer.transport.abort()

    async def connected(self, reader, writer):
        if self.state == "cut":
            writer.transport.abort()
            return
        try:
            behind_reader, behind_writer = await asyncio.open_connection(*self.target)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, behind_writer}
        self.writers |= both
        await asyncio.gather(self.pump(reader, behind_writer), self.pump(behind_reader, writer))
        self.writers -= both

    async def pump(self, reader, writer):
        try:
            while data := await reader.read(65536):
                while self.state == "stuck":
                    await asyncio.sleep(0.02)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.transport.abort()

    async def close(self):
        self.set("cut")
        self.server.close()
        await self.server.wait_closed()
