"""Mask secrets in addresses in everything that a command prints, results and errors alike.

`main` replaces the streams of the process once, so that no command can forget it. Text that a command folds or cuts
before printing must be masked earlier, with `as_shown`, since the stream would not recognise its addresses.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import Any, TextIO

from typer.core import TyperGroup

from geocrawl.cli.ends import foreseen_ends
from geocrawl.sanitize import masked


class MaskedStream(io.TextIOWrapper):
    """A text stream that writes *** for keys, tokens and passwords in addresses to another stream's buffer."""

    in_full = False
    """Whether the user asked for unmasked addresses."""

    def write(self, text: str, /) -> int:
        """Write the masked text; return the length of the unmasked one, as `io` expects."""
        super().write(text if self.in_full else masked(text))
        return len(text)


class MaskedCommands(TyperGroup):
    """A group of commands whose usage errors are masked before they are folded into a panel."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; mask the message of its usage error."""
        try:
            with foreseen_ends():  # Click would exit with 1 for a closed pipe
                return super().invoke(ctx)
        except Exception as error:
            message = getattr(error, "message", None)
            if isinstance(message, str) and not isinstance(error, BaseExceptionGroup):  # read-only there
                error.message = masked(message)  # type: ignore[attr-defined]  # it has one
            raise


def mask_standard_streams() -> None:
    """Make standard output and standard error mask secrets from now on.

    Characters that the terminal's encoding does not have are written as escapes. A stream that was closed (`>&-`)
    refuses what is written to it, and no file that is opened later takes its number.
    """
    sys.stdout, sys.stderr = _masking(sys.stdout or _closed()), _masking(sys.stderr or _closed())


def _closed() -> TextIO:
    """Return a stream to which nothing can be written, with the lowest free file descriptor."""
    descriptor = os.open(os.devnull, os.O_RDONLY)
    return MaskedStream(io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False)), encoding="utf-8")


def _masking(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper) or isinstance(stream, MaskedStream):
        return stream
    # Click bypasses an ASCII stream to write UTF-8, and so would bypass the mask.
    encoding = "utf-8" if codecs.lookup(stream.encoding).name == "ascii" else stream.encoding
    return MaskedStream(
        stream.buffer,
        encoding=encoding,
        errors="backslashreplace" if stream.errors == "strict" else stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def show_in_full(wanted: bool) -> None:
    """Switch the masking of standard output off (`wanted`) or on; standard error and logs always mask."""
    if isinstance(sys.stdout, MaskedStream):
        sys.stdout.in_full = wanted


def as_shown(text: str) -> str:
    """Return a text as standard output will show it, for text that is folded or cut before it is printed."""
    return text if isinstance(sys.stdout, MaskedStream) and sys.stdout.in_full else masked(text)
