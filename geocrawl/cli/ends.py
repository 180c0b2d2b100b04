"""End a command whose output pipe is closed or cannot be written, or that a person interrupts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended (128 + SIGINT), as shells report it."""


@contextmanager
def foreseen_ends() -> Iterator[None]:
    """Convert a closed pipe and Ctrl-C into exit codes, and an error of a file into EnvironmentFault.

    A closed pipe (`| head`) is not an error: exit code 0. Ctrl-C: 130.
    """
    from geocrawl.errors import EnvironmentFault

    try:
        yield
    except BrokenPipeError:
        _discard_output()
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        _discard_output()
        sys.stderr.write("geocrawl: interrupted\n")
        raise SystemExit(INTERRUPTED) from None
    except (ConnectionError, TimeoutError):  # an error of the network is a defect here: show its traceback
        raise
    except OSError as error:
        if error.filename is None:
            _discard_output()
        raise EnvironmentFault(f"{error.filename or 'standard output'}: {error.strerror or error}") from error


def end_interrupted(interrupted: bool) -> None:
    """End the command with 130 if Ctrl-C ended its run, after the summary was printed."""
    if interrupted:
        raise SystemExit(INTERRUPTED)


def _discard_output() -> None:
    """Keep the interpreter from flushing the rest of standard output when it exits."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
