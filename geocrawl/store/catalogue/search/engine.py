"""Search the catalogue: the one engine of the command line, the web page and the interfaces.

    with Store.open_readonly(url) as connection:
        results = search_engine(connection).search("land use bavaria kind:wms")

An engine holds facts of all services in memory and reads what changed before each search, so it may be kept for as
long as its database is open. It is for one thread."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from geocrawl.filters import EVERYWHERE, Filters, QueryError, Sort, demand_few_values
from geocrawl.model.catalogue import SIDES, Layer, Service
from geocrawl.model.health import DAY_S
from geocrawl.model.search import LayerHit, LayerResults, Results, SearchHit
from geocrawl.query.fold import lines_of_words
from geocrawl.query.language import read_query
from geocrawl.query.places import shipped_places
from geocrawl.sanitize import plain
from geocrawl.store.catalogue.search.cql2 import read_filter
from geocrawl.store.catalogue.search.layers import AT_ONCE, MOST_READ, MOST_SERVICES, LayerRanking
from geocrawl.store.catalogue.search.plan import Concept, Plan, Planner, differences, read_as
from geocrawl.store.catalogue.search.port import Groups, LayerWords, Phrase, SearchIndex
from geocrawl.store.catalogue.search.ranking import (
    ConceptMatch,
    Scores,
    all_and_most,
    fit_of,
    match_concept,
    match_together,
    of_places,
    with_fit,
    with_soundness,
)
from geocrawl.store.catalogue.search.selection import Keys, Positions, best, count, keys_of, meeting, page
from geocrawl.store.catalogue.search.snapshot import Flags, Snapshot
from geocrawl.store.catalogue.search.suggest import Corrector
from geocrawl.store.catalogue.search.vocabulary import Vocabulary, Words, shipped_vocabulary

_TITLES_OF_TOPICS = 5_000
"""Titles that `topics` reads."""
MOST_HITS = 1_000
"""Most hits of one page."""
MOST_SKIPPED = 1_000_000
"""Most hits before a page."""
_ENOUGH = 20
"""So many services with all words are enough: those with most words are left out."""
_ABOVE = 1e4
"""More than any score: services with all words come before those with most of them."""
_ABOVE_TIMES = 1e12
"""More than any time in seconds, a hundred times."""
_LONG = 2_000
"""Words of texts in which all words of a query are found by chance."""
_TELLING = 0.5
"""Least share of the best score of a service with long texts that is among those with all words."""
_AVAILABILITY_DAYS = 30
_ABSTRACT_CHARS = 300
_MOST_LAYERS = 5
_MOST_TWINS = 10


@dataclass(frozen=True, slots=True)
class _QueryHits:
    """The services that a query finds, by their positions in the snapshot."""

    positions: Positions
    """Positions of the found services."""
    keys: Keys
    """A number for each of `positions` to sort by: the higher, the sooner."""
    scores: NDArray[np.floating[Any]]
    """Scores of all positions of the snapshot."""
    whole: Flags
    """Whether all words of the query occur, for all positions of the snapshot."""
    missing: tuple[Concept, ...] = ()
    """Concepts of the query that occur in no service."""
    dropped_kinds: bool = False
    """Whether the kinds that words named were left out, since no service of these kinds has the other words."""
    is_suggested: bool = False
    """Whether a corrected query found the services."""


@dataclass(frozen=True, slots=True)
class _Scores:
    """How well the service at each position of the snapshot fits the words of a query."""

    scores: NDArray[np.floating[Any]]
    """Score of each position's texts for the words (BM25); without words, the time of the last valid answer."""
    whole: Flags
    """Whether all words occur."""
    most: Flags
    """Whether most words occur."""
    placed: Flags
    """Whether the service is of every place that the query names."""
    concepts: int = 0
    """Number of the query's concepts."""
    missing: tuple[Concept, ...] = ()
    """Concepts that occur in no service."""


def _either(one: _QueryHits, other: _QueryHits) -> _QueryHits:
    """Return what either of two queries finds, each service by the query that it fits better."""
    keys = np.full(len(one.scores), -np.inf)
    keys[one.positions] = one.keys
    keys[other.positions] = np.maximum(keys[other.positions], other.keys)
    positions = np.flatnonzero(keys > -np.inf)
    return _QueryHits(positions, keys[positions], np.maximum(one.scores, other.scores), one.whole | other.whole)


