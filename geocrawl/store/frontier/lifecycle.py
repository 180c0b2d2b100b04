"""Decide the states of a URL in the frontier.

    (new) ──► waiting ◄──► leased ──► visited            done
       │         ▲            ├─────► failed             for good, or until `retry_at`, when it waits again
       │         │            └─────► refused            robots.txt, the address guard
       ├──► too-deep                                     past `max_depth`; waits when a shorter way is found
       └──► refused                                      stop rule, trap, scope; `candidate`: a service's address that
                                                         waits as a page when its probe finds HTML there

*Leased* is stored with the host (`lease_until`, `lease_url`), not with the URL: no other process leases that host, so
the URL may stay in the queue until it is settled, and an expired lease needs no repair. Seeds, `crawl --again` and
`retry` make visited, failed and refused URLs wait again.
"""

from __future__ import annotations

from geocrawl.model import Purpose, State, Visit

PROBE_TIER = 1000
"""Tier of probes, above every strategy's tiers: they run right after the visit that found their endpoints."""

NAMED_TIER = 1001
"""Tier of probes that a person named (`probe --save`) while they wait: that command makes no others."""

LATE_SCORE = -1.0
"""Score of a probe whose first try was late: those of its tier come first (`Entry.is_behind`)."""

CANDIDATE = "candidate"
"""Reason of a page that is refused while a probe finds out whether it is a service."""

UNRANKED = "unranked"
"""Reason of a page that the present strategy dropped from the queue; another strategy may requeue it."""

KILLED = "killed"
"""Reason of a URL that got two processes killed which visited nothing else; it waits for a person (`retry`)."""

_TOO_BUSY = frozenset({"http-429", "http-503"})

REOPENED_BY_SEED = frozenset({CANDIDATE, UNRANKED, "scope", "redirect-target"})
"""Reasons of refused pages that are visited after all when a person names them as seeds; `seed_reopens` adds stop
rules and traps."""


def arrival_state(depth: int, max_depth: int, refused: str) -> State:
    """Return the state of a link that is seen for the first time."""
    if refused:
        return State.REFUSED
    return State.WAITING if depth <= max_depth else State.TOO_DEEP


def settled_state(visit: Visit, attempts: int, max_attempts: int) -> tuple[State, float | None]:
    """Return the state after a visit and the time of the next attempt, None for no other attempt.

    `attempts` counts failed visits, this one included. An address has four times as many attempts when its host is too
    busy, since that is no fault of the address.
    """
    most = max_attempts * 4 if visit.reason in _TOO_BUSY else max_attempts
    if visit.state is not State.FAILED or visit.retry_after_s is None or attempts >= most:
        return visit.state, None
    return State.FAILED, visit.at + visit.retry_after_s


def seed_reopens(state: State, reason: str, *, again: bool) -> bool:
    """Return whether a known page that a person names as a seed is to be visited (again)."""
    if state in (State.WAITING, State.TOO_DEEP, State.FAILED):
        return True
    if state is State.REFUSED:
        return again or reason in REOPENED_BY_SEED or reason.startswith(("stop:", "trap:"))
    return again


def probe_frees_page(purpose: Purpose, visit: Visit) -> bool:
    """Return whether a probe has shown that its candidate is an ordinary page after all."""
    return purpose is Purpose.PROBE and visit.verdict is not None and shows_page(visit.verdict.reason)


def shows_page(reason: str | None) -> bool:
    """Return whether an address may be a page although its probe was rejected for `reason`, since no service answered.

    When the request for capabilities is not found, the address without that request's parameters may still be a page.
    """
    return reason in _PAGE_AFTER


_PAGE_AFTER = frozenset({"html", "not-capabilities", "not-json", "http-400", "http-404", "http-405", "http-406"})
