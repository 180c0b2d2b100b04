"""State what the five papers report: their tables, and their claims about the strategies that geocrawl implements.

The tables are copied from the papers, and a claim stands here only when the paper's text makes it. The papers measured
other webs, so order and ratio are compared, never the numbers themselves. `claims` holds each claim against a contest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geocrawl.priority.options import SEPARATOR

SECOND_TOPIC = "second topic"
TEN_SEEDS = "ten seeds"
AS_SHEN = "depth 5, five threads, queries alone"
OFF_TOPIC_SEEDS = "ten seeds off the topic"
"""Names of the experiments besides the contest itself, which is '' (`experiments`)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A result that a paper reports: one preset is better than another by one measure."""

    text: str
    better: str
    worse: str
    measured: str
    """A value of `rates.value_of` (for `first_find`, `pages`, `cpu_ms` less is better), `sooner` (each find after no
    more pages) or `kept` (as many finds, but for one in a hundred).
    """
    because: str = ""
    """A possible cause when our result differs: a known difference between the paper's method or web and ours. The
    report prints it as a conjecture, because no contest measures causes.
    """
    experiment: str = ""


@dataclass(frozen=True, slots=True)
class LinkClaim:
    """A result about classifiers of links, which are trained and tested on the links of a web (`link_classes`)."""

    text: str
    better: str
    """A preset, or a pair of texts whose words diverge more."""
    worse: str
    measured: str
    """`precision`, `recall` or `divergence`."""


@dataclass(frozen=True, slots=True)
class HarvestClaim:
    """A share of pages on the topic, by the fixed judge, that a paper's crawl kept up."""

    text: str
    preset: str
    share: float
    experiment: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """A result of a paper that no replay of a recorded web can show."""

    text: str
    presets: Sequence[str]
    why: str


AnyClaim = Claim | LinkClaim | HarvestClaim | Remark


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A figure of a paper that is drawn again from our crawls."""

    number: str
    """As printed, `Fig. 2`; what it shows for a result that a paper prints in words or in a table."""
    shows: str
    """Rate of `rates.RATES`, drawn over pages; `cost` (CPU time and memory) or `classes` (classifiers of links)."""
    presets: Sequence[str]
    web: str
    """Part of the name of the webs that are like the paper's."""
    experiment: str = ""


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper's section of the report."""

    name: str
    """The strategy and the authors, for tables."""
    title: str
    head: Sequence[str]
    table: Sequence[Sequence[str]]
    """The paper's table, as printed."""
    strategies: Sequence[str]
    claims: Sequence[AnyClaim]
    note: str
    rates: Sequence[str]
    """Rates of `rates.RATES` that are shown every 500 pages."""
    most: int
    """The last checkpoint, as in the paper or, where its webs were larger, near the end of ours."""
    figures: Sequence[PaperFigure]


