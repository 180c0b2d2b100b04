"""Write the papers' part of the report: the table of claims, and each paper's experiments as they were printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape

from geocrawl.lab.contest import plots
from geocrawl.lab.contest.claims import Evidence, Finding, Verdict, findings, findings_of
from geocrawl.lab.contest.contest import WorldResults
from geocrawl.lab.contest.cuts import sentence
from geocrawl.lab.contest.html import table
from geocrawl.lab.contest.link_classes import LinkClasses
from geocrawl.lab.contest.papers import Claim, HarvestClaim, LinkClaim, Paper
from geocrawl.lab.contest.rates import RATES, checkpoints, rate_rows, value_of
from geocrawl.lab.contest.table import HEADS, cells
from geocrawl.sanitize import plain

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


def paper_section(paper: Paper, evidence: Evidence, *, with_plots: bool) -> Iterator[str]:
    """Yield a paper's section: its own table, its claims with verdicts, and its experiments and figures on each web."""
    yield f"<h2>{escape(paper.title)}</h2>"
    yield table(paper.head, paper.table, "The paper")
    yield f"<p class='note'>{escape(paper.note)}</p>"
    yield table(_HEAD, [_cells(finding) for finding in findings_of(paper, evidence)], "Claims", texts=True)
    for experiment in _experiments(paper, evidence):
        for world in evidence.experiments[experiment].worlds:
            yield from _on_web(paper, world, experiment, with_plots=with_plots)
    if any(isinstance(claim, LinkClaim) for claim in paper.claims):
        for classes in evidence.links.values():
            yield from _link_classes(classes)


def _cells(finding: Finding) -> tuple[str, ...]:
    return (finding.verdict, finding.claim, finding.presets, finding.where, finding.figures, finding.why)


def _experiments(paper: Paper, evidence: Evidence) -> list[str]:
    """Return the experiments of a paper's claims that ran, the contest itself first."""
    named = ["", *(claim.experiment for claim in paper.claims if isinstance(claim, Claim | HarvestClaim))]
    return [name for name in dict.fromkeys(named) if name in evidence.experiments]


def _on_web(paper: Paper, world: WorldResults, experiment: str, *, with_plots: bool) -> Iterator[str]:
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
    for rate, drawn in paper.rates.items():
        head = ("strategy", *(f"{pages:,}" for pages in points))
        yield table(head, list(rate_rows(world, names, rate, points)), f"{where}: {RATES[rate]}")
        if drawn and with_plots and len(names) > 1:
            yield f"<p class='note'>As {escape(drawn)} of the paper:</p>"
            yield plots.as_image(plots.rate_curves(world, names, rate, paper.most), f"{where}: {RATES[rate]}")
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
