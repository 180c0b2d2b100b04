"""Open the target of an export: standard output, or a file that is replaced atomically."""

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
    """Yield a UTF-8 stream to `out`; None and `-` are standard output.

    A former file is replaced at the end, when all is written. Raises EnvironmentFault when the file cannot be written.
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
    """Yield a binary file in the target's folder; rename it to the target when all is on disk. Raises OSError."""
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
    """Yield a text stream in UTF-8 to a `whole_file`."""
    with whole_file(target) as file:
        stream = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        try:
            yield stream
        finally:
            stream.detach()  # else the file would be closed with the wrapper, before it is synchronised


@contextmanager
def _standard_output() -> Iterator[TextIO]:
    """Yield standard output in UTF-8, whatever the locale, without converting line ends."""
    sys.stdout.flush()
    stream = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=False)
    try:
        yield stream
        stream.flush()
    finally:
        stream.detach()  # else standard output would be closed with the wrapper
