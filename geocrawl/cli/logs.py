"""Write log lines: where to, in which form, and what is hidden in them."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias, cast

import structlog
from structlog.typing import FilteringBoundLogger

from geocrawl.model import Visit
from geocrawl.sanitize import masked, plain

if TYPE_CHECKING:
    from geocrawl.settings import Settings


Log: TypeAlias = FilteringBoundLogger
"""Writes log lines; one that is written while a visit is bound carries the id of the visit."""


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


def log_to(
    to: TextIO | LogFile | None = None, *, json_lines: bool = False, quiet: bool = False, visits: bool = False
) -> Log:
    """Return a log that writes to a stream, by default standard error: key=value for people, JSON for programs.

    `quiet`: only warnings. `visits`: also the begin and the end of each visit.
    """
    least = logging.DEBUG if visits else logging.WARNING if quiet else logging.INFO
    form: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if json_lines
        else structlog.dev.ConsoleRenderer(colors=False, pad_event_to=20)
    )
    log: Log = structlog.wrap_logger(
        structlog.PrintLogger(cast(TextIO, to or sys.stderr)),
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _plain_values,
            form,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(least),
    ).bind()
    return log


def log_of(settings: Settings, file: LogFile | None = None) -> Log:
    """Return the log that the settings want, in a file or on standard error."""
    return log_to(file, json_lines=settings.log_json, quiet=settings.quiet, visits=settings.log_visits)


def ask_for_contact(settings: Settings, log: Log) -> None:
    """Log a line when neither a contact nor a User-Agent is set: owners of sites should know whom to ask."""
    if not settings.contact and not settings.user_agent:
        advice = "owners of sites cannot reach you: set `contact` (--contact, GEOCRAWL_CONTACT)"
        log.info("no contact is set", advice=advice)


_MOST_CHARS = 300
_TRACEBACK_CHARS = 4_000


def _plain_values(_: Any, __: str, event: Any) -> Any:
    """Remove line breaks, terminal sequences and secrets from the values of a log line."""
    return {
        key: masked(plain(value, _TRACEBACK_CHARS if key == "traceback" else _MOST_CHARS))
        if isinstance(value, str)
        else value
        for key, value in event.items()
    }


def log_fault(log: Log, visit: Visit) -> None:
    """Log what broke a visit, with the end of its traceback."""
    if visit.fault:
        log.error("internal error", url=visit.lease.entry.url.address, traceback=visit.fault[-_TRACEBACK_CHARS:])
