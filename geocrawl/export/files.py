"""Open the target of an export: standard output, or a file that is replaced atomically."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from geocrawl.errors import EnvironmentFault
from geocrawl.files import is_standard_output, whole_file


@contextmanager
def opened(out: Path | None, *, new_mode: int = 0o666) -> Iterator[TextIO]:
    """Yield a UTF-8 stream to `out`; None, `-` and `/dev/stdout` are standard output.

    A former file is replaced at the end, when all is written; `new_mode` as in `whole_file`. Raises UsageError for a
    database, EnvironmentFault when the file cannot be written.
    """
    if out is None or is_standard_output(out):
        with _standard_output() as stream:
            yield stream
        return
    try:
        with _replaced(out, new_mode) as stream:
            yield stream
    except OSError as error:
        raise EnvironmentFault(f"{out}: cannot be written: {error.strerror or error}") from error


@contextmanager
def opened_binary(out: Path | None, *, new_mode: int = 0o666) -> Iterator[BinaryIO]:
    """Yield a binary stream to `out`; otherwise as `opened`."""
    if out is None or is_standard_output(out):
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        with whole_file(out, new_mode=new_mode) as file:
            yield file
    except OSError as error:
        raise EnvironmentFault(f"{out}: cannot be written: {error.strerror or error}") from error


@contextmanager
def _replaced(target: Path, new_mode: int) -> Iterator[TextIO]:
    """Yield a text stream in UTF-8 to a `whole_file`."""
    with whole_file(target, new_mode=new_mode) as file:
        stream = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="", write_through=True)
        try:
            yield stream
        finally:
            stream.detach()  # else the file would be closed with the wrapper, before it is synchronised


@contextmanager
def _standard_output() -> Iterator[TextIO]:
    """Yield standard output in UTF-8, whatever the locale, without converting line ends."""
    sys.stdout.flush()
    stream = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", errors="replace", newline="", write_through=False)
    try:
        yield stream
        stream.flush()
    finally:
        stream.detach()  # else standard output would be closed with the wrapper
