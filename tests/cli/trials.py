"""Try every command that writes at every place that it must not harm.

A trial runs one command (`writers.WRITERS`) in a process of its own, forked from this one, which spares the imports.
Root's gives up its privileges first, so that the rights of files count.
"""

from __future__ import annotations

import ctypes
import gzip
import importlib
import json
import os
import pkgutil
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

import geocrawl
from geocrawl.cli import main
from tests.cli.writers import Writer
from tests.support.processes import clean_environment

LIMIT_S = 600.0
_CAPABILITIES_V3 = 0x20080522
"""capget(2)."""
_COUNTED = ("url", "host", "endpoint", "service", "seed", "page_store")
_KEPT = ("other.db", "kept.db", "read-only")
_WEB = """
import signal, threading
from geocrawl.demo import DemoWeb
with DemoWeb() as web:
    print(web.proxy_url, *web.seeds, flush=True)
    stop = threading.Event(); signal.signal(signal.SIGTERM, lambda *_: stop.set()); stop.wait()
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """What one command did at one place."""

    command: str
    place: str
    exit_code: int
    said: str
    """The last line that it printed."""
    problems: tuple[str, ...]
    """What must not be: something lost, left over or said unclearly."""


class Scene:
    """A folder with a catalogue, and all that the commands read."""

    def __init__(self, folder: Path, proxy: str, seeds: list[str]) -> None:
        """`folder` is empty; `proxy` serves the demo's web, which `seeds` lead into."""
        self.folder = folder
        self.seeds = seeds
        self.environ = {
            **clean_environment(folder, XDG_DATA_HOME=str(folder / "data"), XDG_CACHE_HOME=str(folder / "cache")),
            **{"GEOCRAWL_DB": "c.db", "GEOCRAWL_PROXY": proxy, "GEOCRAWL_STORE_PAGES": "true"},
            **{"GEOCRAWL_STORE_PAGES_MIN_SCORE": "0", "GEOCRAWL_PATIENCE": "0s", "GEOCRAWL_DATABASE_PATIENCE": "1s"},
        }
        self._small = (folder / "small").is_mount()
        self._fill()

    @property
    def database(self) -> Path:
        """The catalogue that must not be harmed."""
        return self.folder / "c.db"

    # ----------------------------------------------------------------------- commands

    def run(self, *arguments: str, environ: Mapping[str, str] | None = None) -> tuple[int, str]:
        """Return the exit code of a command and what it printed; -9 when it took longer than `LIMIT_S`."""
        with tempfile.TemporaryFile() as out:
            child = os.fork()
            if child == 0:
                code = 70
                try:
                    self._become(out.fileno(), {**self.environ, **(environ or {})})
                    code = _main(arguments)
                except BaseException:
                    os.write(2, traceback.format_exc().encode())
                finally:
                    os._exit(code)
            code = _wait(child)
            out.seek(0)
            return code, out.read().decode("utf-8", "replace")

    def _become(self, out: int, environ: Mapping[str, str]) -> None:
        """Let this process be a command's: its streams, its folder, no privileges."""
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in (1, 2):
            os.dup2(out, number)
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(environ)
        if os.geteuid() == 0:
            header, none = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0), (ctypes.c_uint32 * 6)()
            if ctypes.CDLL(None, use_errno=True).capset(header, none):
                raise OSError(ctypes.get_errno(), "capset")

    # ----------------------------------------------------------------------- what is there

    def _fill(self) -> None:
        """Make the catalogue by a short crawl, and the other files."""
        folder = self.folder
        self.expect("seeds", "add", "https://a.example/")
        self.expect("crawl", "--delay", "0s", "--max-pages", "10", *self.seeds)
        self.expect("seeds", "add", "https://b.example/", "--db", "other.db")
        self.expect("backup", "kept.db", "--db", "other.db")
        (folder / "list.txt").write_text("http://127.0.0.1:9/wms\n")
        addresses = pyarrow.table({"url": ["http://a.example/ows?service=WMS&request=GetCapabilities"]})
        pyarrow.parquet.write_table(addresses, folder / "index.parquet")
        (folder / "text.txt").write_text("Peat and moor, bogs and their plants. " * 20)
        lines = [
            f"http://{label}{n}.example/{label}/maps,{label},{label} maps"
            for n in range(30)
            for label in ("wms", "other")
        ]
        (folder / "urls.csv").write_text("\n".join(["url,label,anchor", *lines]) + "\n")
        rows = [
            {
                "url": f"http://{label}{n}.example/",
                "lang": "en",
                "label": label,
                "html": f"<title>{word}</title><p>{word} {n} pages " * 20,
            }
            for n in range(12)
            for label, word in (("ogc", "web map service of rivers"), ("other", "soup with noodles and beef"))
        ]
        (folder / "pages.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
        (folder / "read-only").write_text("kept")
        (folder / "locked").mkdir()
        (folder / "here").symlink_to(".")
        (folder / "folder").mkdir()
        self.expect("world", "make", "portal", "--pages", "200", "--out", "world")
        if os.geteuid() == 0:  # one of our own, in case that a command replaces it
            os.mknod(folder / "full", stat.S_IFCHR | 0o666, Path("/dev/full").stat().st_rdev)
        (folder / "locked").chmod(0o555)
        (folder / "read-only").chmod(0o444)
        if self._small:
            with suppress(OSError), (folder / "small" / "filler").open("wb", buffering=0) as filler:
                while True:
                    filler.write(bytes(4096))
        self._saved = {name: (folder / name).read_bytes() for name in _KEPT}

    def expect(self, *arguments: str) -> None:
        """Run a command that prepares the scene. Raises SystemExit when it fails."""
        code, said = self.run(*arguments)
        if code not in (0, 1) or "geocrawl: " in said:
            raise SystemExit(f"geocrawl {' '.join(arguments)}: {code}\n{said[-1000:]}")

    def counts(self) -> dict[str, int]:
        """Return how many rows the catalogue's tables have. Raises sqlite3.Error when it cannot be read."""
        with closing(self._reading()) as connection:
            return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in _COUNTED}

    def is_intact(self) -> bool:
        """Return whether SQLite finds nothing wrong with the catalogue."""
        with closing(self._reading()) as connection:
            return bool(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)])

    def _reading(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True, timeout=30)

    # ----------------------------------------------------------------------- trials

    @cached_property
    def places(self) -> dict[str, Callable[[str], Path]]:
        """Name → the path of a place that is made for a file whose name ends in the given suffix."""
        folder = self.folder
        found: dict[str, Callable[[str], Path]] = {
            "an ordinary file": lambda suffix: folder / f"new{suffix}",
            "the catalogue": lambda suffix: Path("c.db"),
            "its -wal": lambda suffix: folder / "c.db-wal",
            "its -shm": lambda suffix: folder / "c.db-shm",
            "its -journal": lambda suffix: folder / "c.db-journal",
            "below its -journal": lambda suffix: folder / "c.db-journal" / f"x{suffix}",
            "a symbolic link": lambda suffix: _link(folder / f"link{suffix}", folder / "c.db"),
            "a link to its -wal": lambda suffix: _link(folder / f"link{suffix}", folder / "c.db-wal"),
            "a hard link": lambda suffix: _hard(folder / f"hard{suffix}", folder / "c.db"),
            "another spelling": lambda suffix: folder / "folder" / ".." / "c.db",
            "a linked folder": lambda suffix: folder / "here" / "here" / "c.db",
            "another catalogue": lambda suffix: folder / "other.db",
            "a copy": lambda suffix: folder / "kept.db",
            "an empty folder": lambda suffix: _made(folder / f"empty{suffix}", Path.mkdir),
            "a read-only file": lambda suffix: _link(folder / f"link{suffix}", folder / "read-only"),
            "a pipe": lambda suffix: _made(folder / f"pipe{suffix}", os.mkfifo),
            "another case": lambda suffix: folder / f"C.DB{suffix}",
            "a folder without rights": lambda suffix: folder / "locked" / f"x{suffix}",
            "a missing folder": lambda suffix: folder / "no" / "such" / f"x{suffix}",
        }
        if (folder / "full").is_char_device():
            found["a full device"] = lambda suffix: _link(folder / f"link{suffix}", folder / "full")
        if self._small:
            found["a full disk"] = lambda suffix: folder / "small" / f"x{suffix}"
        return found

    def attempt(self, writer: Writer, place: str) -> Trial:
        """Run a command at a place; return what it did. What it wrote there is removed."""
        before, rows, inode = self._names(), self.counts(), self.database.stat().st_ino
        path = self.places[place](writer.suffix)
        if writer.fixed:
            shutil.rmtree(self.folder / Path(writer.fixed).parts[0], ignore_errors=True)
            (self.folder / writer.fixed).parent.mkdir(parents=True)
            (self.folder / writer.fixed).symlink_to(self.folder / path)
        with _reader(path):
            environ = {name: value.format(path) for name, value in writer.environ.items()}
            code, said = self.run(*writer.command.split(), *writer.arguments(str(path)), environ=environ)
        problems = list(self._problems(writer, place, code, said))
        for each in (path, self.folder / "hard", self.folder / f"hard{writer.suffix}"):
            if place == "a hard link":
                each.unlink(missing_ok=True)
        problems += self._losses(rows, inode, harmless=code == 0 and place in writer.allowed)
        left = {name for name in self._names() - before if ".part" in name}
        problems += [f"left over: {name}" for name in left if code == 0 or not writer.goes_on]
        self._tidy(before)
        last = [line for line in said.strip().splitlines() if line.strip()][-1:] or [""]
        return Trial(writer.name, place, code, last[0].replace(str(self.folder), "…")[:300], tuple(problems))

    def _problems(self, writer: Writer, place: str, code: int, said: str) -> Iterator[str]:
        if "Traceback" in said:
            yield "a traceback"
        if code not in (0, 1, 2, 3):
            yield f"ended with {code}"
        if place == "an ordinary file":
            if code not in (0, 1):
                yield "not written where nothing is in the way"
        elif code == 0 and place not in writer.allowed:
            yield "written where it must not be"
        elif code and not said.strip():
            yield "no message"

    def _losses(self, rows: Mapping[str, int], inode: int, *, harmless: bool) -> Iterator[str]:
        try:
            if self.database.stat().st_ino != inode:
                yield "the catalogue was replaced"
            if not self.is_intact():
                yield "the catalogue is damaged"
            fewer = [name for name, count in self.counts().items() if count < rows[name]]
            if fewer:
                yield f"rows lost: {', '.join(fewer)}"
        except (OSError, sqlite3.Error) as error:
            yield f"the catalogue cannot be read: {error}"
        if (self.folder / "full").exists() and not (self.folder / "full").is_char_device():
            yield "a device was replaced"
        for name in _KEPT:
            path = self.folder / name
            if not harmless and (not path.is_file() or path.read_bytes() != self._saved[name]):
                yield f"{name} was changed"

    def _names(self) -> set[str]:
        return {str(each.relative_to(self.folder)) for each in self.folder.rglob("*")}

    def _tidy(self, before: set[str]) -> None:
        """Remove what was not there, and put back what was changed."""
        own = {self.database.name + suffix for suffix in ("", "-wal", "-shm")}
        for name in sorted(self._names() - before - own, reverse=True):
            path = self.folder / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        for name, data in self._saved.items():
            path = self.folder / name
            if not path.is_file() or path.read_bytes() != data:
                mode = path.stat().st_mode & 0o777 if path.is_file() else 0o640
                path.write_bytes(data)
                path.chmod(mode)


