"""Compare the papers' claims with the results of a contest. The causes of disagreement are conjectures.

The tables are copied from the papers. The papers measured other webs, so order and ratio are compared, never the
numbers themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from geocrawl.lab.contest.contest import ContestResults, Row, StrategyResult, WorldResults, rates
from geocrawl.lab.contest.run import CrawlResult
from geocrawl.lab.contest.study import Study

EARLY = 0.5
"""A crawl that ends by itself before this share of the pages that it could read has discarded links on the way."""
LEAST_DIFFERENCE = 0.01
"""Share of the larger value: a smaller difference is no evidence for or against a claim."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A result that a paper reports: one strategy is better than another by one measure."""

    text: str
    better: str
    worse: str
    measured: str
    """The column of `Row` that the claim is about (for `pages_…` less is better), or a rate@pages: recall, harvest_rate
    or discovery_rate after so many pages, but no later than after a third of the budget, where the curves are apart.
    """
    because: str
    """A possible cause when our result differs: a known difference between the paper's method or web and ours. The
    report prints this as a conjecture, because no contest measures causes.
    """


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper's section of the report."""

    title: str
    head: Sequence[str]
    table: Sequence[Sequence[str]]
    """The paper's table, as printed."""
    strategies: Sequence[str]
    claims: Sequence[Claim]
    note: str


_GWS = Paper(
    title="gws: Shen, Gui, You, Hu, Wu (2015), a topic crawler for discovering geospatial web services",
    head=("seed", "crawler", "pages downloaded", "WMS", "precision"),
    table=(
        ("1: a page listing OGC WMS servers", "generic (breadth-first)", "1,820", "888", "48.68 %"),
        ("", "gws", "1,373", "886", "64.53 %"),
        ("2: a national geological survey's home page", "generic", "18,955", "153", "0.81 %"),
        ("", "gws", "2,201", "153", "6.95 %"),
    ),
    strategies=("gws:paper", "gws", "bfs"),
    claims=(
        Claim(
            "gws has found 90 % of its services after fewer pages than breadth-first",
            "gws:paper",
            "bfs",
            "pages_90",
            "where nearly every page is about WMS, the words of pages and links distinguish little",
        ),
        Claim(
            "gws has the larger area",
            "gws:paper",
            "bfs",
            "area",
            "breadth-first is at its best with services that are one link from the seed",
        ),
        Claim(
            "gws is more precise (services found / pages downloaded)",
            "gws:paper",
            "bfs",
            "precision",
            "services lie behind pages without a word of the topic, to which the discarded links lead",
        ),
    ),
    note="The paper's crawls end when the queue is empty. Ours end there too, or at the budget.",
)
_HITS = Paper(
    title="hits: Liu, Li (2017), topic crawler algorithm with link structure",
    head=("crawler", "recall at 5,000 pages"),
    table=(("best-first", "67 %"), ("best-n-first", "69 %"), ("fusion of best-first and HITS", "75 %")),
    strategies=(
        "hits:paper",
        "best-n-first:paper",
        "best-first:paper",
        "best-first-page:paper",
        "best-first-anchor:paper",
        "hits",
        "best-n-first",
        "best-first",
    ),
    claims=(
        Claim(
            "HITS finds earlier than best-first",
            "hits:paper",
            "best-first:paper",
            "recall@5000",
            "hits drops the links of pages below the threshold, best-first follows them",
        ),
        Claim(
            "HITS finds earlier than best-n-first",
            "hits:paper",
            "best-n-first:paper",
            "recall@5000",
            "hits drops the links of pages below the threshold, best-n-first follows them",
        ),
        Claim(
            "best-n-first finds earlier than best-first",
            "best-n-first:paper",
            "best-first:paper",
            "recall@5000",
            "the two differ only where a better link turns up within one batch",
        ),
    ),
    note="The weakness that the paper names, run time, is shown in the column CPU s.",
)
_ADAPTIVE = Paper(
    title="adaptive: Min, Huang (2015), user-defined topic focused crawler",
    head=("crawler", "harvest rate at 3,000 pages, 10 seeds"),
    table=(("best-first, trained", "about 75 %"), ("adaptive", "about 70 %"), ("breadth-first", "below 40 %")),
    strategies=("best-first-page:gain", "best-first-page:chi2", "adaptive:paper", "adaptive", "bfs"),
    claims=(
        Claim(
            "adaptive harvests more than breadth-first",
            "adaptive:paper",
            "bfs",
            "harvest_rate@3000",
            "its topic comes from the seeds' text, and a directory's front page has little text about map services",
        ),
        Claim(
            "trained best-first (information gain) harvests more than adaptive",
            "best-first-page:gain",
            "adaptive:paper",
            "harvest_rate@3000",
            "the topic was trained on words of other sites; the seeds' own words may fit a world better",
        ),
        Claim(
            "trained best-first (χ²) harvests more than adaptive",
            "best-first-page:chi2",
            "adaptive:paper",
            "harvest_rate@3000",
            "the topic was trained on words of other sites; the seeds' own words may fit a world better",
        ),
    ),
    note="The worlds' seeds are home pages and directories, one to six of them, not ten pages of one topic.",
)
_IPAGERANK = Paper(
    title="ipagerank: Li, Zhao, Yu, the SkyReach focused crawler",
    head=("crawler", "precision and discovery rate at 500 … 4,000 pages"),
    table=(("IPageRank", "above both"), ("PageRank, breadth-first", "the text names no order between them")),
    strategies=("ipagerank:paper", "pagerank:paper", "ipagerank", "pagerank", "bfs"),
    claims=(
        Claim(
            "IPageRank is above PageRank",
            "ipagerank:paper",
            "pagerank:paper",
            "discovery_rate@4000",
            "where no link's text contains a word of the topic, RW is 0 and nothing is passed on",
        ),
        Claim(
            "IPageRank is above breadth-first",
            "ipagerank:paper",
            "bfs",
            "discovery_rate@4000",
            "RW is 0 where anchors contain no word of the topic",
        ),
    ),
    note="Read for their order only: the paper's figures are curves. The test set was 20 topic sites and 60 others, as "
    "`mixed` is. The page filter is off there and here.",
)
_BAYES = Paper(
    title="bayes: Han et al. (2010), professional crawling guided by a naive Bayes classifier",
    head=("measure", "reported"),
    table=(
        ("harvest by a human sample", "98 %"),
        ("harvest by a page classifier, 50,000 pages", "about 90 %"),
        ("KL divergence, pages : link contexts", "2.09"),
        ("KL divergence, pages : pages / contexts : contexts", "0.57 / 0.78"),
    ),
    strategies=("bayes:paper", "bayes:anchors", "bayes", "bfs"),
    claims=(
        Claim(
            "anchor, context and lexicon together are better than the anchor alone",
            "bayes:paper",
            "bayes:anchors",
            "area",
            "the paper compares how links are classified, not how early a crawl finds; navigation has no context",
        ),
    ),
    note="The paper compares with no breadth-first crawl. Divergences and the page-trained control are measured where "
    "the model is trained, not in a crawl.",
)
PAPERS = (_GWS, _HITS, _ADAPTIVE, _IPAGERANK, _BAYES)


