"""Declare a setting: a dataclass field with its help, unit and option."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Option:
    """How commands spell a setting; a setting without one is read from the environment and from files only."""

    commands: tuple[str, ...] = ()
    """Commands that have the option, such as 'seeds check'; none: every command that works on a catalogue."""
    name: str = ""
    """'' for `--` and the setting's name with hyphens. The option of a true/false setting flips its default."""
    short: str = ""
    """One-letter name, such as `-q`."""
    alias: str = ""
    """Another long name, under which people look for it."""
    metavar: str = ""
    """Placeholder of the value in help; '' for N, DURATION or SIZE, as the unit says."""


def setting(
    default: Any, help_: str, *, unit: str = "", empty: str = "", secret: bool = False, option: Option | None = None
) -> Any:
    """Return a dataclass field; `empty` says what 0, '' or an empty list means where the help does not."""
    metadata = {"help": help_, "unit": unit, "empty": empty, "secret": secret, "option": option}
    if isinstance(default, (dict, list)):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)
