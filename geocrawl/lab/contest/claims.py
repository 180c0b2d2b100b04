"""Hold the papers' claims against the figures of a contest: seen, not seen, or not comparable, and why."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from io import StringIO

from geocrawl.lab.contest.contest import ContestResults, StrategyResult, WorldResults
from geocrawl.lab.contest.cuts import sentence
from geocrawl.lab.contest.link_classes import LinkClasses
from geocrawl.lab.contest.papers import PAPERS, Claim, HarvestClaim, LinkClaim, Paper, Remark
from geocrawl.lab.contest.rates import rate_after, sooner, value_label, value_of
from geocrawl.priority.registry import strategy_values

LEAST_DIFFERENCE = 0.01
"""Share of the larger value: a smaller difference is no evidence for or against a claim."""
ABOUT = 0.05
"""A harvest is about as high as a paper's when it is lower by no more than this."""
KEPT = 0.99
LEAST_ON_TOPIC = 100
"""A web with fewer pages on the topic says nothing about a harvest."""
_LEAST_ITERATIONS = 3
"""A rate is compared no sooner than after so many iterations of the better method, and within half of the web."""
_LESS = ("first_find", "pages", "cpu_ms")
"""Measured values where less is better."""
_NEED_END = ("pages", "kept")
"""Measured values that a crawl has when its queue is empty, not when its budget is spent."""
_NEED_TRUTH = ("harvest_rate", "discovery_rate")


class Verdict(StrEnum):
    """What the figures say of a claim."""

    SEEN = "seen"
    NOT_SEEN = "not seen"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim on one web, with its verdict."""

    paper: str
    claim: str
    presets: str
    where: str
    """The web, with the experiment if it is not the contest itself; '' for a remark."""
    figures: str
    verdict: Verdict
    why: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """The measurements by which the papers' claims are judged."""

    experiments: Mapping[str, ContestResults]
    """Name → results; '' is the contest itself."""
    not_run: Mapping[str, str] = field(default_factory=dict)
    """Name of an experiment → why it has no results."""
    links: Mapping[str, LinkClasses] = field(default_factory=dict)
    """World → its classifiers of links."""


def findings(evidence: Evidence) -> list[Finding]:
    """Return the verdict on each claim of each paper, on each web; those that cannot be compared stand last."""
    return _comparable_first(finding for paper in PAPERS for finding in findings_of(paper, evidence))


def findings_of(paper: Paper, evidence: Evidence) -> list[Finding]:
    """Return the verdict on each claim of a paper, on each web; those that cannot be compared stand last."""
    return _comparable_first(_findings_of(paper, evidence))


def _comparable_first(found: Iterable[Finding]) -> list[Finding]:
    return sorted(found, key=lambda finding: finding.verdict is Verdict.NOT_COMPARABLE)


def _findings_of(paper: Paper, evidence: Evidence) -> Iterator[Finding]:
    for claim in paper.claims:
        if isinstance(claim, Remark):
            yield Finding(paper.name, claim.text, ", ".join(claim.presets), "", "", Verdict.NOT_COMPARABLE, claim.why)
        elif isinstance(claim, LinkClaim):
            yield from _of_links(paper, claim, evidence)
        else:
            yield from _of_crawls(paper, claim, evidence)


def findings_csv(found: Sequence[Finding]) -> str:
    """Return a line for each finding."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("paper", "claim", "presets", "web", "figures", "verdict", "why"))
    for each in found:
        writer.writerow((each.paper, each.claim, each.presets, each.where, each.figures, each.verdict, each.why))
    return text.getvalue()


def findings_lines(found: Sequence[Finding]) -> Iterator[str]:
    """Yield the findings for people: each claim with its presets, and below it a line for each web."""
    claim = None
    for each in found:
        if (each.paper, each.claim, each.presets) != claim:
            claim = (each.paper, each.claim, each.presets)
            yield f"{each.paper}: {each.claim} [{each.presets}]"
        yield (
            f"  {each.verdict}{f', {each.where}' if each.where else ''}{f': {each.figures}' if each.figures else ''}"
            + (f". {each.why}" if each.why else "")
        )


# --------------------------------------------------------------------------- claims about crawls


def _of_crawls(paper: Paper, claim: Claim | HarvestClaim, evidence: Evidence) -> Iterator[Finding]:
    names = (claim.better, claim.worse) if isinstance(claim, Claim) else (claim.preset,)
    results = evidence.experiments.get(claim.experiment)
    if results is None or not results.worlds:
        why = evidence.not_run.get(claim.experiment, "the experiment runs with evaluate --papers alone")
        yield Finding(paper.name, claim.text, ", ".join(names), claim.experiment, "", Verdict.NOT_COMPARABLE, why)
        return
    for world in results.worlds:
        where = f"{world.study.world} ({claim.experiment})" if claim.experiment else world.study.world
        figures, verdict, why = _judged(claim, names, world)
        yield Finding(paper.name, claim.text, ", ".join(names), where, figures, verdict, why)


def _judged(claim: Claim | HarvestClaim, names: Sequence[str], world: WorldResults) -> tuple[str, Verdict, str]:
    """Return (figures, verdict, why) of a claim on a web."""
    ran = {strategy.row.strategy: strategy for strategy in world.strategies if strategy.results}
    missing = [name for name in names if name not in ran]
    if missing:
        return "", Verdict.NOT_COMPARABLE, f"{' and '.join(missing)} did not run"
    if isinstance(claim, HarvestClaim):
        return _harvest(claim, ran[claim.preset], world)
    if not world.study.has_truth and claim.measured.startswith(_NEED_TRUTH):
        return "", Verdict.NOT_COMPARABLE, "a recording has no truth about relevant pages"
    better, worse = ran[claim.better], ran[claim.worse]
    least = _LEAST_ITERATIONS * _period(better) if "@" in claim.measured else 0
    if least > min(world.study.pages // 2, better.row.budget):
        reason = (
            f"{claim.better} iterates every {_period(better):,} pages, so it has hardly begun in a web of this size"
        )
        return "", Verdict.NOT_COMPARABLE, reason
    if claim.measured in _NEED_END and _broken_off(worse, world):
        return "", Verdict.NOT_COMPARABLE, f"{claim.worse} had not read what it could when its budget was spent"
    if claim.measured in ("sooner", "kept"):
        figures, seen = _finds(claim.measured, better, worse)
    else:
        first, second = (value_of(each, world, claim.measured, least) for each in (better, worse))
        if first is None or second is None:
            return "", Verdict.NOT_COMPARABLE, "one of the two found nothing"
        figures, seen = _compared(claim, first, second, value_label(better, world, claim.measured, least))
    if seen:
        return figures, Verdict.SEEN, ""
    why = [sentence(each.row.strategy, each.results[0], world.study) for each in (better, worse)]
    if claim.because:
        why.append(f"Not measured, but possible: {claim.because}.")
    return figures, Verdict.NOT_SEEN, " ".join(filter(None, why))


def _period(strategy: StrategyResult) -> int:
    """Return after how many pages a strategy iterates over its graph (p of hits, q of ipagerank); 0 without one."""
    job = strategy.results[0].job
    values = strategy_values(job.strategy, job.set)
    return int(values.get("p", values.get("q", 0)))


def _broken_off(strategy: StrategyResult, world: WorldResults) -> bool:
    """Return whether a budget ended one of the strategy's crawls before it had read what can be reached."""
    reachable = len(world.study.reachable)
    return any(result.stopped != "done" and result.score.pages < reachable for result in strategy.results)


