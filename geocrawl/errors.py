"""Define the exceptions that end a command. Each message states what happened, to which file or URL, and what to do."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable


class GeocrawlError(Exception):
    """Base of all errors shown to people as one line."""

    exit_code = 3


class UsageError(GeocrawlError):
    """Invalid arguments or configuration: exit code 2."""

    exit_code = 2


class NothingFound(GeocrawlError):
    """The catalogue has nothing of the name that was given: exit code 1."""

    exit_code = 1


class GivenBack(GeocrawlError):
    """A visit that cannot go on now. Its address waits again, no attempt counts, and the host's state says when."""


class Late(GivenBack):
    """A service whose first try was cut off because it answers late, so that its host's other addresses come first."""


class LearnsElsewhere(GeocrawlError):
    """Another process has become the learner of this database: what this one learnt meanwhile is not written."""


class EnvironmentFault(GeocrawlError):
    """A system error: a file, the database, the network set-up. Exit code 3."""


class DatabaseFault(EnvironmentFault):
    """The database is locked, read-only, damaged, newer than the program, or missing."""


class PassingFault(DatabaseFault):
    """The database cannot be written for now, because it is locked or its disk is full; a later attempt may succeed."""


class NoRoom(PassingFault):
    """The disk of the database is full, or its file may not grow: it rarely passes while nobody acts."""


class WriteConflict(PassingFault):
    """Another process wrote the same at the same time, so a transaction was undone; it may be repeated at once."""


class UnreachableServer(PassingFault):
    """The server of the database cannot be reached: it does not run, or its address is wrong."""


class RefusedValue(DatabaseFault):
    """The database refuses a value that was to be written (a constraint, its size); it can write others."""


class OwnFault(EnvironmentFault):
    """This machine cannot send requests for now: its proxy, its network, its name resolution or a resource fails.

    No server is to blame: the visit under way is given back, and nothing is recorded as failed.
    """

    def __init__(self, cause: str, over: str, is_over: Callable[[], Awaitable[bool]]) -> None:
        """`cause` and `over`: sentences without a full stop. `is_over` tests whether visits may be tried again."""
        super().__init__(cause)
        self.over = over
        self.is_over = is_over


def needs_extra(what: str, package: str, extra: str = "evaluate") -> UsageError:
    """Return the error for a part of geocrawl whose library is not installed: it belongs to an extra."""
    return UsageError(f"{what}: {package} is not installed; it comes with {install_extra(extra)}")


def install_extra(extra: str) -> str:
    """Return the command that installs an extra; geocrawl is installed from its source."""
    return f"pip install '.[{extra}]' in geocrawl's folder"


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")


def described(error: BaseException) -> str:
    """Return what an exception of Python or of a library says, in words for people and without names of classes."""
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing" if error.args else "a name is missing"
    if isinstance(error, TypeError | AttributeError):
        return "a value is of another type than expected"
    return str(error) or _named(type(error).__name__)


def _named(name: str) -> str:
    """Return the words of a class's name: `ServerDisconnectedError` is `server disconnected`."""
    words = [word if word.isupper() else word.lower() for word in _WORDS.findall(name)]
    return " ".join(words[:-1] if words[-1:] in (["error"], ["exception"]) and len(words) > 1 else words) or name