_GWS_CLAIMS = tuple(
    claim
    for experiment in (AS_SHEN, "")
    for claim in (
        Claim(
            "gws is more precise (services found / pages downloaded)",
            "gws:paper",
            "bfs",
            "precision",
            "services lie behind pages without a word of the topic, to which the discarded links lead",
            experiment,
        ),
        Claim("gws downloads fewer pages", "gws:paper", "bfs", "pages", "", experiment),
        Claim(
            "gws finds as many services, but for two of 888",
            "gws:paper",
            "bfs",
            "kept",
            "links to lists of services have none of the link keywords, on pages without a topic word",
            experiment,
        ),
        Claim(
            "gws meets its first service sooner (after about 10 % of the pages, breadth-first after about 50 %)",
            "gws:paper",
            "bfs",
            "first_find",
            "a service that is named near the seed is found at once in any order",
            experiment,
        ),
        Claim(
            "gws finds all services sooner (Fig. 2)",
            "gws:paper",
            "bfs",
            "sooner",
            "where nearly every page is about WMS, the words of pages and links distinguish little",
            experiment,
        ),
    )
)
_GWS = Paper(
    name="gws (Shen et al. 2015)",
    title="gws: Shen, Gui, You, Hu, Wu (2015), a topic crawler for discovering geospatial web services",
    head=("seed", "crawler", "pages downloaded", "WMS", "precision"),
    table=(
        ("1: a page listing OGC WMS servers", "generic (breadth-first)", "1,820", "888", "48.68 %"),
        ("", "gws", "1,373", "886", "64.53 %"),
        ("2: a national geological survey's home page", "generic", "18,955", "153", "0.81 %"),
        ("", "gws", "2,201", "153", "6.95 %"),
    ),
    strategies=("gws:paper", "gws", "bfs"),
    claims=_GWS_CLAIMS,
    note="The paper's crawls end when the queue is empty. Ours end there too, or at the budget. Its first seed is a "
    "web like portal, its second one like agency. It recognises a service by service=WMS or one of three requests in "
    "the query of a link; with the contest's own signs both crawlers find more services.",
    rates=("recall", "precision"),
    most=5_000,
    figures=(
        PaperFigure("Fig. 2, seed 1", "recall", ("gws:paper", "bfs"), "portal", AS_SHEN),
        PaperFigure("Fig. 2, seed 2", "recall", ("gws:paper", "bfs"), "agency", AS_SHEN),
    ),
)
_RECALL = "discovery_rate@5000"
_HARVEST = "harvest_rate@5000"
_DROPS = "hits drops the links of pages below its threshold, the rival follows them"
_HITS_CLAIMS = tuple(
    claim
    for experiment in ("", SECOND_TOPIC)
    for claim in (
        *(
            Claim(
                f"HITS harvests more than {rival} (Fig. 3, 4)",
                "hits:paper",
                f"{rival}:paper",
                _HARVEST,
                _DROPS,
                experiment,
            )
            for rival in ("best-first", "best-n-first")
        ),
        Claim(
            "HITS has the higher recall (75 %) than best-first (67 %)",
            "hits:paper",
            "best-first:paper",
            _RECALL,
            _DROPS,
            experiment,
        ),
        Claim(
            "HITS has the higher recall (75 %) than best-n-first (69 %)",
            "hits:paper",
            "best-n-first:paper",
            _RECALL,
            _DROPS,
            experiment,
        ),
        Claim(
            "best-n-first has the higher recall (69 %) than best-first (67 %)",
            "best-n-first:paper",
            "best-first:paper",
            _RECALL,
            "the two differ only where a better link turns up within one batch",
            experiment,
        ),
    )
)
_HITS_RIVALS = ("hits:paper", "best-n-first:paper", "best-first:paper")
_HITS = Paper(
    name="hits (Liu & Li 2017)",
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
        *_HITS_CLAIMS,
        Claim(
            "the weakness of HITS is its run time: best-first needs less",
            "best-first:paper",
            "hits:paper",
            "cpu_ms",
            "sparse matrices and a warm start make the iterations cheap",
        ),
    ),
    note="Two topics, as in the paper: WMS, and ArcGIS services (geoservices/arcgis) where a web has 20 or more pages "
    "that lead to them. Recall is the share of relevant pages that were read.",
    rates=("harvest_rate", "discovery_rate"),
    most=5_000,
    figures=tuple(
        PaperFigure(number, rate, _HITS_RIVALS, "mixed", experiment)
        for number, rate, experiment in (
            ("Fig. 3, first topic", "harvest_rate", ""),
            ("Fig. 4, second topic", "harvest_rate", SECOND_TOPIC),
            ("recall, first topic", "discovery_rate", ""),
            ("recall, second topic", "discovery_rate", SECOND_TOPIC),
        )
    ),
)
_SEEDS = "its topic comes from the seeds' text; pages that name services have more lists than prose"
_ADAPTIVE = Paper(
    name="adaptive (Min & Huang 2015)",
    title="adaptive: Min, Huang (2015), user-defined topic focused crawler",
    head=("crawler", "harvest rate at 3,000 pages, 10 seeds"),
    table=(
        ("best-first, trained", "75 % and above"),
        ("adaptive", "about 70 %"),
        ("breadth-first", "below 40 %"),
    ),
    strategies=("best-first-page:gain", "best-first-page:chi2", "adaptive:paper", "adaptive", "bfs"),
    claims=(
        Claim(
            "adaptive harvests more than breadth-first",
            "adaptive:paper",
            "bfs",
            "harvest_rate",
            _SEEDS,
            TEN_SEEDS,
        ),
        *(
            Claim(
                f"best-first, trained ({how}), harvests more than adaptive",
                f"best-first-page:{preset}",
                "adaptive:paper",
                "harvest_rate",
                "the topic was trained on words of other sites; the seeds' own words may fit a web better",
                TEN_SEEDS,
            )
            for how, preset in (("information gain", "gain"), ("χ²", "chi2"))
        ),
    ),
    note="Ten seeds on the topic, each from another site where there are as many, and 3,000 pages, or a third of a "
    "smaller web.",
    rates=("harvest_rate",),
    most=3_000,
    figures=(
        PaperFigure(
            "Fig. 4",
            "harvest_rate",
            ("best-first-page:gain", "best-first-page:chi2", "adaptive:paper", "bfs"),
            "mixed",
            TEN_SEEDS,
        ),
    ),
)
_NO_RW = (
    "links without a word of the topic have RW = 0 and all the same IPR; among equals our hosts take turns, where one "
    "queue would go on with the first seen (docs/evaluation.md)"
)
_IPAGERANK = Paper(
    name="ipagerank (Li, Zhao, Yu)",
    title="ipagerank: Li, Zhao, Yu, the SkyReach focused crawler",
    head=("crawler", "precision and discovery rate at 500 … 4,000 pages"),
    table=(
        ("IPageRank", "above both, as read from Fig. 3"),
        ("PageRank, breadth-first", "the text names no order between them"),
    ),
    strategies=("ipagerank:paper", "pagerank:paper", "ipagerank", "pagerank", "bfs"),
    claims=(
        *(
            Claim(
                f"IPageRank has the higher {what} than {name} (read from Fig. 3)",
                "ipagerank:paper",
                rival,
                f"{rate}@4000",
                _NO_RW,
            )
            for rival, name in (("pagerank:paper", "PageRank"), ("bfs", "breadth-first"))
            for what, rate in (("precision", "harvest_rate"), ("discovery rate", "discovery_rate"))
        ),
        Remark(
            "memory and speed with ten threads (Fig. 4)",
            ("ipagerank:paper",),
            "a replay asks no network and its clock is virtual, so ten threads would measure the replay; the columns "
            "CPU s and MiB are of one worker (evaluate --workers 10 has ten), and MiB has the web's index in it",
        ),
    ),
    note="Read for their order only: the paper's figures are curves. Its precision is the share of relevant pages "
    "among those read, our harvest rate. The test set was 20 topic sites and 60 others, as mixed is. The page filter "
    "is off there and here.",
    rates=("harvest_rate", "discovery_rate"),
    most=4_000,
    figures=tuple(
        PaperFigure(number, shows, ("ipagerank:paper", "pagerank:paper", "bfs"), "mixed")
        for number, shows in (
            ("Fig. 3, precision", "harvest_rate"),
            ("Fig. 3, discovery rate", "discovery_rate"),
            ("Fig. 4", "cost"),
        )
    ),
)
_BAYES = Paper(
    name="bayes (Han et al. 2010)",
    title="bayes: Han et al. (2010), professional crawling guided by a naive Bayes classifier",
    head=("measure", "reported"),
    table=(
        ("harvest by a human sample", "98 %"),
        ("harvest by a page classifier, 50,000 pages", "about 90 %"),
        ("KL divergence, topic pages : contexts of links to them", "2.09"),
        ("KL divergence, pages : pages / contexts : contexts", "0.57 / 0.78"),
        ("classifier of links, anchor + context + lexicon", "the best"),
        ("the same classifier trained on pages", "far lower precision than anchors alone, higher recall"),
    ),
    strategies=("bayes:paper", "bayes:anchors", "bayes:pages", "bayes", "bfs"),
    claims=(
        *(
            LinkClaim(
                f"anchor, context and lexicon have a higher {measured} than {than}", "bayes:paper", rival, measured
            )
            for rival, than, measured in (
                ("bayes:anchors", "anchors alone", "precision"),
                ("bayes:anchors", "anchors alone", "recall"),
                ("bayes:pages", "training on pages", "precision"),
            )
        ),
        LinkClaim(
            "training on pages has a lower precision than anchors alone", "bayes:anchors", "bayes:pages", "precision"
        ),
        LinkClaim("training on pages has a higher recall than anchors alone", "bayes:pages", "bayes:anchors", "recall"),
        *(
            LinkClaim(
                f"words of links differ from words of pages more than {kind} among themselves, measured as {better}",
                better,
                f"{kind} : {kind}",
                "divergence",
            )
            for better in ("links : pages", "pages : links")
            for kind in ("pages", "links")
        ),
        HarvestClaim("about 90 % of the pages are on the topic by a page classifier", "bayes:paper", 0.9),
        HarvestClaim("so they are from seeds off the topic", "bayes:paper", 0.9, OFF_TOPIC_SEEDS),
        Remark(
            "98 % of a sample of pages are on the topic by people's judgement",
            ("bayes:paper",),
            "that takes people: geocrawl evaluate --sample 5% writes such a sample, --judged reads it back",
        ),
    ),
    note="The paper compares with no breadth-first crawl. Links are split 7 : 3 by link, as there, and labelled by the "
    "host that they lead to: one with mostly relevant pages, or one with none.",
    rates=("harvest_rate", "judged_harvest_rate"),
    most=5_000,
    figures=(
        PaperFigure("Fig. 1", "classes", ("bayes:paper", "bayes:anchors", "bayes:pages"), "mixed"),
        PaperFigure("Fig. 2", "judged_harvest_rate", ("bayes:paper",), "agency"),
    ),
)
PAPERS = (_GWS, _HITS, _ADAPTIVE, _IPAGERANK, _BAYES)


def strategies_of_papers() -> list[str]:
    """Return the presets of the papers, and breadth-first, each once."""
    names = [name for paper in PAPERS for name in paper.strategies]
    return [name for name in dict.fromkeys(names) if SEPARATOR in name or name == "bfs"]
