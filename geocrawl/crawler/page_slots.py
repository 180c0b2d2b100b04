"""Limit the pages of a crawl: each takes a slot before it is leased, and keeps it once it was answered.

Pages under way count, because all may be answered. A page that was not answered gives its slot back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class PageSlots(Protocol):
    """The pages that a crawl may still request, alone or together with other processes."""

    @property
    def are_shared(self) -> bool:
        """Return whether other processes take part in the same crawl."""

    def take(self, most: int) -> int:
        """Take up to `most` slots for pages that are about to be leased; return how many there were."""

    def give_back(self, count: int) -> None:
        """Give back slots for which no page was leased."""

    def end(self, *, answered: bool) -> None:
        """End the visit of a page: its slot is kept if the page was answered, else given back."""

    def any_left(self) -> bool:
        """Return whether another page may be leased."""

    def may_come_back(self) -> bool:
        """Return whether slots that other processes have taken may be given back, or their pages lead to probes."""


class OwnSlots:
    """The slots of a crawl by one process."""

    are_shared = False

    def __init__(self, most: int, counted: Callable[[], int]) -> None:
        """`most`: the limit. `counted` returns the number of pages that it counts, without those under way."""
        self._most = most
        self._counted = counted
        self._under_way = 0

    def take(self, most: int) -> int:
        """Take up to `most` slots; return how many there were."""
        taken = max(min(most, self._most - self._counted() - self._under_way), 0)
        self._under_way += taken
        return taken

    def give_back(self, count: int) -> None:
        """Give slots back."""
        self._under_way -= count

    def end(self, *, answered: bool) -> None:
        """End the visit of a page; `counted` counts the answered ones."""
        self._under_way -= 1

    def any_left(self) -> bool:
        """Return whether another page may be leased."""
        return self._counted() + self._under_way < self._most

    def may_come_back(self) -> bool:
        """Return False: there are no other processes."""
        return False
