"""Write log lines: where to, in which form, and what is hidden in them."""

from __future__ import annotations

import datetime as dt
import io
import json
import logging
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from geocrawl.model import Visit
from geocrawl.sanitize import masked, plain

if TYPE_CHECKING:
    from geocrawl.settings import Settings


@contextmanager
def log_file(settings: Settings) -> Iterator[LogFile | None]:
    """Open the file to which log lines are appended, and close it in the end; yield None for standard error.

    Raises UsageError for a database, EnvironmentFault when the file cannot be written.
    """
    if not settings.log_file:
        yield None
        return
    from geocrawl.errors import EnvironmentFault
    from geocrawl.files import refuse_database

    path = Path(settings.log_file).expanduser()
    refuse_database(path)
    try:
        raw = path.open("ab", buffering=0)
    except OSError as error:
        raise EnvironmentFault(f"--log-file {path}: {error.strerror or error}") from error
    with raw:
        yield LogFile(path, raw)


class LogFile(io.TextIOBase):
    """A file of log lines. A line that cannot be written is lost, which is said once: a full disk ends no crawl."""

    def __init__(self, path: Path, raw: io.FileIO) -> None:
        """Append to an open file; `path` names it in messages."""
        self._path, self._raw = path, raw
        self._is_failing = False

    def write(self, text: str, /) -> int:
        """Write a text at once."""
        try:
            self._raw.write(text.encode("utf-8", "backslashreplace"))
            self._is_failing = False
        except OSError as error:
            if not self._is_failing:
                sys.stderr.write(f"geocrawl: {self._path}: {error.strerror or error}; log lines are lost\n")
            self._is_failing = True
        return len(text)


class Log:
    """Writes log lines to a stream: key=value for people, JSON for programs.

    A line that is written while a visit is bound (`VISIT`) carries the id of the visit.
    """

    def __init__(
        self, to: TextIO | LogFile | None = None, *, json_lines: bool = False, quiet: bool = False, visits: bool = False
    ) -> None:
        """Write to a stream, by default standard error. `quiet`: only warnings. `visits`: also debugging lines."""
        self._to = to or sys.stderr
        self._form = _json_line if json_lines else _plain_line
        self._least = logging.DEBUG if visits else logging.WARNING if quiet else logging.INFO
        self._lock = threading.Lock()

    def debug(self, event: str, **values: object) -> None:
        """Write a line on the begin or the end of a visit."""
        self._write(logging.DEBUG, event, values)

    def info(self, event: str, **values: object) -> None:
        """Write a line on what happened as it should."""
        self._write(logging.INFO, event, values)

    def warning(self, event: str, **values: object) -> None:
        """Write a line on what a person should know."""
        self._write(logging.WARNING, event, values)

    def error(self, event: str, **values: object) -> None:
        """Write a line on a defect."""
        self._write(logging.ERROR, event, values)

    def _write(self, level: int, event: str, values: dict[str, object]) -> None:
        if level < self._least:
            return
        if visit := VISIT.get():
            values = {"visit": visit, **values}
        at = dt.datetime.now(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        named = logging.getLevelName(level).lower()
        line = self._form(at, named, _safe("event", event), {key: _safe(key, value) for key, value in values.items()})
        with self._lock:
            print(line, file=self._to, flush=True)


VISIT: ContextVar[str] = ContextVar("visit", default="")
"""Id of the visit of which the current task's lines tell; '' for none."""


def log_of(settings: Settings, file: LogFile | None = None) -> Log:
    """Return the log that the settings want, in a file or on standard error."""
    return Log(file, json_lines=settings.log_json, quiet=settings.quiet, visits=settings.log_visits)


def ask_for_contact(settings: Settings, log: Log) -> None:
    """Log a line when neither a contact nor a User-Agent is set: owners of sites should know whom to ask."""
    if not settings.contact and not settings.user_agent:
        advice = "owners of sites cannot reach you: set `contact` (--contact, GEOCRAWL_CONTACT)"
        log.info("no contact is set", advice=advice)


_MOST_CHARS = 300
_TRACEBACK_CHARS = 4_000
_QUOTED = frozenset(" \t=\r\n\"'")
"""Characters for which a value in a line for people is quoted."""


def _safe(key: str, value: object) -> object:
    """Return a value without line breaks, terminal sequences and secrets."""
    if not isinstance(value, str):
        return value
    return masked(plain(value, _TRACEBACK_CHARS if key == "traceback" else _MOST_CHARS))


def _plain_line(at: str, level: str, event: object, values: Mapping[str, object]) -> str:
    fields = (
        f"{key}={value if isinstance(value, str) and not _QUOTED & set(value) else repr(value)}"
        for key, value in sorted(values.items())
    )
    return " ".join((f"{at} [{level:<9}] {event:<20}", *fields)).rstrip(" ")


def _json_line(at: str, level: str, event: object, values: Mapping[str, object]) -> str:
    return json.dumps({**values, "event": event, "level": level, "timestamp": at}, ensure_ascii=False, default=repr)


def log_fault(log: Log, visit: Visit) -> None:
    """Log what broke a visit, with the end of its traceback."""
    if visit.fault:
        log.error("internal error", url=visit.lease.entry.url.address, traceback=visit.fault[-_TRACEBACK_CHARS:])
