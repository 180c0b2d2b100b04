"""A real PostgreSQL for tests: a server in a temporary folder, reached by its UNIX socket, a database for each test."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from geocrawl.store.store import Store
from tests.support.parts import POSTGRESQL, lack
from tests.support.world import ManualClock

PLACES = ("/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt")
# A test's data need not survive a power cut, and its log need not fill a disk in memory.
_HASTY = (
    *("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off"),
    *("wal_level=minimal", "max_wal_senders=0", "min_wal_size=32MB", "max_wal_size=64MB"),
)
_DISK_IN_MEMORY = Path("/dev/shm")
_ROOM_IN_MEMORY = 2 << 30
"""Bytes: five servers take 100 MB each."""
_TEMPLATE = "template_with_tables"
_COPYING = "STRATEGY FILE_COPY"
"""It takes half the CPU of the default, which writes each block into the log."""


def programs() -> Path | None:
    """Return the folder of the newest installed server's programs; None without a server."""
    found = [path for place in PLACES for path in Path(place).glob("*/bin/initdb")]
    number = {path: path.parent.parent.name for path in found}
    newest = max(found, key=lambda path: int(number[path]) if number[path].isdigit() else 0, default=None)
    if newest is None:
        named = shutil.which("pg_ctl")
        return Path(named).resolve().parent if named else None
    return newest.parent


def programs_or_skip() -> Path:
    """Return the folder of the server's programs; skip the test without them, in CI fail."""
    folder = programs()
    if folder is None or find_spec("psycopg") is None:
        lack(POSTGRESQL)
    return folder


def _account() -> pwd.struct_passwd | None:
    """Return the account that runs a server for root, whom PostgreSQL refuses; None for other users."""
    if os.geteuid():
        return None
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


def _folder_for_data(hasty: bool) -> str:
    """Return where a server's folder is made; the name of its socket must be short.

    A database is 350 files. To make and remove them takes ten times as long on a disk as in memory.
    """
    fits = os.access(_DISK_IN_MEMORY, os.W_OK) and shutil.disk_usage(_DISK_IN_MEMORY).free > _ROOM_IN_MEMORY
    return str(_DISK_IN_MEMORY) if hasty and fits else "/tmp"


class Server:
    """A running server."""

    def __init__(self, folder: Path, *, hasty: bool = True) -> None:
        self.folder = folder
        self._programs = programs_or_skip()
        settings = (*(_HASTY if hasty else ()), "listen_addresses=", "max_connections=60")
        self._options = [word for setting in settings for word in ("-c", setting)]
        self._account = account = _account()
        self._numbers = 0
        self._process: subprocess.Popen[bytes] | None = None
        folder.chmod(0o755)
        data = folder / "data"
        data.mkdir()
        if account is not None:
            shutil.chown(folder, account.pw_uid)
            shutil.chown(data, account.pw_uid)
        made = ["-D", str(data), "-U", "geocrawl", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        self._run(["initdb", *made])
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        command = [str(self._programs / "postgres"), "-D", str(self.folder / "data"), "-k", str(self.folder)]
        with (self.folder / "log").open("ab") as log:
            self._process = self._popen([*command, *self._options], log)
        import psycopg

        until = time.monotonic() + 240
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=20).close()
                return
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def stop(self, mode: str = "immediate") -> None:
        """End the server; `immediate` is what a crash does."""
        if self._process is not None:
            self._run(["pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop"])
            self._process.wait(240)
            self._process = None

    def kill(self) -> None:
        """Kill the server's first process (kill -9), and wait until its children have ended, too."""
        pid = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        assert self._process is not None
        self._process.wait(240)
        time.sleep(0.3)

    def cpu_s(self) -> float:
        """Return the seconds of CPU that the server has taken so far, with all its processes."""
        assert self._process is not None
        first = self._process.pid
        ticks = sum(_ticks(pid) for pid in (first, *_children(first)))
        return ticks / os.sysconf("SC_CLK_TCK")

    def url(self, database: str) -> str:
        """Return the URL of a database."""
        return f"postgresql://geocrawl@/{database}?host={self.folder}"

    @property
    def socket(self) -> Path:
        """Return the UNIX socket, for a relay in front of the server."""
        return self.folder / ".s.PGSQL.5432"

    def url_over_tcp(self, url: str, port: int) -> str:
        """Return the URL of the same database through a relay on a port of 127.0.0.1."""
        return f"postgresql://geocrawl@127.0.0.1:{port}/{name_of(url)}"

    def new_database(self, *, template: str = "template0") -> str:
        """Make an empty database, or a copy of another one; return its URL."""
        self._numbers += 1
        name = f"t{self._numbers}"
        self.command(f"CREATE DATABASE {name} TEMPLATE {template} {_COPYING}")
        return self.url(name)

    def new_catalogue(self) -> str:
        """Make a database with our tables; return its URL."""
        if not self.command(f"SELECT 1 FROM pg_database WHERE datname = '{_TEMPLATE}'"):
            self.command(f"CREATE DATABASE {_TEMPLATE} TEMPLATE template0")
            Store.open(self.url(_TEMPLATE), clock=ManualClock()).close()
        return self.new_database(template=_TEMPLATE)

    def drop(self, url: str) -> None:
        """Remove a database, whoever is connected: hundreds fill a disk, and take a minute to remove at the end."""
        self.command(f"DROP DATABASE {name_of(url)} WITH (FORCE)")

    def dump(self, url: str, file: str) -> Path:
        """Write a dump of a catalogue, as docs/postgresql.md says; return its file."""
        path = self.folder / file
        self._run(["pg_dump", "-Fc", "-n", "geocrawl", "-f", str(path), "-d", url])
        return path

    def restored(self, dump: Path) -> str:
        """Restore a dump into a new database; return its URL."""
        url = self.new_database()
        self._run(["pg_restore", "-d", url, str(dump)])
        return url

    def command(self, text: str) -> list[tuple[object, ...]]:
        """Execute a statement in the database `postgres`; return its rows."""
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            cursor = connection.execute(text)
            return list(cursor.fetchall()) if cursor.description else []

    def _run(self, command: list[str]) -> None:
        with tempfile.TemporaryFile() as said:
            code = self._popen([str(self._programs / command[0]), *command[1:]], said).wait()
            said.seek(0)
            assert code == 0, said.read().decode()

    def _popen(self, command: list[str], said: IO[bytes]) -> subprocess.Popen[bytes]:
        if self._account is None:
            return subprocess.Popen(command, stdout=said, stderr=said, cwd="/", start_new_session=True)
        uid, gid = self._account.pw_uid, self._account.pw_gid
        return subprocess.Popen(
            command,
            stdout=said,
            stderr=said,
            cwd="/",
            start_new_session=True,
            user=uid,
            group=gid,
            extra_groups=[],
        )


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _ticks(pid: int) -> int:
    """Return the time of a process and of its ended children (proc(5), stat); 0 for one that ended meanwhile."""
    try:
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
    except FileNotFoundError:
        return 0


def name_of(url: str) -> str:
    """Return the name of the database in a URL of `Server.url`."""
    return url.partition("@/")[2].partition("?")[0]


@contextmanager
def running_server(*, hasty: bool = True) -> Iterator[Server]:
    """Yield a server of its own, which is stopped and removed in the end."""
    programs_or_skip()
    with tempfile.TemporaryDirectory(prefix="gcpg-", dir=_folder_for_data(hasty)) as folder:
        server = Server(Path(folder), hasty=hasty)
        try:
            yield server
        finally:
            server.stop()
