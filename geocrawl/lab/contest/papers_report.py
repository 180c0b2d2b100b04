"""Write the papers' part of the report: the table of claims, the papers' figures, and each paper's experiments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from geocrawl.lab.contest import plots
from geocrawl.lab.contest.claims import Evidence, Finding, Verdict, findings, findings_of
from geocrawl.lab.contest.contest import WorldResults
from geocrawl.lab.contest.cuts import sentence
from geocrawl.lab.contest.html import table
from geocrawl.lab.contest.link_classes import LinkClasses
from geocrawl.lab.contest.papers import PAPERS, Claim, HarvestClaim, LinkClaim, Paper, PaperFigure
from geocrawl.lab.contest.rates import RATES, checkpoints, rate_rows, value_of
from geocrawl.lab.contest.table import HEADS, cells
from geocrawl.sanitize import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHOWN = (
    "strategy",
    "pages",
    "found",
    "precision",
    "recall",
    "area",
    "harvest",
    "discovery",
    "judged h.",
    "CPU s",
    "MiB",
)
_HEAD = ("verdict", "claim", "presets", "web", "figures", "why")


def claims_table(evidence: Evidence) -> Iterator[str]:
    """Yield the table of how often each claim is seen, a line a claim."""
    yield "<h2>What the papers claim, and what is seen here</h2>"
    counts: dict[tuple[str, str, str], Counter[Verdict]] = {}
    for finding in findings(evidence):
        counts.setdefault((finding.paper, finding.claim, finding.presets), Counter())[finding.verdict] += 1
    rows = [(*key, *(str(found[verdict]) for verdict in Verdict)) for key, found in counts.items()]
    heads = ("paper", "claim", "presets", *(f"webs: {verdict}" for verdict in Verdict))
    yield table(
        heads, rows, "Each claim by the number of webs; figures and reasons are in the papers' sections", texts=True
    )


def figures(evidence: Evidence) -> Iterator[tuple[str, str, Figure]]:
    """Yield the papers' figures, drawn from our crawls of the web that is most like the paper's.

    Yields (name for a file, title, plot). A figure whose experiment did not run is left out.
    """
    for paper in PAPERS:
        for each in paper.figures:
            results = evidence.experiments.get(each.experiment)
            worlds = [w for w in (results.worlds if results else ()) if each.web in w.study.world]
            if not worlds:
                continue
            world = min(worlds, key=lambda world: len(world.study.world))  # recorded rather than made-…
            name = world.study.world
            where = f"{name}, {each.experiment or 'its own seeds'}"
            title = f"{paper.name}, {each.number}\n{where}"
            plot = _drawn(paper, each, world, evidence, title)
            if plot is not None:
                file = "-".join(re.findall("[a-z0-9]+", f"{paper.name.partition(' ')[0]} {each.number} {name}".lower()))
                yield file, title, plot


def _drawn(paper: Paper, each: PaperFigure, world: WorldResults, evidence: Evidence, title: str) -> Figure | None:
    """Return the plot of a figure; None when nothing of it was measured."""
    if each.shows == "classes":
        classes = evidence.links.get(world.study.world)
        measured = ("precision", "recall", "accuracy")
        scores = {} if classes is None else {name: classes.scores[name] for name in each.presets}
        values = {m: {name: getattr(score, m) for name, score in scores.items()} for m in measured}
        return plots.grouped_bars(values, title) if scores else None
    ran = [strategy for strategy in world.strategies if strategy.row.strategy in each.presets and strategy.results]
    if not ran:
        return None
    if each.shows == "cost":
        rows = {strategy.row.strategy: strategy.row for strategy in ran}
        cost = {
            "CPU ms a page": {name: 1000 * (row.cpu_s or 0.0) / max(row.pages, 1) for name, row in rows.items()},
            "MiB": {name: row.peak_mib or 0.0 for name, row in rows.items()},
        }
        return plots.grouped_bars(cost, f"{title}, one worker")
    return plots.rate_curves(world, each.presets, each.shows, paper.most, title)


def paper_section(paper: Paper, evidence: Evidence) -> Iterator[str]:
    """Yield a paper's section: its own table, its claims with verdicts, and its experiments on each web."""
    yield f"<h2>{escape(paper.title)}</h2>"
    yield table(paper.head, paper.table, "The paper")
    yield f"<p class='note'>{escape(paper.note)}</p>"
    yield table(_HEAD, [_cells(finding) for finding in findings_of(paper, evidence)], "Claims", texts=True)
    for experiment in _experiments(paper, evidence):
        for world in evidence.experiments[experiment].worlds:
            yield from _on_web(paper, world, experiment)
    if any(isinstance(claim, LinkClaim) for claim in paper.claims):
        for classes in evidence.links.values():
            yield from _link_classes(classes)


def _cells(finding: Finding) -> tuple[str, ...]:
    return (finding.verdict, finding.claim, finding.presets, finding.where, finding.figures, finding.why)


def _experiments(paper: Paper, evidence: Evidence) -> list[str]:
    """Return the experiments of a paper's claims that ran, the contest itself first."""
    named = ["", *(claim.experiment for claim in paper.claims if isinstance(claim, Claim | HarvestClaim))]
    return [name for name in dict.fromkeys(named) if name in evidence.experiments]


def _on_web(paper: Paper, world: WorldResults, experiment: str) -> Iterator[str]:
    """Yield the results of a paper's strategies on a web, and their rates every 500 pages."""
    ran = [strategy for strategy in world.strategies if strategy.row.strategy in paper.strategies]
    if not ran:
        return
    where = f"{world.study.world}, {experiment}" if experiment else world.study.world
    rows = []
    for strategy in ran:
        texts, first = cells(strategy.row), value_of(strategy, world, "first_find")
        rows.append([*(texts[HEADS.index(name)] for name in _SHOWN), "-" if first is None else f"{first:,.0f}"])
    yield table((*_SHOWN, "first find"), rows, f"{where}: results")
    points = checkpoints(ran[0].row.budget, paper.most)
    names = [strategy.row.strategy for strategy in ran]
    for rate in paper.rates:
        head = ("strategy", *(f"{pages:,}" for pages in points))
        yield table(head, list(rate_rows(world, names, rate, points)), f"{where}: {RATES[rate]}")
    yield "<p class='note'>*: the crawl had ended; the last value.</p>"
    for strategy in ran:
        if said := strategy.results and sentence(strategy.row.strategy, strategy.results[0], world.study):
            yield f"<p class='note'>{escape(plain(f'{where}: {said}'))}</p>"


def _link_classes(classes: LinkClasses) -> Iterator[str]:
    rows = [
        (preset, f"{scores.precision:.1%}", f"{scores.recall:.1%}", f"{scores.accuracy:.1%}")
        for preset, scores in classes.scores.items()
    ]
    samples = f"{classes.positive:,} positive and {classes.negative:,} negative links, 7 : 3"
    yield table(
        ("classifier", "precision", "recall", "accuracy"),
        rows,
        f"{classes.world}: {samples}; the control learnt from {classes.pages:,} pages of each class",
    )
    divergences = [(name, f"{value:.2f}") for name, value in classes.divergences.items()]
    yield table(("words of", "divergence"), divergences, f"{classes.world}: Kullback-Leibler divergence in nats")
