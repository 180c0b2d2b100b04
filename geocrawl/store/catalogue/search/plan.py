"""Decide what a query asks for: which words must occur, with which others they agree, which are conditions.

The words of a query are compared with the lists of `vocabulary` and the places of `places`, the longest entry first.
What remains is a word of its own; a run of Chinese characters between entries is one word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from geocrawl.filters import DAY_S, Filters, Sort
from geocrawl.model import Kind
from geocrawl.model.search import OF_COLUMNS
from geocrawl.query.fold import (
    forms,
    is_unspaced,
    number_apart,
    other_sounds,
    plurals,
    spellings,
    words_of,
)
from geocrawl.query.language import Query, Term
from geocrawl.query.places import Place, Places
from geocrawl.store.catalogue.search.port import Phrase
from geocrawl.store.catalogue.search.vocabulary import Vocabulary, Words
from geocrawl.wording import Count, Sentence, iso

_MOST_CONCEPTS = 12
"""Most words that are searched; the rest of a long query is left out."""
_MOST_TOGETHER = 3
"""Most runs of words whose standing together is looked for."""
_PAIR = 2
_LEAST_TO_JOIN = 3
"""Fewest letters of each of two words that are looked for as one."""
_MOST_PLACES = 5
"""Most places of one name whose other names are searched, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """One thing that a query asks for."""

    text: str
    """The words of the query that ask for it, as they were typed."""
    exact: tuple[Phrase, ...]
    """Those words in all their spellings and forms."""
    similar: tuple[Phrase, ...] = ()
    """Other words that mean the same, in their forms."""
    also: tuple[str, ...] = ()
    """The words of `similar` as the lists of synonyms spell them, to be shown to people."""
    parts: tuple[tuple[Phrase, ...], ...] = ()
    """Each of several words in its forms: a service that has all of them apart from each other is found, too."""
    places: tuple[Place, ...] = ()
    """The places that the words name."""
    is_weak: bool = False
    """Whether a service without these words may be found, too."""
    may_go_on: bool = False
    """Whether longer words that hold one of `exact` are asked for when few services have the query's words."""
    compounds: tuple[Phrase, ...] = ()
    """Those of these longer words that consist of known words."""

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """The words themselves, what means the same, and what holds them."""
        return (*self.exact, *self.similar, *self.compounds)


@dataclass(frozen=True, slots=True)
class KindWords:
    """Words of a query that name kinds of service: a condition that is dropped when no service meets it."""

    text: str
    """The words, as they were typed."""
    kinds: tuple[Kind, ...]
    """The kinds that the words name."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A word of a query that is not asked for, such as `for`."""

    text: str
    """The word, as it was typed."""


Read = Concept | KindWords | LeftOut
"""What one or several words of a query were read as."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a query asks for."""

    concepts: tuple[Concept, ...]
    """The things that words of the query ask for, in order."""
    excluded: tuple[tuple[Phrase, ...], ...]
    """The spellings of each word that a found service must not have."""
    filters: tuple[Filters, ...]
    """Conditions that a hit meets, all of them."""
    without: tuple[Filters, ...]
    """Conditions that a hit meets none of."""
    kind_words: tuple[KindWords, ...] = ()
    """Words that name kinds of service."""
    ignored: tuple[str, ...] = ()
    """Words that are not asked for, as they were typed."""
    is_empty: bool = False
    """Whether something was typed for words and has neither a letter nor a digit."""
    together: tuple[Phrase, ...] = ()
    """Words that were typed next to each other."""
    sort: Sort | None = None
    """The order that the query names; None for none."""


@dataclass(frozen=True, slots=True)
class _Atom:
    """A word, or a character of a script written without spaces."""

    word: str
    """The folded word."""
    text: str
    """The word as it was typed."""
    is_glued: bool
    """Whether the word follows a character of a script without spaces directly."""


