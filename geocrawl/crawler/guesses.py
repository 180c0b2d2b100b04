"""Limit what one run asks of a host beside its pages: guessed addresses, and scripts.

Addresses are guessed at hosts whose software is known: a few, and none once one is missing.
"""

from __future__ import annotations

from collections import Counter

from geocrawl.model import GUESS, Candidate, Link, Page, Url, Verdict
from geocrawl.ports import Recogniser

_MISSING = frozenset({"http-404", "http-410"})
_MOST_HOSTS = 10_000
"""Number of hosts whose guesses and scripts are remembered; beyond it the oldest are forgotten, as at a restart."""


class Guesses:
    """Limits the guessed addresses that one crawl requests."""

    def __init__(self, recogniser: Recogniser, most: int, *, html_only: bool = False) -> None:
        """`most`: guessed addresses of one host that are requested. `html_only`: guess at pages for people, not at what
        programs answer."""
        self._html_only = html_only
        self._recogniser = recogniser
        self._most = most
        self._made: dict[str, set[str]] = {}
        """Host → addresses that were guessed there."""
        self._ended: dict[str, set[str]] = {}
        """Host → signals of software whose guessed address was missing."""

    def of_page(self, page: Page) -> list[Candidate | Link]:
        """Return the guesses that a page gives rise to, each address once."""
        host = page.final.host
        if self._most <= len(self._made.get(host, ())) or (self._html_only and "html" not in page.content_type):
            return []
        chosen: list[Candidate | Link] = []
        for guess in self._recogniser.guesses(page):
            made = self._made.setdefault(host, set())
            url = guess.url if isinstance(guess, Link) else guess.endpoint.url
            is_ended = isinstance(guess, Candidate) and guess.evidence.signal in self._ended.get(host, ())
            if not is_ended and url.identity not in made and len(made) < self._most:
                made.add(url.identity)
                chosen.append(guess)
        _forget_oldest(self._made)
        return chosen

    def note(self, candidate: Candidate, verdict: Verdict) -> None:
        """Make no further guess about a software at a host when a guessed address is missing there (404, 410)."""
        signal = candidate.evidence.signal
        if signal.startswith(GUESS) and verdict.reason in _MISSING:
            self._ended.setdefault(candidate.endpoint.url.host, set()).add(signal)
            _forget_oldest(self._ended)


class ScriptBudget:
    """Limits the scripts and configurations of each host that one run requests."""

    def __init__(self, most: int, most_bytes: int) -> None:
        """`most`, `most_bytes`: requests and bytes of one host; each script that names services adds one request."""
        self._most = most
        self._most_bytes = most_bytes
        self._admitted: dict[str, set[str]] = {}
        """Host → its scripts that were admitted."""
        self._paid: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()

    def admits(self, url: Url) -> bool:
        """Return whether a script may be requested; the same answer again for one that was admitted."""
        host = url.host
        admitted = self._admitted.setdefault(host, set())
        if (oldest := _forget_oldest(self._admitted)) is not None:
            del self._paid[oldest], self._bytes[oldest]
        if url.identity in admitted:
            return True
        if len(admitted) >= self._most + self._paid[host] or self._bytes[host] >= self._most_bytes:
            return False
        admitted.add(url.identity)
        return True

    def note(self, page: Page, *, pays: bool) -> None:
        """Count an answer, if it is that of a script; `pays`: whether it names services."""
        if page.url.identity in self._admitted.get(page.url.host, ()):
            self._bytes[page.url.host] += len(page.body)
            self._paid[page.url.host] += pays


def _forget_oldest(hosts: dict[str, set[str]]) -> str | None:
    """Forget the oldest host and return it when they are too many; else None."""
    if len(hosts) <= _MOST_HOSTS:
        return None
    oldest = next(iter(hosts))
    del hosts[oldest]
    return oldest
