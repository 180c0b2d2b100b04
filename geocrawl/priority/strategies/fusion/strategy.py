"""`fusion`: rank links by a value learnt during the crawl from all evidence at once (ours; the default).

Evidence is the page's nearness to the topic and the link's words as in gws (eq. 2, 3); the words of URL, anchor and
context; host, path and menu; the size of the page; the steps since the last find and through pages without relevance
(tunnels); and the results of earlier requests with the same host, folder, URL pattern, anchor or page. One logistic
model combines the evidence (`value_model`), starting from weights that were learnt on generated webs and in which the
sub-queues of gws (eq. 4) order links at first, all else equal.

A page with a valid service is a positive example for the link to it. Part of the credit, `credit` to the power of the
steps, goes to each link on the path there, so that hubs and tunnels gain value from the pages behind them (the
discounted reward of Rennie, McCallum: Using reinforcement learning to spider the web efficiently, ICML 1999). A page
without a find when the next page is settled is a negative example for its link; later finds of its probes still count.

The value is the beginning of a link's rank: links of one place on pages of one host and template are a group, and a
bandit over these groups decides which of them has its next link visited (`link_groups`). Every `every` pages, or one
page for a hundred links that wait, those links are valued again that could be visited before the next time. No link is
dropped.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from geocrawl.errors import UsageError
from geocrawl.model import CONFIGURATION, SCRIPT_SRC, Document, Feedback, Judgement, Purpose, Rank, Relevance
from geocrawl.ports import QueuedLink
from geocrawl.priority.codec import pack_arrays, unpack_arrays
from geocrawl.priority.ingredients import Defaults, Ingredients
from geocrawl.priority.naive_bayes import BAYES_FILE, read_bayes
from geocrawl.priority.nearness import Levels
from geocrawl.priority.options import Option, parse_options
from geocrawl.priority.strategies.fusion import PAGES, SEED_TIER, TIERS, feature_names
from geocrawl.priority.strategies.fusion.link_groups import LinkGroups, arms_of, counts_of
from geocrawl.priority.strategies.fusion.link_reader import JudgedPages, LinkFeatures, LinkReader, WordModels, key_of
from geocrawl.priority.strategies.fusion.value_model import (
    NO_GROUP,
    NO_PAGE,
    NOTHING,
    PAGE_HEAD,
    PRIOR_FILE,
    CrawlMemory,
    ValueModel,
    VisitedPage,
    WaitingLink,
    probabilities,
    probability,
    read_prior,
)

NAME = "fusion"
_FORMAT = "geocrawl-fusion 5"
_BATCH = 2_000
_AT_ONCE = 8_192
"""Links that are valued at once, which takes half a kilobyte each."""
_LEAST = tuple(1 / pages for pages in PAGES)
_SMALL = 0.004
"""A value that changes by less is not updated."""

OPTIONS: Mapping[str, Option] = {
    "rate": Option(0.12, "first step of a weight (AdaGrad)", 0.0, 10.0),
    "trust": Option(30.0, "examples that a weight of the shipped model stands for", 1.0, 1e6),
    "credit": Option(0.5, "credit of a link on the path to a find, as a share of the next link's credit", 0.0, 1.0),
    "way": Option(4, "links on the path to a find that get credit", 1, 20),
    "negative": Option(0.5, "weight of a page without a find as an example", 0.0, 10.0),
    "explore": Option(0.05, "weight of what is not known of a group of links, as in UCB1", 0.0, 10.0),
    "every": Option(100, "pages after which links are valued again, at first a tenth of those visited", 1, 10_000),
    "links": Option(50_000, "waiting links that are remembered; others keep their rank", 100, 1_000_000),
    "prior": Option("", "file of weights to start from; empty: the shipped ones"),
    "pages": Option(20_000, "visited pages that are kept to pass credit back", 100, 1_000_000),
}


class FusionStrategy(Defaults):
    """Ranks links by their value and their group. The same feedback in the same order results in the same strategy."""

    name = NAME
    by_yield = True
    """A score is the worth of a link in its group (`link_groups`)."""
    needs = frozenset({"tag_paths"})
    """Links are grouped by their tag paths."""
    learns = True

    def __init__(
        self,
        levels: Levels,
        words: WordModels,
        prior: Mapping[str, float],
        options: Mapping[str, str],
        max_depth: int | None = None,
    ) -> None:
        """Make the strategy; `prior` is feature name → first weight, and no page deeper than `max_depth` is visited.

        Raises UsageError for a bad option.
        """
        values = parse_options(NAME, options, OPTIONS)
        self.levels = levels
        self._words = words
        self._reader = LinkReader(levels, words)
        self._value = ValueModel(prior, rate=float(values["rate"]), trust=float(values["trust"]))
        self._groups = LinkGroups(lambda group: counts_of(group, self._value.arm), explore=float(values["explore"]))
        self._memory = CrawlMemory(
            most_links=int(values["links"]), most_pages=int(values["pages"]), forgotten=self._groups.remove
        )
        self._credit, self._way = float(values["credit"]), int(values["way"])
        self._negative, self._every = float(values["negative"]), int(values["every"])
        self._max_depth = max_depth
        self._judged = JudgedPages()
        self._visits = self._revised_at = 0
        self._pending = NO_PAGE
        """The page visited last, whose probes may still be running."""

    def seed_rank(self) -> Rank:
        """Return a rank above all links."""
        return Rank(SEED_TIER)

    # ----------------------------------------------------------------------- judging

    def judge(self, document: Document) -> Judgement:
        """Score the page by r = cos(T, P), and each link by its worth.

        Each link is ranked behind those that wait in its group, until the page is settled (`revise`).
        """
        level, r = self.levels.nearest(document)
        page = self._reader.page(self._page_context(document, level, r))
        if not document.links:
            return Judgement(r, (), self._judged.pack(page, level, {}))
        packed = self._reader.links(document, level)
        scores = self._scores(packed, [page])
        groups = self._reader.groups(document)
        best: dict[int, LinkFeatures] = {}
        for link, score, group, numbers in zip(document.links, scores, groups, packed, strict=True):
            key = key_of(link.url.identity)
            known = best.get(key)
            if known is None or score > known.value:
                best[key] = LinkFeatures(
                    score, NO_GROUP if link.where in (SCRIPT_SRC, CONFIGURATION) else group, numbers
                )
        ranks = tuple(map(rank_of, self._groups.last_worths(groups, scores, self._visits)))
        return Judgement(r, ranks, self._judged.pack(page, level, best))

    def _scores(
        self, packed: Sequence[bytes], pages: Sequence[Sequence[int]], page_of: NDArray[np.intp] | None = None
    ) -> list[float]:
        scores: list[float] = probabilities(self._value.logits(packed, pages, page_of)).tolist()
        return scores

    def _page_context(self, document: Document, level: Relevance, r: float) -> feature_names.PageContext:
        way = self._memory.link_by_key(key_of(document.url.identity))
        before = self._memory.pages.get(way.page) if way is not None else None
        return feature_names.PageContext(
            identity=document.url.identity,
            r=r,
            nearness=self._words.page_nearness(document.title, document.text),
            depth=document.depth,
            links=len(document.links),
            since_find=min(before.since_find + 1, feature_names.FAR) if before else feature_names.FAR,
            tunnel=0 if level else (min(before.tunnel + 1, feature_names.FAR) if before else 1),
        )

    def rank(self, waiting: QueuedLink) -> Rank | None:
        """Rank a link by its frontier row: address, anchor, depth and the level of its page."""
        if waiting.depth == 0:
            return self.seed_rank()
        seen = self._reader.named(waiting)
        arms = feature_names.buckets(seen.arms)
        logit = self._value.logit((*arms, *self._value.states(arms), *feature_names.buckets(seen.names)))
        return rank_of(round(probability(logit), 4))

    def explain(self, waiting: QueuedLink) -> Mapping[str, object]:
        """Return the link's keywords (gws eq. 3); the value (0…1), the features present with their weights, and visits
        and rewards of the arms.
        """
        seen = self._reader.named(waiting)
        names, arms = seen.names, feature_names.buckets(seen.arms)
        kept = self._memory.links.get(waiting.id)
        if kept is not None and kept.page in self._memory.pages:
            arms = tuple(self._value.example(kept.packed, self._memory.pages[kept.page].numbers).arms)
        own_arms = seen.arms[: feature_names.LINK_ARMS]
        weights = {name: self._value.weights[feature_names.bucket(name)] for name in (*names, *own_arms)}
        for kind, arm in zip(feature_names.ARM_KINDS, arms, strict=True):
            state = feature_names.arm_state(kind, *self._value.arm(arm))
            weights[state] = self._value.weights[feature_names.bucket(state)]
        value = kept.value if kept is not None else round(probability(sum(weights.values())), 4)
        visited = {arm: self._value.arm(feature_names.bucket(arm)) for arm in own_arms}
        return {
            "keywords": list(self.levels.match(waiting.url.address, waiting.anchor).words),
            "band": TIERS[SEED_TIER if waiting.depth == 0 else rank_of(value).tier],
            "value": value,
            "group": self._counts_of(kept.group) if kept else {},
            "features": feature_names.top(weights, 10),
            "visits": {arm: int(visits) for arm, (visits, _) in visited.items() if visits},
            "brought": {arm: round(reward, 2) for arm, (_, reward) in visited.items() if reward},
            "seed": waiting.depth == 0,
        }

    def _counts_of(self, group: int) -> Mapping[str, float]:
        """Return visits by links of a group and by those of its place on all pages of the host, with their finds."""
        (visits, finds), (all_visits, all_finds) = map(self._value.arm, arms_of(group))
        return {"visits": visits, "finds": finds, "place_visits": all_visits, "place_finds": all_finds}

    # ----------------------------------------------------------------------- read by the training of weights

    def waiting_scores(self) -> list[tuple[int, float]]:
        """Return (frontier id, value) of each waiting link that can be valued again."""
        return [(id_, self._memory.links[id_].value) for id_ in self._memory.valuable(self._memory.links)]

    def features(self, id_: int) -> Sequence[int]:
        """Return all current features of a waiting link, as buckets."""
        link = self._memory.links[id_]
        return self._value.example(link.packed, self._memory.pages[link.page].numbers).ids

    def logit(self, ids: Sequence[int]) -> float:
        """Return w·x of some features."""
        return self._value.logit(ids)

    # ----------------------------------------------------------------------- learning

    def learn(self, feedback: Feedback) -> None:
        """Learn from a visited page as an example, and from a valid service as a reward for the path that led to it."""
        if feedback.purpose is Purpose.PROBE:
            if feedback.valid and feedback.found_on is not None:
                self._reward(feedback.found_on)
            return
        self._close()
        link = self._memory.remove_link(feedback.entry_id)
        self._groups.remove(feedback.entry_id)
        if feedback.reason == "redirect":
            self._hand_on(feedback, link)
            self._memory.remember_page(feedback.entry_id, self._passed(feedback, link))
            return
        self._visits += 1
        self._pending = feedback.entry_id
        page = self._passed(feedback, link)
        self._value.count_visit(page.led.arms[:-1])  # the last arm counts finds on the link's page, not visits by links
        if link is not None and link.group != NO_GROUP:
            page.group = link.group
            self._value.count_visit(arms_of(link.group))
            self._groups.touch(link.group)
        self._memory.remember_page(feedback.entry_id, page)  # before its links, which often include the page itself
        if feedback.features:
            self._keep_links(feedback, page)

    def correct(self, feedback: Feedback) -> None:
        """Value the links of a visit again and let `revise` return their ranks: an older state ranks most too high."""
        if ids := self._memory.valuable(id_ for _, id_ in feedback.links):
            self._set_values(zip(ids, self._scores(*self._memory.inputs(ids)), strict=True))
        self._groups.doubt(id_ for _, id_ in feedback.links)

    def _passed(self, feedback: Feedback, link: WaitingLink | None) -> VisitedPage:
        before = self._memory.pages.get(link.page) if link else None
        led = self._value.example(link.packed, before.numbers) if link and link.packed and before else NOTHING
        since_find = min(before.since_find + 1, feature_names.FAR) if before else feature_names.FAR
        tunnel = min(before.tunnel + 1, feature_names.FAR) if before else 1
        return VisitedPage(link.page if link else NO_PAGE, led, since_find, tunnel)

    def _keep_links(self, feedback: Feedback, page: VisitedPage) -> None:
        judged = self._judged.unpack(feedback.features)
        page.numbers = array("I", judged.numbers)
        if judged.level:
            page.tunnel = 0
        if self._max_depth is not None and feedback.depth >= self._max_depth:
            return  # its links are never visited and would stand before those of their groups that can be
        for identity, id_ in feedback.links:
            key = key_of(identity)
            link = judged.links.get(key)
            if link is not None:
                self._remember(id_, WaitingLink(link.packed, feedback.entry_id, key, link.value, link.group))

    def _remember(self, id_: int, link: WaitingLink) -> None:
        if self._memory.remember_link(id_, link):
            self._groups.put(id_, link.group, link.value)

    def _hand_on(self, feedback: Feedback, link: WaitingLink | None) -> None:
        """Remember the target of a redirect with the features of its source."""
        for identity, id_ in feedback.links[:1]:
            if link is not None:
                self._remember(id_, link._replace(key=key_of(identity)))

    def _close(self) -> None:
        """Learn from the previously visited page, if it led to no find, as a negative example for its link."""
        page = self._memory.pages.get(self._pending)
        self._pending = NO_PAGE
        if page is not None and page.reward == 0.0:
            self._value.step(page.led.ids, 0.0, self._negative)

    def _reward(self, found_on: int) -> None:
        """Credit a find on this page to each link on the path that led to it."""
        share, is_find = 1.0, True
        for page in self._memory.path_to(found_on, self._way):
            if is_find:
                page.finds += 1
                page.since_find = 0
                self._reward_group(page)
                if page.numbers:
                    self._value.count_visit((page.numbers[PAGE_HEAD - 1],))
                is_find = page.group == NO_GROUP  # what a script holds is a find of its page
            gain = min(share, 1.0 - page.reward)
            page.reward += gain
            self._value.add_reward(page.led.arms[:-1], gain)
            self._value.step(page.led.ids, 1.0, share / (1 + page.finds // 2))
            share *= self._credit

    def _reward_group(self, page: VisitedPage) -> None:
        """Count a page with finds once for the group of the link that led to it."""
        if page.finds == 1 and page.group != NO_GROUP:
            self._value.add_reward(arms_of(page.group), 1.0)
            self._groups.touch(page.group)

    # ----------------------------------------------------------------------- reranking

    def revise(self) -> Iterator[Sequence[tuple[int, Rank]]] | None:
        """Return new ranks for the next links of all groups in which something changed; None when nothing did.

        Every `every` pages, or later when many links wait, the links are valued again that may be visited until then or
        are valued too high.
        """
        if self._visits - self._revised_at >= self._pause:
            self._revised_at = self._visits
            self._value_again()
            self._groups.touch_all()
        ranks = [(id_, rank_of(worth)) for id_, worth in self._groups.changes(self._visits)]
        return (ranks[i : i + _BATCH] for i in range(0, len(ranks), _BATCH)) if ranks else None

    @property
    def _pause(self) -> int:
        """Return the number of pages after which links are valued again; each page pays for a hundred links at most."""
        return max(min(self._every, max(10, self._visits // 10)), len(self._memory.links) // 100)

    def _value_again(self) -> None:
        links = self._memory.links
        if not (ids := self._memory.valuable(links)):
            return
        parts = (ids[at : at + _AT_ONCE] for at in range(0, len(ids), _AT_ONCE))
        new = np.array([score for part in parts for score in self._scores(*self._memory.inputs(part))])
        old = np.array([links[id_].value for id_ in ids])
        served = min(4 * max(self._every, self._pause), len(ids))
        bar = np.partition(new, len(ids) - served)[len(ids) - served]
        changed = np.flatnonzero((np.maximum(old, new) >= bar) & (np.abs(old - new) > _SMALL)).tolist()
        self._set_values((ids[at], float(new[at])) for at in changed)

    def _set_values(self, values: Iterable[tuple[int, float]]) -> None:
        for id_, value in values:
            link = self._memory.links[id_] = self._memory.links[id_]._replace(value=value)
            self._groups.put(id_, link.group, value)

    # ----------------------------------------------------------------------- state

    def dump(self) -> bytes:
        """Return weights, arms, waiting links and visited pages, bounded by the buckets, `links` and `pages`."""
        counts = np.array([self._visits, self._revised_at, self._pending], np.int64)
        return pack_arrays(
            _FORMAT, {"counts": counts, **self._value.arrays(), **self._memory.arrays(), **self._groups.arrays()}
        )

    def load(self, state: bytes) -> None:
        """Restore an earlier dump. Raises UsageError for a dump of another version."""
        if not state:
            return
        arrays = unpack_arrays(_FORMAT, state)
        try:
            self._visits, self._revised_at, self._pending = arrays["counts"].tolist()
            self._value.restore(arrays)
            self._memory.restore(arrays)
            self._groups.restore(
                arrays, ((id_, waiting.group, waiting.value) for id_, waiting in self._memory.links.items())
            )
        except (IndexError, KeyError, ValueError) as error:
            raise UsageError(f"what fusion learnt is damaged ({error}); crawl into a new --db") from error


def make(ingredients: Ingredients) -> FusionStrategy:
    """Make the strategy with the weights of `fusion.prior`, else the shipped ones, and the models of gws and bayes.

    For a topic that people chose, the shipped bayes model is useless and left out.
    """
    chosen = str(parse_options(NAME, ingredients.options, OPTIONS)["prior"])
    prior = read_prior(Path(chosen) if chosen else ingredients.models / PRIOR_FILE)
    bayes = read_bayes(ingredients.models / BAYES_FILE) if ingredients.topic is None else None
    words = WordModels(ingredients.text_model(), bayes)
    return FusionStrategy(ingredients.levels(), words, prior.weights, ingredients.options, ingredients.max_depth)


def rank_of(value: float) -> Rank:
    """Return the rank of a link of this value (0…1): the higher value always has the higher rank."""
    return Rank(bisect_right(_LEAST, value), value)
