"""`gws`: improved best-first search for WMS (Shen, Gui, You, Hu, Wu: A topic crawler for discovering geospatial web
services, 2015).

A link's priority combines how near the link itself is to the topic (eq. 3) with how near its page is (eq. 2). With
three levels each there are nine priorities, and the frontier's tiers are the paper's sub-queues: tier 8 for 2.0 down to
tier 1 for 0.3, first come, first served within each. The paper discards priority 0; here such links wait in tier 0 and
are visited when all other tiers are empty, unless `gws.drop_zero` is set.
"""

from __future__ import annotations

from collections.abc import Mapping

from geocrawl.errors import UsageError
from geocrawl.model import LAMBDA, Document, Judgement, Rank, Relevance, priority
from geocrawl.ports import QueuedLink
from geocrawl.priority.ingredients import Defaults, Ingredients
from geocrawl.priority.nearness import HIGH, LOW, MOST_WEIGHT, Levels, LinkMatch, LinkModel, TopicModel
from geocrawl.priority.options import Constant, Option, Preset, parse_options

NAME = "gws"
HIGHEST_TIER = 8
"""Tier of the highest of nine priorities with λ = 0.7 (eq. 4); tier 0 is priority 0."""

OPTIONS: Mapping[str, Option] = {
    "lambda": Option(LAMBDA, "share of the link in a priority, the rest is the page's (eq. 4)", 0.0, 1.0),
    "high": Option(HIGH, "a page with at least this r = cos(T, P) is of level 2 (eq. 2)", 0.0, 1.0),
    "low": Option(LOW, "a page with at least this r, below `high`, is of level 1 (eq. 2)", 0.0, 1.0),
    "title_weight": Option(0.5, "share of the title in the page vector P, the rest is the body's", 0.0, 1.0),
    "cap": Option(MOST_WEIGHT, "largest weight of one trained keyword in a topic vector (ours); 1: none", 0.1, 1.0),
    "standard": Option(
        False,
        "keywords from all words of the WMS standard and its links, everyday ones such as map too, and of level 1 "
        "abbreviations alone, as the paper",
    ),
    "both": Option(2, "level of a link keyword that is also an abbreviation, such as wms and ows (eq. 3)", 1, 2),
    "seed_level": Option(0, "least level of a seed's page (ours): a person chose it as relevant", 0, 2),
    "drop_zero": Option(
        False, "discard links of priority 0, as the paper does; else they wait until all others are served"
    ),
}
PRESETS: Mapping[str, Preset] = {
    "gws:paper": Preset(
        "the improved best-first search as printed: links of priority 0 are discarded (Shen et al. 2015)",
        {
            "lambda": Constant(0.7, "eq. 4, priority = λ·link + (1−λ)·page"),
            "high": Constant(0.68, "eq. 2, level 2 when r ≥ 0.68"),
            "low": Constant(
                0.01,
                "eq. 2, level 1 when 0.01 ≤ r < 0.68",
                "decides nothing: a page with any keyword has an r above 0.1",
            ),
            "title_weight": Constant(0.5, "a fixed mix of a keyword's frequency in title and body", "mix not printed"),
            "cap": Constant(1.0, "a keyword's weight is its TF-IDF, without a cap"),
            "standard": Constant(True, "keywords from definition, interface and parameters of WMS; words of WMS links"),
            "both": Constant(
                1, "eq. 3, WMS and OWS are abbreviations: level 1", "the paper's list ends in '…'; ours has 12"
            ),
            "seed_level": Constant(0, "the level of every page, a seed's too, is that of eq. 2"),
            "drop_zero": Constant(True, "a link of priority 0 is discarded"),
        },
        (
            "The topic is learnt from the 92 shared labelled pages about OGC services that are in no recorded web; "
            "the paper has 500 from a search engine.",
            "There is one topic vector and one list of link keywords for each language. Words of a general list of "
            "stop words are no link keywords, nor are Chinese terms that no anchor of the training contains.",
            "A keyword's frequency is its occurrences per character of title or body, and r is the cosine in the space "
            "of the keywords. IDF is ln((1 + N)/(1 + df)) + 1 over the pages on the topic; the paper prints no form.",
            "A link with '?' that is no candidate is ranked like any other; the paper says nothing of it.",
            "A sub-queue is first come, first served at each host; hosts whose best links are equal take turns.",
        ),
        setup={
            "detect": Constant("paper", "step 4: service=WMS or one of three requests in the query of a link"),
            "max_depth": Constant(5, "4.1, 4.2: both crawlers have depth 5"),
            "workers": Constant(5, "4.1, 4.2: both crawlers have 5 threads"),
            "max_pages": Constant(0, "a crawl ends when its queue is empty"),
        },
        discards="a link of a page with r < 0.01 (eq. 2) is discarded when neither its URL nor its anchor has a "
        "keyword (eq. 3): its priority is 0 (eq. 4)",
    )
}


