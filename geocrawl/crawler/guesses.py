"""Bound what is asked at hosts whose software is known: a few places of a host, and none after one is missing."""

from __future__ import annotations

from geocrawl.model import GUESS, Candidate, Link, Page, Verdict
from geocrawl.ports import Recogniser

_MISSING = frozenset({"http-404", "http-410"})


class Guesses:
    """The guesses of one crawl."""

    def __init__(self, recogniser: Recogniser, most: int) -> None:
        """`most`: places of one host that are asked."""
        self._recogniser = recogniser
        self._most = most
        self._made: dict[str, set[str]] = {}
        """Host → addresses that were guessed there."""
        self._ended: set[tuple[str, str]] = set()
        """(host, signal) of software that was not where it should be."""

    def of_page(self, page: Page) -> list[Candidate | Link]:
        """Return what is to be asked because of a page, each place once."""
        host = page.final.host
        if self._most <= len(self._made.get(host, ())):
            return []
        found: list[Candidate | Link] = []
        for guess in self._recogniser.guesses(page):
            made = self._made.setdefault(host, set())
            url = guess.url if isinstance(guess, Link) else guess.endpoint.url
            is_ended = isinstance(guess, Candidate) and (host, guess.evidence.signal) in self._ended
            if not is_ended and url.identity not in made and len(made) < self._most:
                made.add(url.identity)
                found.append(guess)
        return found

    def note(self, candidate: Candidate, verdict: Verdict) -> None:
        """Make no further guess about a software at a host when a guessed place is missing there (404, 410)."""
        signal = candidate.evidence.signal
        if signal.startswith(GUESS) and verdict.reason in _MISSING:
            self._ended.add((candidate.endpoint.url.host, signal))
