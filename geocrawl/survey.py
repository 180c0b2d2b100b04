"""The probing loop's step: ask an endpoint what it is, and turn the answer into a settled visit.

Probes think and never do I/O (`ports.Probe`); this file makes the requests they yield, through the turn of the
leased host, so robots.txt, the delay and the address guard hold for probes exactly as for pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from geocrawl.model import (
    Candidate,
    Evidence,
    Failure,
    FailureCode,
    HostState,
    Lease,
    Purpose,
    State,
    Status,
    Verdict,
    Visit,
)
from geocrawl.ports import Clock, Fetcher, Probe, Recogniser, Turn

#: Reasons that may be gone at the next try; every other rejection is final until the service is due again.
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
        "http-429",
        "http-500",
        "http-502",
        "http-503",
        "http-504",
    }
)


@dataclass(frozen=True, slots=True)
class Barred:
    """We may not ask (robots.txt, the address guard): the endpoint is neither valid nor invalid."""

    reason: str
    """robots, robots-unreachable, guard."""
    detail: str
    retry_after_s: float | None
    """None: not at all."""


class Surveyor:
    """Probes one leased endpoint at a time."""

    def __init__(
        self, *, fetcher: Fetcher, probes: Sequence[Probe], recogniser: Recogniser, clock: Clock, retry_first_s: float
    ) -> None:
        self._fetcher = fetcher
        self._probes = probes
        self._recogniser = recogniser
        self._clock = clock
        self._retry_first_s = retry_first_s

    async def visit(self, lease: Lease) -> Visit:
        """Interview the leased endpoint; never raises for what the web does."""
        candidate = lease.entry.candidate
        assert candidate is not None, "a probe's lease carries its candidate"
        async with self._fetcher.turn(lease.host) as turn:
            found = await conduct(self._probe_for(candidate), candidate, turn)
            host = turn.host
        if isinstance(found, Barred):
            return Visit(
                lease=lease,
                state=State.REFUSED if found.retry_after_s is None else State.FAILED,
                reason=found.reason,
                host=host,
                at=self._clock.now(),
                retry_after_s=found.retry_after_s,
            )
        return self._settlement(lease, found, host, candidate)

    def _settlement(self, lease: Lease, verdict: Verdict, host: HostState, candidate: Candidate) -> Visit:
        transient = verdict.status is Status.INVALID and verdict.reason in TRANSIENT
        return Visit(
            lease=lease,
            state=State.FAILED if transient else State.VISITED,
            reason=verdict.reason,
            host=host,
            at=self._clock.now(),
            http_status=verdict.http_status,
            content_type=verdict.content_type,
            elapsed_ms=verdict.elapsed_ms,
            title=verdict.service.title if verdict.service else "",
            verdict=verdict,
            candidates=self._moved(verdict, candidate),
            retry_after_s=self._retry_first_s * 2**lease.entry.attempts if transient else None,
        )

    def _moved(self, verdict: Verdict, candidate: Candidate) -> tuple[tuple[Candidate, None], ...]:
        """A redirect to another host names a candidate of its own, probed in that host's turn."""
        if verdict.moved_to is None:
            return ()
        target = self._recogniser.of_url(verdict.moved_to)
        if target is None or target.endpoint.key == candidate.endpoint.key:
            return ()
        evidence = Evidence("redirect", candidate.endpoint.url.address, verdict.moved_to.address)
        return ((replace(target, evidence=evidence, weak=False), None),)

    def _probe_for(self, candidate: Candidate) -> Probe:
        return max(self._probes, key=lambda probe: probe.recognise(candidate))


async def conduct(probe: Probe, candidate: Candidate, turn: Turn) -> Verdict | Barred:
    """Make the requests that a probe's interview asks for, until its verdict.

    Returns `Barred` as soon as one of them may not be made.
    """
    interview = probe.interview(candidate)
    try:
        ask = next(interview)
        while True:
            answer = await turn.fetch(ask.url, purpose=Purpose.PROBE)
            if isinstance(answer, Failure) and answer.code in (FailureCode.ROBOTS, FailureCode.GUARD):
                interview.close()
                reason = str(answer.code) if answer.retry_after_s is None else "robots-unreachable"
                return Barred(reason, answer.detail, answer.retry_after_s)
            ask = interview.send(answer)
    except StopIteration as end:
        verdict: Verdict = end.value
        return verdict
