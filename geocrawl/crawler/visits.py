"""Share code between visits of pages and of endpoints: transient failures, retry times, a 304, a defect, guesses."""

from __future__ import annotations

import traceback

from geocrawl.errors import OwnFault
from geocrawl.model import GUESS, Candidate, FailureCode, HostState, Lease, Link, Page, State, Verdict, Visit
from geocrawl.ports import Recogniser
from geocrawl.resources import BACK, are_there, lack_of

NOT_MODIFIED = "not-modified"
"""Reason of a visit whose address answered that nothing was modified (304)."""

INTERNAL_ERROR = "internal-error"
"""Reason of a visit that an exception broke. The visit is tried again, because a later version may have no such defect.
"""

TRANSIENT = frozenset(
    {
        FailureCode.DNS,
        FailureCode.REFUSED,
        FailureCode.TIMEOUT_CONNECT,
        FailureCode.TIMEOUT_READ,
        FailureCode.TIMEOUT_TOTAL,
        FailureCode.RESET,
        FailureCode.TRUNCATED,
        FailureCode.BAD_HTTP,
        FailureCode.PROXY,
        FailureCode.MACHINE,
        FailureCode.READING_CRASH,
        "http-429",
        "http-500",
        "http-502",
        "http-503",
        "http-504",
    }
)
"""Reasons of failure that may pass until the next try. Any other failure is final until the address is due again."""


def retry_after_s(lease: Lease, first_s: float, asked_s: float | None = None) -> float:
    """Return how long to wait before the next try: `first_s`, doubled with each try so far, or longer if the server
    requested that.
    """
    return max(first_s * 2.0**lease.entry.attempts, asked_s or 0.0)


def not_modified(lease: Lease, page: Page, host: HostState, at: float) -> Visit:
    """Return the visit of a page or a service that answered "not modified" (304)."""
    return Visit(
        lease=lease,
        state=State.VISITED,
        reason=NOT_MODIFIED,
        host=host,
        at=at,
        final=page.final,
        http_status=page.status,
        elapsed_ms=page.elapsed_ms,
        not_modified=True,
    )


def broken(lease: Lease, error: Exception, host: HostState, at: float, first_s: float) -> Visit:
    """Return a failed visit instead of raising `error`: a defect of geocrawl, whatever the server sent.

    Raise OwnFault for an error that a lack of files, threads or disk caused. A lack of memory may come of the document.
    """
    if not isinstance(error, (MemoryError, OwnFault)) and (lack := lack_of(error)):
        raise OwnFault(lack, BACK, are_there) from error
    return Visit(
        lease=lease,
        state=State.FAILED,
        reason=INTERNAL_ERROR,
        host=host,
        at=at,
        retry_after_s=retry_after_s(lease, first_s),
        fault="".join(traceback.format_exception(error)),
    )


# --------------------------------------------------------------------------- guesses
# At hosts whose software is known a few addresses are guessed, and no more of a software once one is missing.


_MISSING = frozenset({"http-404", "http-410"})


class Guesses:
    """Limits the guessed addresses that one crawl requests."""

    def __init__(self, recogniser: Recogniser, most: int) -> None:
        """`most`: guessed addresses of one host that are requested."""
        self._recogniser = recogniser
        self._most = most
        self._made: dict[str, set[str]] = {}
        """Host → addresses that were guessed there."""
        self._ended: set[tuple[str, str]] = set()
        """(host, signal) of software whose guessed address was missing."""

    def of_page(self, page: Page) -> list[Candidate | Link]:
        """Return the guesses that a page gives rise to, each address once."""
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
        """Make no further guess about a software at a host when a guessed address is missing there (404, 410)."""
        signal = candidate.evidence.signal
        if signal.startswith(GUESS) and verdict.reason in _MISSING:
            self._ended.add((candidate.endpoint.url.host, signal))
