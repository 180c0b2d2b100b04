"""Open the target of an export: standard output, or a file that is replaced atomically."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from geocrawl.files import is_standard_output, whole_file, write_faults


@contextmanager
def opened(out: Path | None, *, new_mode: int = 0o666) -> Iterator[TextIO]:
    """Yield a UTF-8 stream to `out`, whatever the locale, that converts no line ends; otherwise as `opened_binary`."""
    with opened_binary(out, new_mode=new_mode) as file:
        stream = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="", write_through=True)
        try:
            yield stream
        finally:
            stream.detach()  # else the file would be closed with the wrapper, before it is synchronised


@contextmanager
def opened_binary(out: Path | None, *, new_mode: int = 0o666) -> Iterator[BinaryIO]:
    """Yield a binary stream to `out`; None, `-` and `/dev/stdout` are standard output.

    A former file is replaced at the end, when all is written; `new_mode` as in `whole_file`. Raises UsageError for a
    database, EnvironmentFault when the file cannot be written.
    """
    if out is None or is_standard_output(out):
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with write_faults(out), whole_file(out, new_mode=new_mode) as file:
        yield file