def verdicts(paper: Paper, results: ContestResults) -> list[str]:
    """Return a sentence for each claim and world by the measured values, also where a strategy did not run."""
    return [_verdict(claim, world) for claim in paper.claims for world in results.worlds]


def _verdict(claim: Claim, world: WorldResults) -> str:
    strategies = {strategy.row.strategy: strategy for strategy in world.strategies}
    missing = [name for name in (claim.better, claim.worse) if name not in strategies]
    if missing:
        return f"{world.study.world}: not compared, {' and '.join(missing)} did not run ({claim.text})."
    first, second = (value_of(strategies[name], world, claim.measured) for name in (claim.better, claim.worse))
    if first is None or second is None:
        return f"{world.study.world}: not compared, one of them found nothing ({claim.text})."
    less = claim.measured.startswith("pages")
    show: Callable[[float], str] = (lambda value: f"{value:,.0f}") if less else (lambda value: f"{value:.3f}")
    label = value_label(claim.measured, strategies[claim.better].row.budget)
    figures = f"{label} {show(first)} for {claim.better}, {show(second)} for {claim.worse}"
    ends = "".join(_early_end(strategies[name].row, world.study) for name in (claim.better, claim.worse))
    maybe = f"{ends}Not measured, but possible: {claim.because}."
    if abs(first - second) < LEAST_DIFFERENCE * max(abs(first), abs(second)) or first == second:
        return f"{world.study.world}: no difference to speak of: {claim.text}; here {figures}. {maybe}"
    if (first < second) == less:
        return f"{world.study.world}: agrees: {claim.text}; {figures}{_factor(first, second, less)}."
    return f"{world.study.world}: differs: {claim.text}; here {figures}. {maybe}"


def _early_end(row: Row, study: Study) -> str:
    """Return a sentence about a crawl whose queue was empty before it had read half of what it could; else ''."""
    pages = min(row.budget, len(study.reachable))
    if row.stopped != "done" or row.pages >= EARLY * pages:
        return ""
    return (
        f"{row.strategy} ended after {row.pages:,.0f} of {len(study.reachable):,} reachable pages, "
        "because it discards links. "
    )


def _factor(first: float, second: float, less: bool) -> str:
    low, high = (first, second) if less else (second, first)
    return f" (a factor of {high / low:.2f})" if low > 0 else ""


def value_label(name: str, budget: int) -> str:
    """Return the name of a measured value for people."""
    rate, at, pages = name.partition("@")
    if name.startswith("pages_"):
        return f"pages until {name.removeprefix('pages_')} % of what it finds"
    words = rate.replace("_", " ")
    return f"{words} after {_pages_at(int(pages), budget):,} pages" if at else words


def value_of(strategy: StrategyResult, world: WorldResults, name: str) -> float | None:
    """Return a column of the row, or a rate after so many pages: the mean of the strategy's crawls."""
    rate, at, pages = name.partition("@")
    if not at:
        value = getattr(strategy.row, name)
        return None if value is None else float(value)
    number = _pages_at(int(pages), strategy.row.budget)
    values = [rate_after(result, world.study, rate, number) for result in strategy.results]
    return sum(values) / len(values) if values else None


def rate_after(result: CrawlResult, study: Study, rate: str, pages: int) -> float:
    """Return recall, harvest_rate or discovery_rate of a crawl after its first pages."""
    if rate == "recall":
        found = sum(time <= pages for time in result.score.curve)
        return found / result.score.reachable if result.score.reachable else 0.0
    harvest, discovery = rates(result.visited[:pages], study.relevant, study.relevant & study.reachable)
    return harvest if rate == "harvest_rate" else discovery


def _pages_at(pages: int, budget: int) -> int:
    return max(1, min(pages, budget // 3))
