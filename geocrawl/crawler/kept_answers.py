"""Keep what a page's scripts received, so that it is not requested again when it is visited as a page of its own."""

from __future__ import annotations

from collections.abc import Iterable

from geocrawl.model import Page, Url

MOST_BYTES = 20 << 20
"""Bytes of all kept answers together."""
MOST_S = 3600.0
"""Seconds for which an answer is kept."""


class KeptAnswers:
    """Answers by address, each for one visit, within bounds of memory and age."""

    def __init__(self) -> None:
        self._answers: dict[str, Page] = {}
        """The oldest come first."""

    def keep(self, answers: Iterable[Page]) -> None:
        """Keep answers until they are taken; older ones are dropped when all exceed `MOST_BYTES`."""
        for page in answers:
            self._answers.pop(page.url.address, None)
            self._answers[page.url.address] = page
        size = sum(len(page.body) for page in self._answers.values())
        while size > MOST_BYTES:
            oldest = self._answers.pop(next(iter(self._answers)))
            size -= len(oldest.body)

    def take(self, url: Url, now: float) -> Page | None:
        """Return the answer of an address, which is kept no longer; None when there is none or it is too old."""
        known = self._answers.pop(url.address, None)
        return known if known is not None and now - known.fetched_at <= MOST_S else None
