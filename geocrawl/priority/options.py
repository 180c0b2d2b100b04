"""Read the constants of strategies that people may set: `--set gws.lambda=0.7`, `[set]` in a settings file."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from geocrawl.errors import UsageError

Value = float | int | bool | str
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a strategy: its default (of the option's type), its range including both ends, and its help."""

    default: Value
    help: str
    least: float = float("-inf")
    most: float = float("inf")

    def read(self, text: str) -> Value:
        """Return the value of `text`. Raises ValueError with a description of valid values."""
        if isinstance(self.default, str):
            return text.strip()
        if isinstance(self.default, bool):
            if text.strip().lower() not in _BOOLEANS:
                raise ValueError("true or false")
            return _BOOLEANS[text.strip().lower()]
        kind = int if isinstance(self.default, int) else float
        expected = "a whole number" if kind is int else f"a number from {self.least:g} to {self.most:g}"
        try:
            value = kind(text)
        except ValueError:
            raise ValueError(expected) from None
        if not self.least <= value <= self.most:  # true for NaN, too
            raise ValueError(expected)
        return value


def parse_options(prefix: str, options: Mapping[str, str], schema: Mapping[str, Option]) -> dict[str, Value]:
    """Return the value of every option in `schema`: the one in `options` under `prefix`.NAME, else the default.

    Options with another prefix belong to other strategies and are ignored. Raises UsageError for an unknown name
    (naming the known ones) and for an invalid value.
    """
    values = {name: option.default for name, option in schema.items()}
    for key, text in options.items():
        owner, _, name = key.partition(".")
        if owner != prefix:
            continue
        if name not in schema:
            known = ", ".join(f"{prefix}.{option}" for option in schema) or "none"
            raise UsageError(f"unknown option {key}{did_you_mean(name, schema, prefix + '.')} (known: {known})")
        try:
            values[name] = schema[name].read(str(text))
        except ValueError as error:
            raise UsageError(f"{key}={text}: expected {error}") from None
    return values


def did_you_mean(name: str, known: Iterable[str], prefix: str = "") -> str:
    """Return ', did you mean …?' when `name` is near one of `known`, else ''."""
    near = difflib.get_close_matches(name.lower(), list(known), n=1)
    return f", did you mean {prefix}{near[0]}?" if near else ""


# --------------------------------------------------------------------------- presets
# The presets of a strategy stand beside its `OPTIONS`, in `PRESETS` of its module, and `registry` names them. A preset
# sets every option of its strategy, so that a later default of ours does not change it.


SEPARATOR = ":"
"""Character between the strategy and the preset in a name."""


class Constant(NamedTuple):
    """The value of an option in a preset."""

    value: Value
    source: str
    """The paper's equation or rule in which the constant stands."""
    ours: str = ""
    """Why the value is ours: the paper leaves it open, or we differ from it, and how; '' for the paper's own value."""


@dataclass(frozen=True, slots=True)
class Preset:
    """A strategy as a paper describes it."""

    summary: str
    """One line for people, with the paper."""
    constants: Mapping[str, Constant]
    """Option → its value; every option of the strategy."""
    differs: tuple[str, ...] = ()
    """Where a crawl with this preset differs from the paper: one sentence each."""
    setup: Mapping[str, Constant] = field(default_factory=dict)
    """Setting (`max_depth` …) → its value in the paper's own crawls; a crawl with the preset has it, too."""
    discards: str = ""
    """The paper's rule by which links are discarded, without a full stop; '' when none are."""

    def options(self, strategy: str) -> dict[str, str]:
        """Return STRATEGY.OPTION → text, as `--set` has them."""
        return {f"{strategy}.{name}": str(constant.value) for name, constant in self.constants.items()}