class Planner:
    """Makes plans of queries, with one vocabulary and one gazetteer."""

    def __init__(self, vocabulary: Vocabulary, places: Places) -> None:
        self._vocabulary = vocabulary
        self._places = places
        self._longest = max(vocabulary.longest, places.longest)

    def plan(self, query: Query, filters: Filters = Filters()) -> Plan:  # noqa: B008 frozen
        """Return what a query and the filters beside it ask for."""
        reads, together = list[Read](), list[Phrase]()
        for run in _runs(query.terms):
            found = list(self._of_term(run) if isinstance(run, Term) else self._of_atoms(run))
            if not isinstance(run, Term):
                together += _typed_together(found)
                found = list(_with_joined(found))
            reads += found
        concepts = [read for read in reads if isinstance(read, Concept)]
        kinds = [read for read in reads if isinstance(read, KindWords)]
        ignored = [read.text for read in reads if isinstance(read, LeftOut)]
        if not concepts and not kinds and ignored:  # a query of stop words alone asks for them
            concepts = [_plain(word) for word in ignored]
            ignored = []
        concepts = _deduplicated(concepts)
        if concepts and all(concept.is_weak for concept in concepts):
            concepts = [replace(concept, is_weak=False) for concept in concepts]
        return Plan(
            concepts=tuple(concepts[:_MOST_CONCEPTS]),
            excluded=tuple(tuple(_phrases(term)) for term in query.excluded),
            filters=(query.filters, filters),
            without=query.without,
            kind_words=tuple(kinds),
            ignored=(*ignored, *(concept.text for concept in concepts[_MOST_CONCEPTS:])),
            is_empty=not reads and (bool(query.terms) or query.left_out),
            together=tuple(together[:_MOST_TOGETHER]),
            sort=query.sort,
        )

    def _of_term(self, term: Term) -> Iterator[Concept]:
        """Yield the concept of a phrase or of the beginning of a word."""
        if phrases := tuple(_phrases(term)):
            shown = f'"{term.text}"' if term.is_phrase else f"{term.text}*"
            yield Concept(text=shown, exact=phrases)

    def _of_atoms(self, atoms: Sequence[_Atom]) -> Iterator[Read]:
        """Yield what the words of a run are read as, in order."""
        at, run = 0, list[_Atom]()
        while at < len(atoms):
            length = self._entry_at(atoms, at)
            atom = atoms[at]
            if run and (length or not atom.is_glued):
                yield self._unknown(run)
                run = []
            if length:
                yield self._known(atoms[at : at + length])
            elif is_unspaced(atom.word):
                run.append(atom)
            else:
                yield self._unknown([atom])
            at += length or 1
        if run:
            yield self._unknown(run)

    def _entry_at(self, atoms: Sequence[_Atom], at: int) -> int:
        """Return the length of the longest entry of the lists that begins at an atom; 0 for none."""
        for length in range(min(self._longest, len(atoms) - at), 0, -1):
            words = tuple(atom.word for atom in atoms[at : at + length])
            if self._cuts_a_word(atoms, at, length) or not self._is_entry(words):
                continue
            return length
        return 0

    def _cuts_a_word(self, atoms: Sequence[_Atom], at: int, length: int) -> bool:
        """Return whether a single character is an entry in the midst of a run, where it is part of a word."""
        if length > 1 or not is_unspaced(atoms[at].word):
            return False
        following = at + 1 < len(atoms) and atoms[at + 1].is_glued
        return (atoms[at].is_glued or following) and atoms[at].word not in self._vocabulary.joining

    def _is_entry(self, words: Words) -> bool:
        """Return whether words are an entry of one of the lists, or the name of a place."""
        known = self._vocabulary
        if words in known.stop or words in known.weak or words in known.kinds:
            return True
        return bool(self._synonyms(words) or self._places.named(words))

    def _known(self, atoms: Sequence[_Atom]) -> Read:
        """Return what words that are an entry of the lists or a place's name are read as."""
        words = tuple(atom.word for atom in atoms)
        text = _text(atoms)
        if words in self._vocabulary.kinds:
            return KindWords(text, self._vocabulary.kinds[words])
        places = self._places.named(words)
        if words in self._vocabulary.stop and not any(place.is_country for place in places):  # US, but not Van
            return LeftOut(text)
        others = {name for place in places[:_MOST_PLACES] for name in place.names} - self._vocabulary.stop
        synonyms = self._synonyms(words)
        similar = dict.fromkeys((*synonyms, *sorted(others)))
        exact = _exact(text)
        written = self._vocabulary.written
        return Concept(
            text=text,
            exact=exact,
            similar=tuple(
                dict.fromkeys(Phrase(f) for each in similar for f in _plurals(each) if Phrase(f) not in exact)
            ),
            also=tuple(dict.fromkeys(written[synonym] for synonym in synonyms if Phrase(synonym) not in exact)),
            parts=_parts(words) if not places else (),
            places=places,
            is_weak=words in self._vocabulary.weak,
            may_go_on=not places,
        )

    def _unknown(self, atoms: Sequence[_Atom]) -> Concept:
        """Return the concept of words that are no entry of the lists."""
        text = _text(atoms)
        return Concept(text=text, exact=_exact(text) or (Phrase(tuple(a.word for a in atoms)),), may_go_on=True)

    def _synonyms(self, words: Words) -> tuple[Words, ...]:
        """Return what means the same as words, in any form of the last one."""
        for form in forms(words[-1]):
            if found := self._vocabulary.synonyms.get((*words[:-1], form)):
                return found
        return ()


