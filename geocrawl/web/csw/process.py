"""Run pycsw beside the pages: start its process, start it anew when it dies, end it with ours."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from geocrawl.errors import EnvironmentFault
from geocrawl.web.csw.configuration import PROGRAM, CswOptions, configuration_of

_FIRST_DELAY_S = 1.0
_LONGEST_DELAY_S = 60.0
_STEADY_S = 60.0
"""A process that ran for so long is started anew after the first delay."""
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
            sys.stderr.write(f"geocrawl: CSW ended ({reason}); it is started anew in {delay_s:g} s\n")
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
