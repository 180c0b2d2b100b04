"""Secrets in addresses do not reach the screen: all that a command prints, answers and errors alike, goes through here.

The streams of the process are replaced once, in `main`, so that no command has to think of it and none can forget it.
What a command lays out (folds, cuts) before it prints must be masked before that: `as_shown`.
"""

from __future__ import annotations

import io
import sys
from typing import Any, TextIO

from typer.core import TyperGroup

from geocrawl.sanitize import masked


class MaskedStream(io.TextIOWrapper):
    """A text stream on another one's buffer that writes *** for keys, tokens and passwords in addresses."""

    in_full = False
    """Whether a person asked for the addresses as they are."""

    def write(self, text: str, /) -> int:
        """Write what may be seen of the text; returns the length of all of it."""
        super().write(text if self.in_full else masked(text))
        return len(text)


class MaskedCommands(TyperGroup):
    """Commands whose usage errors, which are folded into a panel, quote no secret of the command line."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            message = getattr(error, "message", None)
            if isinstance(message, str):
                error.message = masked(message)  # type: ignore[attr-defined]  # it has one
            raise


def mask_standard_streams() -> None:
    """Let standard output and standard error hide secrets from now on."""
    sys.stdout, sys.stderr = _masking(sys.stdout), _masking(sys.stderr)


def _masking(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper) or isinstance(stream, MaskedStream):
        return stream
    return MaskedStream(
        stream.buffer,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def show_in_full(wanted: bool) -> None:
    """Print addresses as they are from now on, where they are `wanted` so; errors and logs hide secrets always."""
    if isinstance(sys.stdout, MaskedStream):
        sys.stdout.in_full = wanted


def as_shown(text: str) -> str:
    """A text as standard output will show it, for what is folded or cut before it is printed."""
    return text if isinstance(sys.stdout, MaskedStream) and sys.stdout.in_full else masked(text)