@contextmanager
def scene() -> Iterator[Scene]:
    """Serve the demo's web from a process of its own; yield a scene in a folder that is removed in the end."""
    with (
        tempfile.TemporaryDirectory(prefix="geocrawl-trials-") as name,
        _small_disk(Path(name) / "small"),
        subprocess.Popen([sys.executable, "-c", _WEB], stdout=subprocess.PIPE, text=True) as web,
    ):
        assert web.stdout is not None, "asked for a pipe"
        for module in pkgutil.walk_packages(geocrawl.__path__, "geocrawl."):
            if not module.name.endswith("__main__") and not re.search(r"\.(?:migrations|pycsw_side)", module.name):
                importlib.import_module(module.name)
        try:
            proxy, *seeds = web.stdout.readline().split()
            yield Scene(Path(name), proxy, seeds)
        finally:
            web.terminate()


@contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    """Mount a disk of 64 KiB at a folder that is made, where that may be done."""
    folder.mkdir()
    options = "size=64k,mode=0777"
    refused = (
        os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], check=False).returncode
    )
    try:
        yield
    finally:
        if not refused:
            subprocess.run(["umount", folder], check=True)


def _main(arguments: tuple[str, ...]) -> int:
    """Return the exit code of the command line with these arguments, in a process that was forked for it."""
    code: object = 0
    # The server that starts processes for contests is a child of the process that was forked, and none of this one.
    server: Any = vars(forkserver)["_forkserver"]
    server.__init__()
    # Kept: masking wraps their buffers, which a stream that is dropped would close.
    streams = [open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2)]  # noqa: SIM115
    sys.stdout, sys.stderr = streams
    sys.argv = ["geocrawl", *arguments]
    try:
        main()
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
        code = 70
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    return code if isinstance(code, int) else 1


def _wait(child: int) -> int:
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def _reader(path: Path) -> Iterator[None]:
    """Hold a pipe open to read it, so that whoever writes does not wait."""
    descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK) if path.is_fifo() else None
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _made(path: Path, make: Callable[[Path], object]) -> Path:
    make(path)
    return path


def _link(path: Path, target: Path) -> Path:
    path.symlink_to(target)
    return path


def _hard(path: Path, target: Path) -> Path:
    path.hardlink_to(target)
    return path
