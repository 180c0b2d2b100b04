"""Define presets: a strategy with the constants of a paper, under one name such as `gws:paper`.

The presets of a strategy stand beside its `OPTIONS`, in `PRESETS` of its module, and `registry` names them. A preset
sets every option of its strategy, so that a later default of ours does not change it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from geocrawl.priority.options import Value

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
    discards: str = ""
    """The paper's rule by which links are discarded, without a full stop; '' when none are."""

    def options(self, strategy: str) -> dict[str, str]:
        """Return STRATEGY.OPTION → text, as `--set` has them."""
        return {f"{strategy}.{name}": str(constant.value) for name, constant in self.constants.items()}
