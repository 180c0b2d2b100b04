"""Say how a frontier serves what waits: in which order, for whom, and which entries alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from geocrawl.model import Url


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierOptions:
    """What a strategy and a kind of session ask of a frontier."""

    by_depth: bool = False
    """A page's score is minus its depth and follows it."""
    by_yield: bool = False
    """A page's score is an expected yield."""
    learns: bool = False
    """Each settlement records feedback."""
    stride: int = 1
    """Number of pages taken together (best-N-first)."""
    records_only: bool = False
    """Of pages only those of a harvest are leased."""
    not_permitted: Callable[[Url], str] = lambda url: ""
    """Returns why the fetcher will refuse an address, as in `ArrivalRules`."""
    named_only: bool = False
    """Only the probes that this frontier adds are leased; they wait in a tier of their own."""
