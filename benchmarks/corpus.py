"""The recorded answers: what every probe makes of every document, as a table of labels and verdicts.

Each document is given to the probe of each kind, as the answer to whatever it asks. A probe must read nearly all
documents of its own kind, and none must take an exception, or what is no service at all, for one.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from geocrawl.model import Page, Status, Verdict
from geocrawl.ports import Probe
from geocrawl.probe.registry import probes
from tests.support.interviews import MAX_REQUESTS, candidate
from tests.support.places import shared_folder

LEAST_READ = 0.98
"""Share of a label's documents that its own probe reads."""
NONE_OF = ("exception", "other")
"""Labels of which no probe may accept any."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Judge all recorded documents, and print the table; missed is what is judged worse than promised."""
    figures = judged(shared_folder() / "corpus" / "documents", probes())
    _print(figures)
    too_little = [f"{kind}: fewer than {LEAST_READ:.0%} are read" for kind in figures["read_too_little"]]
    return {**figures, "missed": [*too_little, *figures["accepted_wrongly"]]}


def judged(documents: Path, every: Iterable[Probe]) -> dict[str, Any]:
    """Counts by label and probe, misses with their reason, false accepts, and which deviations were met."""
    files = {label.name: sorted(label.iterdir()) for label in sorted(documents.iterdir()) if label.is_dir()}
    verdicts = {
        str(probe.kind): {label: {path.name: judge(probe, path) for path in paths} for label, paths in files.items()}
        for probe in every
    }
    own = {kind: verdicts[kind][kind] for kind in verdicts if kind in files}
    return {
        "documents": {label: len(paths) for label, paths in files.items()},
        "accepted": {
            kind: {label: count for label, each in by_label.items() if (count := sum(map(is_valid, each.values())))}
            for kind, by_label in verdicts.items()
        },
        "read_of_own": {kind: round(_share(each), 4) for kind, each in own.items()},
        "read_too_little": sorted(kind for kind, each in own.items() if _share(each) < LEAST_READ),
        "missed": {
            kind: {
                name: f"{verdict.reason}: {verdict.detail}"[:200]
                for name, verdict in each.items()
                if not is_valid(verdict)
            }
            for kind, each in own.items()
        },
        "accepted_wrongly": [
            f"{label}/{name} as {kind}"
            for kind, by_label in verdicts.items()
            for label in NONE_OF
            for name, verdict in by_label[label].items()
            if is_valid(verdict)
        ],
        "reasons_of_own_probe": {kind: dict(Counter(v.reason for v in each.values())) for kind, each in own.items()},
        "broken": _broken(verdicts),
        "deviations": dict(
            Counter(
                each.code for rows in own.values() for verdict in rows.values() for each in verdict.deviations
            ).most_common()
        ),
    }


def _share(verdicts: Mapping[str, Verdict]) -> float:
    return sum(map(is_valid, verdicts.values())) / max(len(verdicts), 1)


def _broken(verdicts: Mapping[str, Mapping[str, Mapping[str, Verdict]]]) -> dict[str, list[str]]:
    """Each broken document with the kinds that read it over its fault, and the deviations."""
    found: dict[str, list[str]] = {}
    for kind, by_label in verdicts.items():
        for name, verdict in by_label["broken"].items():
            row = found.setdefault(name, [])
            if is_valid(verdict):
                row.append(f"{kind} with " + ", ".join(each.code for each in verdict.deviations))
    return found


def judge(probe: Probe, path: Path) -> Verdict:
    """The verdict on an endpoint that answers every request with this document. What a probe raises is raised."""
    body = path.read_bytes()
    content_type = "application/json" if body.lstrip()[:1] in (b"{", b"[") else "text/xml"
    interview = probe.interview(candidate(probe.kind))
    try:
        asked = next(interview)
        for _ in range(MAX_REQUESTS):
            page = Page(asked.url, asked.url, 200, {"content-type": content_type}, body, 1.0, 0.0)
            asked = interview.send(page)
    except StopIteration as end:
        verdict: Verdict = end.value
        return verdict
    raise AssertionError(f"the interview of {probe.kind} has not ended after {MAX_REQUESTS} requests")


def is_valid(verdict: Verdict) -> bool:
    """Whether the document was accepted."""
    return verdict.status is Status.VALID


def _print(figures: Mapping[str, Any]) -> None:
    """Rows: labels; columns: what the probe of each kind accepted of them."""
    kinds = list(figures["accepted"])
    print(f"{'label':<12}{'all':>5}" + "".join(f"{kind:>9}" for kind in kinds))
    for label, count in figures["documents"].items():
        cells = "".join(f"{figures['accepted'][kind].get(label, 0) or '·':>9}" for kind in kinds)
        print(f"{label:<12}{count:>5}{cells}")
