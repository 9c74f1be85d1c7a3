"""A tunnel to a server that keeps what passes through it."""

import json
import select
import socket
import threading


class Recorder:
    """Listens on `port`; what it hears goes to `server_port` on this machine, and the answers back, byte by byte."""

    def __init__(self, server_port):
        self._server_port = server_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._tapes = []

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            tape = (bytearray(), bytearray())
            self._tapes.append(tape)
            threading.Thread(target=self._pump, args=(client, tape), daemon=True).start()

    def _pump(self, client, tape):
        try:
            server = socket.create_connection(("127.0.0.1", self._server_port))
        except OSError:
            client.close()
            return
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ways = {client: (server, tape[0]), server: (client, tape[1])}
        try:
            while True:
                for source in select.select(list(ways), [], [])[0]:
                    target, record = ways[source]
                    data = source.recv(65536)
                    if not data:
                        return
                    record += data
                    target.sendall(data)
        except OSError:
            pass
        finally:
            client.close()
            server.close()

    def exchanges(self):
        """`{"request": message, "status": n, "messages": [message, ...]}` of each POST that had a JSON message."""
        found = []
        for requests, responses in self._tapes:
            for (head, body), (answer_head, answer) in zip(http(bytes(requests)), http(bytes(responses))):
                request = message(body)
                if head.startswith(b"POST") and request is not None:
                    status = int(answer_head.split()[1])
                    found.append({"request": request, "status": status, "messages": messages(answer_head, answer)})
        return found


def http(text):
    """Heads and bodies of the messages of one direction."""
    while text:
        head, separator, rest = text.partition(b"\r\n\r\n")
        if not separator:
            return
        headers = {
            name.strip().lower(): value.strip().lower()
            for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
        }
        if headers.get(b"transfer-encoding") == b"chunked":
            body, text = chunks(rest)
        else:
            length = int(headers.get(b"content-length", b"0"))
            body, text = rest[:length], rest[length:]
        yield head, body


def chunks(text):
    body = b""
    while True:
        size, separator, text = text.partition(b"\r\n")
        if not separator:
            return body, b""
        length = int(size, 16)
        body, text = body + text[:length], text[length + 2 :]
        if length == 0:
            return body, text


def messages(head, body):
    if b"text/event-stream" not in head.lower():
        return [one for one in [message(body)] if one is not None]
    data = [line[5:].strip() for line in body.split(b"\n") if line.startswith(b"data:")]
    return [one for one in map(message, data) if one is not None]


def message(text):
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
