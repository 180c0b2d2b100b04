"""Count what one run of the crawl did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from geocrawl.model import Purpose, Settled, State, Status, Visit


@dataclass(slots=True)
class RunSummary:
    """The counts of one run of a crawl."""

    pages: int = 0
    """Number of answered pages, without robots.txt, redirects and probes."""
    failures: int = 0
    records: int = 0
    """Number of pages that were read and may be pages of records: data, or a page that led to records or services."""
    probes: int = 0
    valid: int = 0
    links: int = 0
    """Number of new links."""
    seconds: float = 0.0
    stopped: str = ""
    """Reason why the run ended: done, max-pages, max-time, signal, resting (only failed addresses are left, to be
    retried later), patience (hosts with addresses never visited are in back-off for too long), outage (a fault of this
    machine lasts too long).
    """
    interrupted: bool = False
    """Whether the signal that stopped the run was Ctrl-C."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Failed and refused visits by reason."""

    @property
    def visits(self) -> int:
        """Return the number of visits that were answered or failed, without refused ones."""
        return self.pages + self.probes + self.failures

    def plus(self, other: RunSummary) -> RunSummary:
        """Return the counts of this process and of another one of the same run."""
        return replace(
            self,
            pages=self.pages + other.pages,
            failures=self.failures + other.failures,
            records=self.records + other.records,
            probes=self.probes + other.probes,
            valid=self.valid + other.valid,
            links=self.links + other.links,
            reasons=dict(Counter(self.reasons) + Counter(other.reasons)),
        )

    def count(self, visit: Visit, settled: Settled) -> None:
        """Count a settled visit."""
        if visit.lease.entry.purpose is Purpose.PROBE:
            self.probes += visit.found is not None
            self.valid += visit.found is Status.VALID
        elif visit.is_page_answered:
            self.pages += 1
            is_data = "html" not in visit.content_type
            self.records += visit.state is State.VISITED and bool(is_data or visit.links or visit.candidates)
        if visit.state in (State.FAILED, State.REFUSED):
            self.failures += visit.state is State.FAILED
            self.reasons[visit.reason] = self.reasons.get(visit.reason, 0) + 1
        self.links += settled.new_links
