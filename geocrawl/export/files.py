"""Where an export goes: standard output, or a file that appears whole or not at all."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from geocrawl.errors import EnvironmentFault


@contextmanager
def opened(out: Path | None) -> Iterator[TextIO]:
    """A UTF-8 stream to `out`; None and `-` are standard output.

    Raises EnvironmentFault when the file cannot be written. A file that was there is replaced at the end only.
    """
    if out is None or str(out) == "-":
        with _standard_output() as stream:
            yield stream
        return
    target = out.resolve()  # a symbolic link stays one
    try:
        if target.exists() and not target.is_file():  # a pipe or a device cannot be replaced
            with target.open("w", encoding="utf-8", newline="") as stream:
                yield stream
        else:
            with _replaced(target) as stream:
                yield stream
    except OSError as error:
        raise EnvironmentFault(f"{out}: cannot be written: {error.strerror or error}") from error


@contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """A binary file beside the target, moved over it when all is written and on disk. Raises OSError."""
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _replaced(target: Path) -> Iterator[TextIO]:
    """As `whole_file`, for text in UTF-8."""
    with whole_file(target) as file:
        stream = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        try:
            yield stream
        finally:
            stream.detach()  # else the file would be closed with the wrapper, before it is synchronised


@contextmanager
def _standard_output() -> Iterator[TextIO]:
    """Standard output in UTF-8, whatever the locale says, without line ends of the platform's own."""
    sys.stdout.flush()
    stream = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=False)
    try:
        yield stream
        stream.flush()
    finally:
        stream.detach()  # else standard output would be closed with the wrapper
