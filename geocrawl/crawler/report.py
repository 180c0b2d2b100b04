"""Report what a crawl or a harvest did, as JSON for programs and as lines for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geocrawl.crawler.summary import RunSummary


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """The report of a crawl."""

    summary: RunSummary
    strategy: str
    database: Path
    seeds: int
    waiting: int
    services: int
    no_seed_answered: bool
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the counts under stable names."""
        s = self.summary
        return {
            **_counts(s),
            "new_links": s.links,
            "strategy": self.strategy,
            "database": str(self.database),
            "waiting": self.waiting,
            "services": self.services,
        }

    def lines(self) -> list[str]:
        """Return a summary of a few lines."""
        s = self.summary
        ends = {
            "done": "nothing waits any more",
            "max-pages": "the limit of pages is reached (--max-pages)",
            "max-time": "the time is up (--max-time)",
            "signal": "stopped; `geocrawl crawl` goes on from here",
            "resting": "the rest failed and will be retried; run `geocrawl crawl` later",
        }
        rate = s.pages / s.seconds if s.seconds else 0.0
        out = [
            f"{s.pages:,} pages in {s.seconds:.1f} s ({rate:.1f}/s), {s.failures:,} failed or blocked; "
            f"{s.probes:,} endpoints probed, {s.valid:,} of them valid.",
            f"Ended: {ends.get(s.stopped, s.stopped)}. {self.waiting:,} addresses are queued.",
            f"The catalogue holds {self.services:,} valid endpoints: {self.database}",
        ]
        if s.reasons:
            out.insert(1, _not_read(s))
        if "guard" in s.reasons:
            out.insert(2, "Private addresses were refused by the address guard; use --allow-private to allow them.")
        if self.no_seed_answered:
            out.insert(0, "None of the given pages could be fetched (see `geocrawl why URL`).")
        return out


@dataclass(frozen=True, slots=True)
class HarvestReport:
    """The report of a harvest."""

    summary: RunSummary
    database: Path
    services: int
    since: str = ""
    """The day since which records were requested (YYYY-MM-DD); '' for all."""

    def as_json(self) -> dict[str, object]:
        """Return the counts under stable names."""
        return {
            **_counts(self.summary),
            "since": self.since,
            "database": str(self.database),
            "services": self.services,
        }

    def lines(self) -> list[str]:
        """Return a summary of a few lines."""
        s = self.summary
        ends = {
            "done": "all pages within the bounds are read (--max-pages, --max-records)",
            "max-pages": "the limit of pages is reached (--max-pages); the same command goes on",
            "max-time": "the time is up (--max-time); the same command goes on",
            "signal": "stopped; the same command goes on from here",
            "resting": "the rest failed and will be retried; run the same command later",
        }
        changed = f" of what was changed since {self.since}" if self.since else ""
        out = [
            f"{s.pages:,} pages of records{changed} in {s.seconds:.1f} s; "
            f"{s.probes:,} endpoints probed, {s.valid:,} of them valid.",
            f"Ended: {ends.get(s.stopped, s.stopped)}.",
            f"The catalogue holds {self.services:,} valid endpoints: {self.database}",
        ]
        if not s.pages:
            out.insert(0, "No page of records was read: is this the address of a catalogue?")
        if s.reasons:
            out.insert(1, _not_read(s))
        return out


def _counts(summary: RunSummary) -> dict[str, object]:
    return {
        "pages": summary.pages,
        "failures": summary.failures,
        "probes": summary.probes,
        "valid": summary.valid,
        "seconds": round(summary.seconds, 3),
        "stopped": summary.stopped,
        "reasons": summary.reasons,
    }


def _not_read(summary: RunSummary) -> str:
    """Return a line with the commonest reasons of failed and refused visits."""
    common = sorted(summary.reasons.items(), key=lambda item: (-item[1], item[0]))[:6]
    return "Not read: " + ", ".join(f"{reason} {count:,}" for reason, count in common) + "."
