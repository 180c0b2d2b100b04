"""Run pycsw next to the pages: start its process, start it again when it dies, end it with ours."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from geocrawl.errors import EnvironmentFault
from geocrawl.urls.hosts import in_url

_FIRST_DELAY_S = 1.0
_LONGEST_DELAY_S = 60.0
_STEADY_S = 60.0
"""A process that ran for so long is started again after the first delay."""
_END_S = 5.0


class CswProcess:
    """The process of pycsw, for as long as the context lasts.

    It gets its configuration by its standard input, and ends when that is closed: also when ours is killed.
    """

    def __init__(self, python: Path, options: CswOptions, first_delay_s: float = _FIRST_DELAY_S) -> None:
        """Serve with the interpreter `python`; wait `first_delay_s` before the first new start, twice as long before
        each further one."""
        self._command = [str(python), str(PROGRAM)]
        self._options = options
        self._line = json.dumps(configuration_of(options)).encode() + b"\n"
        self._first_delay_s = first_delay_s
        self._over = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._watcher = threading.Thread(target=self._watch, name="csw", daemon=True)

    def __enter__(self) -> CswProcess:
        """Start the process. Raises EnvironmentFault when the port is taken."""
        _check_port(self._options.host, self._options.port)
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process."""
        self._over.set()
        if self._child is not None:
            _ask_to_end(self._child)
        self._watcher.join(_END_S)
        if self._watcher.is_alive() and self._child is not None:
            self._child.kill()
            self._watcher.join(_END_S)

    @property
    def pid(self) -> int | None:
        """The id of the process; None between two."""
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def _watch(self) -> None:
        delay_s = self._first_delay_s
        while not self._over.is_set():
            begun = time.monotonic()
            reason = self._run_once()
            if self._over.is_set():
                return
            if time.monotonic() - begun > _STEADY_S:
                delay_s = self._first_delay_s
            sys.stderr.write(f"geocrawl: CSW ended ({reason}); it is started again in {delay_s:g} s\n")
            self._over.wait(delay_s)
            delay_s = min(2 * delay_s, _LONGEST_DELAY_S)

    def _run_once(self) -> str:
        """Run the process until it ends, and return how it ended."""
        options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "start_new_session": True}
        try:
            child = self._child = subprocess.Popen(self._command, **options)  # noqa: S603
        except OSError as error:
            return str(error)
        assert child.stdin is not None, "asked for a pipe"
        with suppress(OSError):  # it ended at once: its exit code says so
            child.stdin.write(self._line)
            child.stdin.flush()
        if self._over.is_set():
            _ask_to_end(child)
        return f"exit code {child.wait()}"


def _ask_to_end(child: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        child.terminate()


def _check_port(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((host, port))
    except OSError as error:
        raise EnvironmentFault(
            f"{host}:{port}: CSW could not start ({error.strerror}); choose another --csw-port"
        ) from error


# --------------------------------------------------------------------------- configuration

PACKAGE = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("pycsw_side")
"""What the other interpreter runs."""
REQUIREMENTS = "pycsw==2.6.2 waitress==3.0.2"
_HOW = (
    "`make csw-env` in a checkout, elsewhere `python3 -m venv csw && csw/bin/pip install "
    f"{REQUIREMENTS}`, and name csw/bin/python in the setting csw_python"
)
_CHECK_S = 60
_CONTACT = (
    *("name", "position", "address", "city", "stateorprovince", "postalcode", "country", "phone", "fax", "email"),
    *("url", "hours", "instructions", "role"),
)
"""What pycsw wants to say of a contact, which geocrawl leaves empty."""
_LOCAL = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True)
class CswOptions:
    """Options of `geocrawl serve --csw`: the catalogue, and where CSW clients reach it."""

    database: Path
    host: str = "127.0.0.1"
    port: int = 8081
    url: str = ""
    """Address under which clients reach it, behind a reverse proxy; '' for its own."""
    requests_per_minute: int = 0
    """Requests of one client, as of the pages; 0: no limit."""


def find_interpreter(named: str) -> Path:
    """Return the Python that has pycsw: the named one, else that of `make csw-env` in this checkout. Raises
    EnvironmentFault, with how to make it, when it is missing or lacks pycsw."""
    path = Path(named).expanduser() if named else PACKAGE.parent / ".venv-csw" / "bin" / "python"
    if not (path.is_file() and os.access(path, os.X_OK)):
        raise EnvironmentFault(f"--csw: there is no Python with pycsw at {path}. To make it: {_HOW}")
    command = [str(path), "-c", "import pycsw.server, waitress"]
    try:
        checked = subprocess.run(command, capture_output=True, text=True, timeout=_CHECK_S, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EnvironmentFault(f"--csw: {path} cannot be run: {error}") from error
    if checked.returncode != 0:
        reason = (checked.stderr.strip().splitlines() or [f"exit code {checked.returncode}"])[-1]
        raise EnvironmentFault(f"--csw: {path} lacks pycsw ({reason}). To make it: {_HOW}")
    return path


def configuration_of(options: CswOptions) -> dict[str, Any]:
    """Return what `pycsw_side` reads from its standard input."""
    shown = in_url(options.host)
    public = urlsplit(options.url).hostname or ""
    is_local = options.host in ("localhost", "127.0.0.1", "::1")
    return {
        "database": str(options.database.absolute()),
        "host": options.host,
        "port": options.port,
        "hosts": [*_LOCAL, shown, *([public] if public else [])] if is_local or public else [],
        "fold": str(PACKAGE / "query" / "fold.py"),
        "sanitize": str(PACKAGE / "sanitize.py"),
        "rates": str(PACKAGE / "web" / "rates.py"),
        # A reverse proxy asks for all clients, and bounds them.
        "requests_per_minute": 0 if public else options.requests_per_minute,
        "pycsw": _pycsw(options.url or f"http://{shown}:{options.port}/"),
    }


def _pycsw(url: str) -> dict[str, dict[str, str]]:
    """Return pycsw's own configuration, by section."""
    return {
        "server": {
            "url": url.replace("%", "%%"),
            "mimetype": "application/xml; charset=UTF-8",
            "encoding": "UTF-8",
            "language": "en-US",
            "maxrecords": "100",
            "pretty_print": "false",
            "domaincounts": "true",
            "profiles": "apiso",
        },
        "manager": {"transactions": "false"},
        "metadata:main": {
            "identification_title": "geocrawl",
            "identification_abstract": "Geospatial web services found by a crawl, each proved by asking it.",
            "identification_keywords": "geospatial,web services,catalogue,WMS,WFS,WMTS",
            "identification_keywords_type": "theme",
            "identification_fees": "None",
            "identification_accessconstraints": "None",
            "provider_name": "geocrawl",
            "provider_url": url.replace("%", "%%"),
            **{f"contact_{each}": "" for each in _CONTACT},
        },
        "repository": {"source": "pycsw_side.repository.Repository"},
    }
