"""Read every answer in the event loop: in a replay, where time is virtual, and with `reading_processes` = 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from geocrawl.model import Failure, Page

T = TypeVar("T")


class InLoop:
    """`ports.ReadingPool` without processes: only the readers' own limits apply."""

    def takes(self, answer: Page) -> bool:
        """Return False: every answer is read in the event loop."""
        return False

    async def run(self, answer: Page, think: Callable[[], T]) -> T | Failure:
        """Return what `think` returns."""
        return think()

    async def in_thread(self, think: Callable[[], T]) -> T:
        """Return what `think` returns."""
        return think()
