"""The life of a URL in the frontier. Everything that decides a state stands here.

    (new) ──► waiting ◄──► leased ──► visited            done; its out-links are kept
       │         ▲            ├─────► failed             for good, or until `retry_at`, when it waits again
       │         │            └─────► refused            robots.txt, the address guard
       ├──► too-deep                                     waits when a shorter way is found
       └──► refused                                      stop rule, trap, scope; `candidate`: a service's address that
                                                         waits as a page when its probe finds HTML there

*Leased* is not written on the URL but on its host (`lease_until`, `lease_url`): nobody else asks a held host, so the
URL may stay in the queue until it is settled, and an expired lease needs no repair. Seeds, `crawl --again` and
`retry` bring back what has ended.
"""

from __future__ import annotations

from geocrawl.model import Purpose, State, Visit

PROBE_TIER = 1000
"""Above every strategy's tiers: probes run right after the visit that found them."""

HARVEST_TIER = 900
"""Above every strategy's tiers, too: pages of records of a harvest, which visits nothing else."""

BATCH_TIER = 500
"""Above every strategy's own tiers: the batch that best-N-first has taken (`batches.py`)."""

CANDIDATE = "candidate"
"""Reason of a page that is refused while a probe finds out whether it is a service."""

UNRANKED = "unranked"
"""Reason of a page that the present strategy dropped from the queue; another one may bring it back."""

_TOO_BUSY = frozenset({"http-429", "http-503"})

REOPENED_BY_SEED = frozenset({CANDIDATE, UNRANKED, "scope", "redirect-target"})
"""A person who names such a page as a seed means it; so, too, stop rules and traps (see `seed_reopens`)."""


def arrival_state(depth: int, max_depth: int, refused: str) -> State:
    """State of a link seen for the first time."""
    if refused:
        return State.REFUSED
    return State.WAITING if depth <= max_depth else State.TOO_DEEP


def settled_state(visit: Visit, attempts: int, max_attempts: int) -> tuple[State, float | None]:
    """State after a visit and the time to try again; `attempts` counts the failed ones, this one included.

    A host that is too busy for a day says nothing of the address: that has four times as many tries.
    """
    most = max_attempts * 4 if visit.reason in _TOO_BUSY else max_attempts
    if visit.state is not State.FAILED or visit.retry_after_s is None or attempts >= most:
        return visit.state, None
    return State.FAILED, visit.at + visit.retry_after_s


def seed_reopens(state: State, reason: str, *, again: bool) -> bool:
    """Whether a known page that is named as a seed is to be visited (once more)."""
    if state in (State.WAITING, State.TOO_DEEP, State.FAILED):
        return True
    if state is State.REFUSED:
        return again or reason in REOPENED_BY_SEED or reason.startswith(("stop:", "trap:"))
    return again


def probe_frees_page(purpose: Purpose, visit: Visit) -> bool:
    """Whether a probe has shown that its candidate is an ordinary page after all."""
    return purpose is Purpose.PROBE and visit.verdict is not None and shows_page(visit.verdict.reason)


def shows_page(reason: str | None) -> bool:
    """Whether a rejection leaves open that the address, as it was linked, is a page: nothing there spoke as a service.

    That the request for capabilities is not found says little of the address without it.
    """
    return reason in _PAGE_AFTER


_PAGE_AFTER = frozenset({"html", "not-capabilities", "not-json", "http-400", "http-404", "http-405", "http-406"})