def _go_on() -> None:
    """Let a search go on."""


def _demand_page(limit: int, offset: int) -> None:
    if not 0 <= limit <= MOST_HITS or not 0 <= offset <= MOST_SKIPPED:
        raise QueryError(
            f"limit {limit}, offset {offset}: expected at most {MOST_HITS:,} and {MOST_SKIPPED:,}, neither below 0"
        )


class SearchEngine:
    """Searches one catalogue."""

    def __init__(
        self,
        index: SearchIndex,
        *,
        now: Callable[[], float] = time.time,
        shows_secrets: bool = False,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        """Search `index` (see `index.search_engine`). `now`: seconds since 1970 UTC. `shows_secrets`: addresses are not
        masked. `vocabulary`: words that mean the same, those shipped by default."""
        self._index = index
        self._now = now
        self._shows_secrets = shows_secrets
        self._snapshot = Snapshot()
        self._vocabulary = vocabulary or shipped_vocabulary()
        self._planner = Planner(self._vocabulary, shipped_places())
        self._check: Callable[[], None] = _go_on
        self._corrector = Corrector(self._vocabulary, shipped_places(), self._index)

    def search(
        self,
        text: str | Sequence[str] = "",
        filters: Filters = Filters(),  # noqa: B008 frozen
        *,
        sort: Sort | Sequence[Sort] = Sort.RELEVANCE,
        turned: Collection[Sort] = (),
        limit: int = 20,
        offset: int = 0,
        facets: bool = False,
        apart: bool = False,
        check: Callable[[], None] = _go_on,
    ) -> Results:
        """Return the services that a query (docs/search.md) finds, best first; all services for an empty one.

        Of several queries, what any of them finds. `filters` hold besides the query's own conditions; `sort:` in the
        query goes before `sort`; each order decides where those before it do not; `turned`: orders that go
        the other way round; `apart`: twins are hits of their own. `check` is called between steps, and what it raises
        ends the search. Raises QueryError for a query or numbers that cannot be read, DatabaseFault for a database
        that cannot.
        """
        _demand_page(limit, offset)
        began, self._check = time.perf_counter(), check
        plan, found, suggestion = self._answer_any([text] if isinstance(text, str) else text, filters)
        positions, keys = found.positions, self._keys(plan, found, sort, turned)
        total, groups = page(self._snapshot, positions, keys, offset=offset, limit=limit, apart=apart)
        is_partial = bool(total) and not found.whole[positions].any()
        differ = tuple(differences(plan, dropped_kinds=found.dropped_kinds, is_partial=is_partial))
        return Results(
            hits=tuple(self._hits(plan, found, groups)),
            total=total,
            services=len(found.positions),
            catalogue=int(np.count_nonzero(self._snapshot["is_there"])),
            facets=count(self._snapshot, found.positions) if facets else {},
            read_as=(*differ, *read_as(plan, dropped_kinds=found.dropped_kinds)),
            differences=differ,
            suggestion=suggestion,
            is_suggested=found.is_suggested,
            ms=round(1000 * (time.perf_counter() - began), 1),
        )

    def layers(
        self,
        text: str | Sequence[str] = "",
        filters: Filters = Filters(),  # noqa: B008 frozen
        *,
        sort: Sort | Sequence[Sort] = Sort.RELEVANCE,
        turned: Collection[Sort] = (),
        limit: int = 20,
        offset: int = 0,
        facets: bool = False,
        check: Callable[[], None] = _go_on,
    ) -> LayerResults:
        """Return the layers that a query finds in the services that `search` finds, best first, one hit a layer.

        The first services are looked through, within `MOST_SERVICES` and `MOST_READ`. Parameters and errors are as for
        `search`.
        """
        _demand_page(limit, offset)
        began, self._check = time.perf_counter(), check
        plan, found, suggestion = self._answer_any([text] if isinstance(text, str) else text, filters)
        keys = self._keys(plan, found, sort, turned)
        _, groups = page(self._snapshot, found.positions, keys, offset=0, limit=MOST_SERVICES, apart=True)
        positions = {int(self._snapshot["id"][group[0]]): int(group[0]) for group in groups}
        texts, looked_through = self._layer_texts(list(positions))
        titles = [self._snapshot.titles[positions[number]] for number, *_ in texts]
        self._check()
        fitting = LayerRanking(plan.concepts).best_first(texts, titles)
        places = [positions[number] for number, *_ in fitting]
        return LayerResults(
            hits=tuple(self._found_layers(fitting[offset : offset + limit])),
            total=len(fitting),
            services=len(found.positions),
            looked_through=looked_through,
            catalogue=int(np.count_nonzero(self._snapshot["is_there"])),
            read_as=tuple(read_as(plan, dropped_kinds=found.dropped_kinds)),
            facets=count(self._snapshot, np.array(places, int)) if facets else {},
            suggestion=suggestion,
            is_suggested=found.is_suggested,
            ms=round(1000 * (time.perf_counter() - began), 1),
        )

    def extents(self) -> NDArray[np.float64]:
        """Return west, south, east and north in degrees of each service with a known extent, shape (services, 4)."""
        self._snapshot.refresh(self._index)
        known = self._snapshot["is_there"] & ~np.isnan(self._snapshot["west"])
        return np.stack([self._snapshot[name][known] for name in SIDES], axis=1)

    def topics(self, most: int) -> list[str]:
        """Return words of the field that occur in most titles, one of those that mean the same.

        Of a large catalogue every nth title is read, so that the answer does not change with its newest services.
        """
        self._snapshot.refresh(self._index)
        there = np.flatnonzero(self._snapshot["is_there"])
        read = there[:: len(there) // _TITLES_OF_TOPICS + 1].tolist()
        counts = Counter[Words]()
        for title in lines_of_words(self._snapshot.titles[position] for position in read):
            parts = title.split()
            counts.update({tuple(parts[n : n + long]) for long in (1, 2) for n in range(len(parts) - long + 1)})
        topics = dict[str, frozenset[Words]]()
        for words, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
            if words in self._vocabulary.written and not any(words in alike for alike in topics.values()):
                topics[self._vocabulary.written[words]] = frozenset(self._vocabulary.synonyms[words])
                if len(topics) >= most:
                    break
        return [*topics]

    def _layer_texts(self, numbers: Sequence[int]) -> tuple[list[LayerWords], int]:
        """Return the words of the layers of services, in the services' order, and how many services were looked at."""
        texts, looked_through = list[LayerWords](), 0
        while looked_through < len(numbers) and len(texts) < MOST_READ:
            self._check()
            some = numbers[looked_through : looked_through + AT_ONCE]
            order = {number: place for place, number in enumerate(some)}
            read = self._index.layer_texts(some, MOST_READ - len(texts))
            texts += sorted(read, key=lambda each: (order[each[0]], each[1]))
            looked_through += len(some)
        return texts, looked_through

    def _found_layers(self, texts: Sequence[LayerWords]) -> Iterator[LayerHit]:
        """Yield what is shown of layers; those that were deleted just now are missing."""
        services, groups = self._services([number for number, *_ in texts]), Groups()
        for number, position, _ in texts:
            service, found = services.get(number), self._index.layer(number, position, groups)
            if service is not None and found is not None:
                yield LayerHit(found[0], service, found[1])

    def numbers(self, text: str = "", filters: Filters = Filters()) -> frozenset[int]:  # noqa: B008 frozen
        """Return the numbers of all services that `search` finds, twins included, without an order.

        Raises QueryError for a query that cannot be read, DatabaseFault for a database that cannot.
        """
        self._check = _go_on
        _, found, _ = self._answer(text, filters)
        return frozenset(self._snapshot["id"][found.positions].tolist())

    def in_order(
        self,
        text: str | Sequence[str] = "",
        filters: Filters = Filters(),  # noqa: B008 frozen
        *,
        sort: Sort | Sequence[Sort] = Sort.RELEVANCE,
        turned: Collection[Sort] = (),
        limit: int = 20,
        offset: int = 0,
        check: Callable[[], None] = _go_on,
    ) -> list[int]:
        """Return the numbers of the services that `search` with `apart` returns, in its order.

        Parameters and errors are as for `search`.
        """
        _demand_page(limit, offset)
        self._check = check
        plan, found, _ = self._answer_any([text] if isinstance(text, str) else text, filters)
        places = best(self._keys(plan, found, sort, turned), offset=offset, limit=limit)
        numbers: list[int] = self._snapshot["id"][found.positions[places]].tolist()
        return numbers

    # ----------------------------------------------------------------------- finding

    def _answer_any(self, texts: Sequence[str], filters: Filters) -> tuple[Plan, _QueryHits, str | None]:
        """Return as `_answer` what any of some queries finds; plan and corrected query are those of the first."""
        plan, found, suggestion = self._answer(texts[0], filters)
        for text in texts[1:]:
            _, other, _ = self._answer(text, filters)
            found = _either(found, other)
        return plan, found, suggestion

    def _keys(self, plan: Plan, found: _QueryHits, sort: Sort | Sequence[Sort], turned: Collection[Sort]) -> Any:
        """Return the keys by which what was found is ordered: by the query's own order, else by `sort`."""
        orders = [plan.sort] if plan.sort else [sort] if isinstance(sort, Sort) else sort
        return keys_of(self._snapshot, found.positions, orders, found.keys, turned=turned)

    def _answer(self, text: str, filters: Filters) -> tuple[Plan, _QueryHits, str | None]:
        """Return the plan of a query, or of a corrected one that finds more; the services; the corrected query."""
        plan = self._planner.plan(read_query(text), filters)
        demand_few_values((*plan.filters, *plan.without))
        self._snapshot.refresh(self._index)
        plan, found = self._find(plan)
        suggestion = self._corrected(text, found)
        if suggestion is not None:
            plan, found = self._better(suggestion, filters, plan, found)
        return plan, found, suggestion

    def _find(self, plan: Plan) -> tuple[Plan, _QueryHits]:
        """Return the services of a plan; the plan with the longer words that were asked for, too."""
        now, snapshot = self._now(), self._snapshot
        meets = snapshot["is_there"].copy()
        for filters in plan.filters:
            self._check()
            meets &= meeting(snapshot, filters, now)
            if filters.cql2 is not None:
                meets &= read_filter(filters.cql2)(snapshot)
        for filters in plan.without:
            self._check()
            meets &= ~meeting(snapshot, filters, now)
        for phrases in plan.excluded:
            self._check()
            meets[snapshot.positions(self._index.match(phrases))] = False
        of_kinds = meets.copy()
        for named in plan.kind_words:
            of_kinds &= meeting(snapshot, Filters(kinds=named.kinds), now)
        scored = self._score(plan)
        if plan.concepts and np.count_nonzero(of_kinds & scored.whole) < _ENOUGH:
            plan = self._with_compounds(plan)
            scored = self._score(plan, goes_on=True)
        found = self._chosen(of_kinds, scored)
        if plan.kind_words and not len(found.positions):
            found = replace(self._chosen(meets, scored), dropped_kinds=True)
        return plan, found

    def _with_compounds(self, plan: Plan) -> Plan:
        """Return a plan whose words are asked for within longer words, too."""
        self._corrector.refresh(self._snapshot.upto, self._snapshot.services)
        concepts = list[Concept]()
        for concept in plan.concepts:
            self._check()
            compounds = self._corrector.compounds(concept) if concept.may_go_on else ()
            concepts.append(replace(concept, compounds=compounds))
        return replace(plan, concepts=tuple(concepts))

    def _corrected(self, text: str, found: _QueryHits) -> str | None:
        """Return a query with mistyped words corrected, when some words occur nowhere and no service has all words."""
        if not found.missing or found.whole[found.positions].any():
            return None
        return self._corrector.corrected(text, found.missing, self._check)

    def _better(self, suggestion: str, filters: Filters, plan: Plan, found: _QueryHits) -> tuple[Plan, _QueryHits]:
        """Return the plan and the services of a corrected query, if it finds more words; else the given ones."""
        other_plan, other = self._find(self._planner.plan(read_query(suggestion), filters))
        if len(other.positions) and len(other.missing) < len(found.missing):
            return other_plan, replace(other, is_suggested=True)
        return plan, found

    def _score(self, plan: Plan, *, goes_on: bool = False) -> _Scores:
        """Return the scores of all positions: without words, the fit to a box that is asked for, then the times of the
        last valid answers."""
        snapshot = self._snapshot
        boxes = [
            box for filters in plan.filters for box in (filters.box, filters.within) if box not in (None, EVERYWHERE)
        ]
        fit = fit_of(boxes, snapshot) if boxes else None
        everything = np.ones(snapshot.count, np.bool_)
        if not plan.concepts:
            newest = snapshot["last_ok"].astype(np.float64)
            if fit is not None:
                newest += _ABOVE_TIMES * fit.round(3)
            return _Scores(newest, everything, everything, everything)
        matched = list[ConceptMatch]()
        for concept in plan.concepts:
            self._check()
            matched.append(match_concept(concept, self._index, snapshot, goes_on=goes_on))
        whole, most = all_and_most(plan.concepts, matched)
        scores: Scores = np.asarray(np.sum([match.scores for match in matched], axis=0), np.float32)
        weight = max(match.weight for match in matched)
        for phrase in plan.together:
            scores += match_together(phrase, weight, self._index, snapshot)
        missing = tuple(
            concept
            for concept, match in zip(plan.concepts, matched, strict=True)
            if not concept.is_weak and not match.scores.any()
        )
        scores = with_soundness(scores, snapshot)
        if fit is not None:
            scores = with_fit(scores, fit)
        return _Scores(scores, whole, most, of_places(plan.concepts, matched), len(matched), missing)

    def _is_about(self, positions: Positions, scored: _Scores) -> Flags:
        """Return for each of some positions whether the service has all words; the words of one with long texts must
        tell something, too, for a server with thousands of layers has words of every theme."""
        scores = scored.scores[positions]
        telling = scores >= _TELLING * scores.max(initial=0)
        found: Flags = scored.whole[positions] & (telling | (self._snapshot["words"][positions] <= _LONG))
        return found

    def _chosen(self, meets: Flags, scored: _Scores) -> _QueryHits:
        """Return the services that meet the filters and have all words; with most words where these are few."""
        chosen = meets & scored.whole
        if np.count_nonzero(chosen) < _ENOUGH:
            chosen = meets & (scored.whole | scored.most)
        positions = np.flatnonzero(chosen)
        keys = scored.scores[positions].astype(np.float64)
        if scored.concepts:
            keys += _ABOVE * (2.0 * self._is_about(positions, scored) + scored.placed[positions])
        return _QueryHits(positions, keys, scored.scores, scored.whole, scored.missing)

    # ----------------------------------------------------------------------- showing

    def _hits(self, plan: Plan, found: _QueryHits, groups: Sequence[Positions]) -> list[SearchHit]:
        """Return what is shown of groups of twins, each the best one first; services that were deleted just now are
        missing."""
        ids = self._snapshot["id"]
        numbers = [[int(ids[position]) for position in group[: _MOST_TWINS + 1]] for group in groups]
        twins = self._services([number for _, *others in numbers for number in others])
        phrases = [phrase for concept in plan.concepts for phrase in concept.phrases]
        firsts = {first: (int(group[0]), others) for (first, *others), group in zip(numbers, groups, strict=True)}
        layers = {number: self._layers(phrases, number) for number in firsts}
        now = self._now()
        availabilities = self._index.availabilities(list(firsts), now - _AVAILABILITY_DAYS * DAY_S, now)

        def make(id: int, abstract: str = "", **columns: Any) -> SearchHit:
            position, others = firsts[id]
            return SearchHit(
                id=id,
                abstract=plain(abstract, _ABSTRACT_CHARS),
                **columns,
                availability_30d=availabilities.get(id),
                matching_layers=layers[id],
                twin_services=tuple(twins[number] for number in others if number in twins),
                score=round(float(found.scores[position]), 3),
                is_whole=bool(found.whole[position]),
            )

        hits = {hit.id: hit for hit in self._index.services(list(firsts), make, with_secrets=self._shows_secrets)}
        return [hits[number] for number in firsts if number in hits]

    def _services(self, numbers: Sequence[int]) -> Mapping[int, Service]:
        """Return services by number, without costly columns."""
        read = self._index.services(numbers, Service, with_secrets=self._shows_secrets) if numbers else ()
        return {service.id: service for service in read}

    def _layers(self, phrases: Sequence[Phrase], number: int) -> tuple[Layer, ...]:
        """Return the first layers of a service in which one of the phrases occurs."""
        self._check()
        return self._index.layers(number, phrases, _MOST_LAYERS) if phrases else ()