def _finds(measured: str, better: StrategyResult, worse: StrategyResult) -> tuple[str, bool]:
    """Return (figures, whether the claim is seen) of a claim about single finds."""
    number, of = sooner(better.curve, worse.curve)
    if measured == "kept":
        found, other = better.row.found, worse.row.found
        return f"{found:,.0f} found of {other:,.0f}", found >= KEPT * other
    missing = max(of - len(better.curve), 0)
    lost = f", {missing:,} are not found at all" if missing else ""
    return f"{number:,} of {of:,} finds after no more pages{lost}", of > 0 and number == of


def _compared(claim: Claim, first: float, second: float, label: str) -> tuple[str, bool]:
    """Return (figures, whether the claim is seen) of two values; `label` names what they are."""
    less = claim.measured in _LESS
    shown = [f"{value:,.0f}" if less and value >= 10 else f"{value:,.3g}" for value in (first, second)]
    low, high = sorted((first, second))
    factor = f" (a factor of {high / low:.2f})" if low > 0 else ""
    figures = f"{label}: {shown[0]} for {claim.better}, {shown[1]} for {claim.worse}{factor}"
    if first == second or abs(first - second) < LEAST_DIFFERENCE * max(abs(first), abs(second)):
        return f"{figures}: no difference to speak of", False
    return figures, (first < second) == less


def _harvest(claim: HarvestClaim, strategy: StrategyResult, world: WorldResults) -> tuple[str, Verdict, str]:
    """Hold a judged harvest against the paper's, after half as many pages as the web has on the topic."""
    on_topic = len(world.study.judged & world.study.reachable)
    pages = min(on_topic // 2, strategy.row.budget)
    if on_topic < LEAST_ON_TOPIC:
        return "", Verdict.NOT_COMPARABLE, f"the judge calls {on_topic:,} pages of this web relevant, too few"
    rates = [rate_after(result, world.study, "judged_harvest_rate", pages) for result in strategy.results]
    rate = sum(rates) / len(rates)
    figures = f"{rate:.1%} of the first {pages:,} pages; the web has {on_topic:,} on the topic"
    if rate >= claim.share - ABOUT:
        return figures, Verdict.SEEN, ""
    return figures, Verdict.NOT_SEEN, "Not measured, but possible: the ways to those pages lead over others."


# --------------------------------------------------------------------------- claims about links


def _of_links(paper: Paper, claim: LinkClaim, evidence: Evidence) -> Iterator[Finding]:
    presets = "bayes:paper" if claim.measured == "divergence" else f"{claim.better}, {claim.worse}"
    if not evidence.links:
        why = "the classifiers are trained with evaluate --papers alone, on webs with a truth"
        yield Finding(paper.name, claim.text, presets, "", "", Verdict.NOT_COMPARABLE, why)
    for world, classes in evidence.links.items():
        values: Mapping[str, float] = (
            classes.divergences
            if claim.measured == "divergence"
            else {preset: getattr(scores, claim.measured) for preset, scores in classes.scores.items()}
        )
        better, worse = values[claim.better], values[claim.worse]
        figures = f"{claim.measured}: {better:.3f} for {claim.better}, {worse:.3f} for {claim.worse}"
        seen = better - worse >= LEAST_DIFFERENCE * max(better, worse)
        if not seen and abs(better - worse) < LEAST_DIFFERENCE * max(better, worse):
            figures += ": no difference to speak of"
        yield Finding(paper.name, claim.text, presets, world, figures, Verdict.SEEN if seen else Verdict.NOT_SEEN, "")