def _runs(terms: Sequence[Term]) -> Iterator[Term | list[_Atom]]:
    """Yield the phrases and beginnings of words of a query, and the runs of plain words between them."""
    atoms = list[_Atom]()
    for term in terms:
        if term.is_phrase or term.is_prefix:
            if atoms:
                yield atoms
                atoms = []
            yield term
        else:
            atoms += _atoms(term.text)
    if atoms:
        yield atoms


def _atoms(text: str) -> Iterator[_Atom]:
    """Yield the words of a term; characters of scripts without spaces one by one."""
    follows = False
    for piece in _split(text):
        for word in words_of(piece):
            is_character = is_unspaced(word)
            yield _Atom(word, word if is_character else piece, follows and is_character)
            follows = is_character
        follows = follows and text.endswith(piece)


def _split(text: str) -> Iterator[str]:
    """Yield the parts of a term that the index divides: `wms:foo_bar` → wms, foo, bar."""
    yield from re.findall(r"[^\s\-_.,;:/\\()\[\]{}'’`+&|!?#=<>@%$^~*\"、，。；：（）]+", text)


def _text(atoms: Sequence[_Atom]) -> str:
    """Return what was typed for some atoms."""
    parts = list[str]()
    for atom in atoms:
        if parts and not (atom.is_glued and is_unspaced(atom.word)):
            parts.append(" ")
        parts.append(atom.text)
    return "".join(parts)


def _forms(words: Words) -> tuple[Words, ...]:
    """Return words with the last one in each of its forms, the given one first."""
    if not words:
        return ()
    return tuple((*words[:-1], form) for form in forms(words[-1]))


def _exact(text: str) -> tuple[Phrase, ...]:
    """Return what was typed in all its spellings and forms, the first one as it was typed."""
    texts = [tuple(spelling.split()) for spelling in spellings(text)]
    texts += [other for each in texts for other in _other_spellings(each)]
    return tuple(Phrase(form) for form in dict.fromkeys(form for each in texts for form in _forms(each)))


def _other_spellings(words: Words) -> Iterator[Words]:
    """Yield other ways to write words: natura2000 as natura 2000, ortofoto as ortophoto, land use as landuse."""
    divided = tuple(part for word in words for part in number_apart(word))
    if divided != words:
        yield divided
    for other in other_sounds(words[-1]) if words else ():
        yield (*words[:-1], other)
    if len(words) == _PAIR and not any(map(is_unspaced, words)):
        yield ("".join(words),)


def _parts(words: Words) -> tuple[tuple[Phrase, ...], ...]:
    """Return the forms of each of several words; nothing for one word and for scripts without spaces."""
    if len(words) == 1 or any(map(is_unspaced, words)):
        return ()
    return tuple(tuple(Phrase((form,)) for form in forms(word)) for word in words)


def _with_joined(reads: Sequence[Read]) -> Iterator[Read]:
    """Yield what words were read as; two beside each other are looked for as one, too (Boden Karte, Bodenkarte)."""
    for before, read, after in zip((None, *reads), reads, (*reads[1:], None), strict=False):
        if isinstance(read, Concept):
            joined = [_joined(before, read), _joined(read, after)]
            read = replace(read, exact=(*read.exact, *(phrase for each in joined for phrase in each)))
        yield read


def _joined(first: Read | None, second: Read | None) -> tuple[Phrase, ...]:
    """Return two single words as one word, in a few forms; nothing for places and for what is no word."""
    if not (isinstance(first, Concept) and isinstance(second, Concept)) or first.places or second.places:
        return ()
    words = (*first.exact[0].words, *second.exact[0].words)
    if len(words) != _PAIR or not all(word.isalpha() and len(word) >= _LEAST_TO_JOIN for word in words):
        return ()
    return () if any(map(is_unspaced, words)) else tuple(Phrase((form,)) for form in plurals("".join(words)))


def _typed_together(reads: Sequence[Read]) -> Iterator[Phrase]:
    """Yield the phrases of concepts that follow each other, places and weak words aside."""
    words = list[Words]()
    for read in (*reads, LeftOut("")):
        if isinstance(read, Concept) and not read.places and not read.is_weak:
            words.append(read.exact[0].words)
            continue
        if len(words) > 1:
            yield Phrase(tuple(word for each in words for word in each))
        words = []