class GwsStrategy(Defaults):
    """Ranks links as in the paper. The strategy learns nothing during a crawl: the models are trained beforehand."""

    name = NAME

    def __init__(self, topic: TopicModel, links: LinkModel, options: Mapping[str, str]) -> None:
        """Read the `options` that people set (`gws.lambda` …, see `OPTIONS`). Raises UsageError for a bad one."""
        values = parse_options(NAME, options, OPTIONS)
        self._lambda, high, low = float(values["lambda"]), float(values["high"]), float(values["low"])
        if low > high:
            raise UsageError(f"gws.low={low:g} is above gws.high={high:g}: level 1 has to be below level 2")
        self._ranks = _ranks(self._lambda, drop_zero=bool(values["drop_zero"]))
        self.levels = Levels(
            topic,
            links,
            high=high,
            low=low,
            title_weight=float(values["title_weight"]),
            both=Relevance(int(values["both"])),
            seed_level=Relevance(int(values["seed_level"])),
        )

    def seed_rank(self) -> Rank:
        """Return the rank of the highest sub-queue."""
        return Rank(HIGHEST_TIER)

    def judge(self, document: Document) -> Judgement:
        """Score the page by r = cos(T, P), and rank each link into a sub-queue by the levels of both (eq. 4)."""
        page, match = self.levels.nearest(document), self.levels.match
        ranks = self._ranks[page.level]
        return Judgement(page.r, tuple(ranks[match(link.url.address, link.anchor).level] for link in document.links))

    def rank(self, waiting: QueuedLink) -> Rank | None:
        """Return the sub-queue of a link that another strategy enqueued; None drops it."""
        if waiting.depth == 0:
            return self.seed_rank()
        return self._ranks[waiting.page_relevance][self._link(waiting).level]

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        """Return the keywords that determined the link's level, lambda and priority (0…2)."""
        match = self._link(waiting)
        return {
            "keywords": list(match.words),
            "lambda": self._lambda,
            "priority": priority(self._lambda, match.level, waiting.page_relevance),
            "seed": waiting.depth == 0,
        }

    def _link(self, waiting: QueuedLink) -> LinkMatch:
        return self.levels.match(waiting.url.address, waiting.anchor)


def _ranks(lambda_: float, *, drop_zero: bool) -> dict[Relevance, dict[Relevance, Rank | None]]:
    """Return the rank for each page level and link level.

    Tiers number the possible priorities downwards, from 8 for 2.0. With another λ there may be fewer than nine, and the
    tiers next above 0 are then empty. Links of priority 0 are in tier 0, or dropped.
    """
    values = {(page, link): priority(lambda_, link, page) for page in Relevance for link in Relevance}
    places = {value: place for place, value in enumerate(sorted(set(values.values()), reverse=True))}

    def rank(value: float) -> Rank | None:
        if value > 0.0:
            return Rank(HIGHEST_TIER - places[value])
        return None if drop_zero else Rank(0)

    return {page: {link: rank(values[page, link]) for link in Relevance} for page in Relevance}


def tier_names(options: Mapping[str, str]) -> dict[int, str]:
    """Return tier → its name for people: the levels of link and page that lead to it, with their priority (eq. 4);
    empty with λ = 0.7, which makes the tiers the sub-queues."""
    lambda_ = float(parse_options(NAME, options, OPTIONS)["lambda"])
    names = dict[int, str]()
    for page, ranks in _ranks(lambda_, drop_zero=False).items() if lambda_ != LAMBDA else ():
        for link, rank in ranks.items():
            assert rank is not None, "nothing is dropped"
            levels = f"link relevance {link:d}, page relevance {page:d}"
            former = names.get(rank.tier)
            names[rank.tier] = f"{former}; {levels}" if former else f"{priority(lambda_, link, page):.1f}: {levels}"
    return names


def make(ingredients: Ingredients) -> GwsStrategy:
    """Make the strategy with the topic's keywords and the trained link keywords."""
    values = parse_options(NAME, ingredients.options, OPTIONS)
    cap, standard = float(values["cap"]), bool(values["standard"])
    return GwsStrategy(
        ingredients.keywords(cap, standard=standard), ingredients.link_words(standard=standard), ingredients.options
    )