def _plurals(words: Words) -> Iterator[Words]:
    """Yield words with the last one in a few forms, the given one first."""
    for form in plurals(words[-1]):
        yield (*words[:-1], form)


def _phrases(term: Term) -> Iterator[Phrase]:
    """Yield the spellings of a phrase or of the beginning of a word."""
    for text in spellings(term.text):
        if words := tuple(text.split()):
            yield Phrase(words, term.is_prefix)


def _plain(text: str) -> Concept:
    """Return the concept of a word in its spellings alone."""
    return Concept(text=text, exact=tuple(Phrase(tuple(spelling.split())) for spelling in spellings(text) if spelling))


def _deduplicated(concepts: Sequence[Concept]) -> list[Concept]:
    """Return concepts without those that were named twice."""
    return list({concept.exact: concept for concept in reversed(concepts)}.values())[::-1]


# --------------------------------------------------------------------------- how it was read

_MOST_OTHERS = 6
"""Most words that mean the same which are named."""


def differences(plan: Plan, *, dropped_kinds: bool, is_partial: bool) -> Iterator[Sentence]:
    """Yield sentences for people that say in what the found services differ from what a query asks for.

    `is_partial`: no service has all words, and some with most of them were found.
    """
    if plan.is_empty:
        yield Sentence("the query contains no words; showing all services that match the filters")
    if is_partial:
        yield Sentence("no service has all of these words: found are those with most of them")
    for words in plan.kind_words if dropped_kinds else ():
        yield Sentence("“{words}”: no service of this kind matches, so any kind is shown", words=words.text)


def read_as(plan: Plan, *, dropped_kinds: bool = False) -> Iterator[Sentence]:
    """Yield sentences for people about the words and the conditions of a query."""
    for concept in plan.concepts:
        if concept.places:
            named = sorted({f"{place.title} ({place.country})" for place in concept.places})
            yield Sentence("“{words}”: the place {places}", words=concept.text, places=", ".join(named[:3]))
        if concept.also and not concept.places:
            others, more = ", ".join(concept.also[:_MOST_OTHERS]), len(concept.also) - _MOST_OTHERS
            template = "“{words}”: also {others} and {n} more" if more > 0 else "“{words}”: also {others}"
            yield Sentence(template, words=concept.text, others=others, n=more)
        if concept.is_weak:
            yield Sentence("“{words}”: need not occur", words=concept.text)
    for words in () if dropped_kinds else plan.kind_words:
        yield Sentence("“{words}”: only {kinds}", words=words.text, kinds=", ".join(words.kinds))
    if plan.ignored:
        yield Sentence("left out: {words}", words=", ".join(plan.ignored[:20]))
    for filters in plan.filters:
        yield from (Sentence("only {condition}", condition=condition) for condition in _conditions(filters))
    for filters in plan.without:
        yield from (Sentence("without {condition}", condition=condition) for condition in _conditions(filters))
    for phrases in plan.excluded:
        if phrases:
            yield Sentence("without the word {words}", words=" ".join(phrases[0].words))
        else:
            yield Sentence("without a word that has no letters")


def _conditions(filters: Filters) -> Iterator[Sentence]:
    lists = {
        "kind": filters.kinds,
        "reference system": filters.systems,
        "format": filters.formats,
        "field": filters.fields,
        "country": filters.countries,
        "provider": filters.providers,
        "health": filters.health,
        **{each: tuple(value for name, value in filters.columns if name == each) for each in OF_COLUMNS},
    }
    for name, values in lists.items():
        if values:
            yield Sentence(f"{name} {{values}}", values=reduce(_either, values))
    if filters.box is not None:
        yield Sentence("extent within reach of {box}", box=_sides(filters.box))
    if filters.within is not None:
        yield Sentence("extent within {box}", box=_sides(filters.within))
    if filters.time is not None:
        ends = (iso(end) or ".." for end in filters.time[:2])
        yield Sentence("data of {times}", times="/".join(ends))
    if filters.level:
        yield Sentence("level {level} or better", level=filters.level)
    if filters.alive:
        yield Sentence("valid at the last probe")
    if filters.answered_within_s is not None:
        yield Sentence("valid in the last {n:day}", n=Count(f"{filters.answered_within_s / DAY_S:g}"))
    if filters.new_within_s is not None:
        yield Sentence("found in the last {n:day}", n=Count(f"{filters.new_within_s / DAY_S:g}"))


def _either(one: str, other: str) -> str:
    return Sentence("{one} or {other}", one=one, other=other)


def _sides(box: Sequence[float]) -> str:
    return ", ".join(f"{side:g}" for side in box)
