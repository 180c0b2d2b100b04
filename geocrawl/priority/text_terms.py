"""Turn text into terms, the axes of the vector spaces: English stemmed, Chinese split, Japanese in character bigrams.

Words in Latin letters lose their English ending (Snowball); German words pass through the same stemmer, which at least
treats equal words equally. Chinese is split by jieba's search mode (`tokens`). Japanese has no spaces and no
dictionary here: a text with kana is cut into runs of kanji and of katakana, and these into pairs of characters;
hiragana, the script of grammatical endings, is left out. Stop words of English, German, Chinese and the web are left
out, so are numbers and single letters.
"""

from __future__ import annotations

import logging
import math
import os
import re
import tomllib
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import resources
from importlib.util import find_spec
from itertools import pairwise
from typing import Protocol

from geocrawl.model import Document, Link

# --------------------------------------------------------------------------- words
# jieba takes a second to load its dictionary, so it is loaded when the first Han run occurs; only runs of Han
# characters are passed to it. The dictionary's cache is in the user's cache folder: the common temporary folder is
# writable for others, and jieba reads the cache with `marshal`. rjieba (the extra `speed`), the same in Rust, loads in
# a tenth of the time and splits nine times as fast, into the same words: GEOCRAWL_SEGMENTER=rjieba chooses it.


_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_RUN = re.compile(f"[{_HAN}]+")
_TOKEN = re.compile(rf"(?P<han>[{_HAN}]+)|[^\W_{_HAN}]+")
"""A run of Han characters, or of other letters and digits."""


_IN_DICTIONARY = re.compile("[\u4e00-\u9fd5]+|.", re.DOTALL)
"""A run of the characters that jieba looks up; jieba returns each other character as a word of its own."""


class Segmenter(Protocol):
    """Splits a run of Han characters as jieba's search mode does."""

    def lcut_for_search(self, sentence: str) -> list[str]:
        """Return the long words of a sentence and the shorter ones within them."""
        ...


class RjiebaSegmenter:
    """Splits with rjieba, which takes a run of rare characters for one word where jieba returns each of them."""

    def __init__(self) -> None:
        """Raises ImportError when rjieba is not installed."""
        from rjieba import Jieba

        self._cut: Callable[[str], list[str]] = Jieba().cut_for_search

    def lcut_for_search(self, sentence: str) -> list[str]:
        """Return the words of jieba's search mode."""
        words: list[str] = []
        for run in _IN_DICTIONARY.findall(sentence):
            words += self._cut(run) if len(run) > 1 else (run,)
        return words


def has_han(text: str) -> bool:
    """Return whether `text` has a Chinese character (or a Japanese kanji)."""
    return not text.isascii() and _HAN_RUN.search(text) is not None


def tokens(text: str) -> Iterator[str]:
    """Yield each token of `text`, in order, stop words included and punctuation left out.

    Han runs are split in search mode (long words and the shorter ones within), everything else is in lower case.
    """
    for match in _TOKEN.finditer(text.lower()):  # lower() first: İ becomes two characters, one of them no letter
        if match["han"]:
            yield from _segmenter().lcut_for_search(match[0])
        else:
            yield match[0]


def content_words(text: str) -> list[str]:
    """Return the tokens of `text` without stop words, single letters and numbers."""
    stops = stop_words()
    return [t for t in tokens(text) if t not in stops and not t.isdigit() and (len(t) > 1 or has_han(t))]


@lru_cache(maxsize=1)
def stop_words() -> frozenset[str]:
    """Return English, Chinese and web stop words (`geocrawl/data/stop_words.toml`)."""
    return _stop_words("en", "zh", "web")


@lru_cache(maxsize=1)
def all_stop_words() -> frozenset[str]:
    """Return `stop_words`, German ones, and the names of languages, which many sites write on every page."""
    return stop_words() | _stop_words("de", "languages")


def _stop_words(*languages: str) -> frozenset[str]:
    lists = tomllib.loads(resources.files("geocrawl").joinpath("data/stop_words.toml").read_text("utf-8"))
    return frozenset(word for language in languages for word in lists[language].split())


@lru_cache(maxsize=1)
def _segmenter() -> Segmenter:
    """Return jieba, or rjieba where the environment chooses it and it is installed; loaded at the first call."""
    if os.environ.get("GEOCRAWL_SEGMENTER") == "rjieba" and find_spec("rjieba"):
        return RjiebaSegmenter()
    return jieba_segmenter()


def jieba_segmenter() -> Segmenter:
    """Return jieba with its own dictionary (about a second, less with its cache)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about regular expressions and pkg_resources in jieba
        import jieba
    jieba.setLogLevel(logging.CRITICAL)  # a cache that cannot be written costs only time
    segmenter = jieba.Tokenizer()
    segmenter.tmp_dir = _cache_dir()
    segmented: Segmenter = segmenter
    return segmented


def _cache_dir() -> str:
    import platformdirs

    folder = platformdirs.user_cache_path("geocrawl")
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


REMEMBERED_WORDS = 32_768
REMEMBERED_RUNS = 16_384
"""Runs of Han characters whose words are cached: a site's navigation is on each of its pages."""
LONGEST_REMEMBERED_RUN = 40
JAPANESE_KANA = 0.1
"""A text with more kana than this share of its Han characters is Japanese (ours)."""
_FEW_WORDS = 40
"""Below this number of words counting each at once is faster than a `Counter`."""
_ASCII = re.compile("[\x00-\x7f]+")
_OTHER_LETTER = re.compile(r"[^\W\x00-\xff]")
"""A letter or digit that is not in Latin-1."""
_DIGITS = "0123456789"
_SPACED = bytes(code if chr(code).isalnum() else 32 for code in range(256))
"""For each character of Latin-1 itself if it is a letter or digit, else a space."""
_OTHER_WORD = rf"[^\W\d_{_HAN}\u3041-\u30ff][^\W_{_HAN}\u3041-\u30ff]+"
_WORD_OR_RUN = re.compile(rf"[{_HAN}]+|{_OTHER_WORD}")
_JAPANESE = re.compile(rf"[{_HAN}々]{{2,}}|[\u30a1-\u30fa\u30fc]{{2,}}|{_OTHER_WORD}")
_KANA = re.compile("[\u3041-\u30ff]")
_HAN_CHARACTER = re.compile(f"[{_HAN}]")


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


def term_counts(text: str, term_of: Callable[[str], str] | None = None) -> dict[str, int]:
    """Return term → how often it occurs in `text`, in the order of first appearance.

    `term_of` returns the term of a word, '' for a word that does not count; None: `term_of_word`.
    """
    term_of = term_of or term_of_word
    words = _words(text.lower())
    counts: dict[str, int] = {}
    if len(words) < _FEW_WORDS:
        for word in words:
            if term := term_of(word):
                counts[term] = counts.get(term, 0) + 1
        return counts
    for word, count in Counter(words).items():
        term = term_of(word)
        if term:
            counts[term] = counts.get(term, 0) + count
    return counts


def language_of(text: str) -> str:
    """Return ja, zh, or en for any text in Latin letters, by the script alone."""
    if is_japanese(text):
        return "ja"
    letters = sum(map(str.isalpha, text))
    return "zh" if letters and len(_HAN_CHARACTER.findall(text)) > 0.2 * letters else "en"


def is_japanese(text: str) -> bool:
    """Return whether `text` has kana, more than a Chinese text that quotes a few."""
    if text.isascii():
        return False
    kana = len(_KANA.findall(text))
    return kana > JAPANESE_KANA * len(_HAN_CHARACTER.findall(text)) if kana else False


def _words(text: str) -> list[str]:
    """Return the words of a text in lower case, also stop words, numbers, single letters and words behind a number."""
    foreign = _ASCII.sub("", text)
    if not _OTHER_LETTER.search(foreign):  # several times as fast as a pattern
        return text.encode("latin-1", "replace").translate(_SPACED).decode("latin-1").split()
    if is_japanese(text):
        return [part for run in _JAPANESE.findall(text) for part in _bigrams(run)]
    runs: list[str] = _WORD_OR_RUN.findall(text)
    if not _HAN_CHARACTER.search(foreign):
        return runs
    found: list[str] = []
    for run in runs:
        if run.isascii() or not has_han(run):
            found.append(run)
        else:
            found.extend(_split(run) if len(run) <= LONGEST_REMEMBERED_RUN else tokens(run))
    return found


def _bigrams(run: str) -> list[str]:
    """Return the pairs of neighbouring characters of a run in Japanese script; any other word unchanged."""
    if run.isascii() or not (has_han(run) or _KANA.search(run)):
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)]


@lru_cache(maxsize=REMEMBERED_RUNS)
def _split(run: str) -> tuple[str, ...]:
    return tuple(tokens(run))


@lru_cache(maxsize=REMEMBERED_WORDS)
def term_of_word(word: str) -> str:
    """Return the axis of a word; '' for a stop word, a number and a single letter."""
    word = word.lstrip(_DIGITS)
    if len(word) < 2 and word < "\u0100":
        return ""
    if word in all_stop_words():
        return ""
    return _stemmer().stemWord(word) if word.isascii() else word


@lru_cache(maxsize=1)
def _stemmer() -> _Stemmer:
    import snowballstemmer

    stemmer: _Stemmer = snowballstemmer.stemmer("english")
    return stemmer


# --------------------------------------------------------------------------- keywords in text
# Find keywords in raw text, by one compiled pattern and without splitting the text into words.
#
# A Latin keyword counts where no other Latin letter touches it ("WMS" in "WMS服务", "wms_130" and "WMS 1.1.1", not in
# "swms"), in any case, with or without a plural s. A Han keyword counts wherever it occurs, because Chinese has no word
# boundaries. Of several matches the longest counts: "web map service" is not also a "map service".


class Keywords:
    """A set of keywords, compiled for searching."""

    def __init__(self, words: Collection[str]) -> None:
        """Compile `words`, in lower case and with single spaces between words."""
        self._words = frozenset(words)
        self._search = _Search(self._words, _pattern)

    def found_in(self, text: str) -> list[str]:
        """Return every occurrence in `text`, in order, in the keyword's spelling."""
        lower = text.lower()
        keywords = self._search.in_(lower).findall(lower)
        words = self._words
        return [match if match in words else match.removesuffix("s") for match in keywords]


class Hint:
    """A quick check whether any of some words occurs, also within another word."""

    def __init__(self, words: Collection[str]) -> None:
        """Compile `words`, in lower case."""
        self._search = _Search(words, _hint)

    def is_in(self, lower: str) -> bool:
        """Return whether a word occurs in a text in lower case."""
        return self._search.in_(lower).search(lower) is not None


class _Search:
    """Patterns of all words and of those in ASCII.

    `re` compares each character of a text with the initial of each word in turn, so words of fifty languages make a
    search four to nine times as dear. Most texts contain no character that only these words have.
    """

    def __init__(self, words: Collection[str], pattern: Callable[[Collection[str]], str]) -> None:
        others = {next(char for char in word if not char.isascii()) for word in words if not word.isascii()}
        self._others = re.compile(f"[{''.join(sorted(others))}]" if others else r"(?!)")
        self._all = re.compile(pattern(words))
        self._ascii = re.compile(pattern([word for word in words if word.isascii()]))

    def in_(self, text: str) -> re.Pattern[str]:
        """Return the pattern that finds as much in `text` as that of all words."""
        return self._ascii if text.isascii() or not self._others.search(text) else self._all


def _hint(words: Collection[str]) -> str:
    branches = (
        f"{re.escape(initial)}(?:{'|'.join(re.escape(word[1:]) for word in group)})"
        for initial, group in _by_initial(words)
    )
    return "|".join(branches) or r"(?!)"


def _pattern(words: Collection[str]) -> str:
    """Return an alternation whose branches begin with a plain character.

    `re` then skips ahead to the characters that can begin a match, which is twice as fast as beginning with a
    look-behind; so the character before a Latin word is checked after the word.
    """
    return "|".join(_branch(initial, group) for initial, group in _by_initial(words)) or r"(?!)"


def _by_initial(words: Collection[str]) -> list[tuple[str, list[str]]]:
    """Return initial → the words with it, longest first."""
    groups: dict[str, list[str]] = defaultdict(list)
    for word in sorted(words, key=lambda word: (-len(word), word)):
        groups[word[0]].append(word)
    return sorted(groups.items())


def _branch(initial: str, words: list[str]) -> str:
    """Return the branch of the words with one initial, longest first, each with the rules of its script."""
    first = re.escape(initial)
    latin = [f"{re.escape(word[1:])}(?<![a-z]{re.escape(word)})" for word in words if word.isascii()]
    han = [re.escape(word) for word in words if not word.isascii()]
    branches = [f"{first}(?:{'|'.join(latin)})s?(?![a-z])"] if latin else []
    return "|".join([*han, *branches])


# --------------------------------------------------------------------------- contexts of links
# Han et al. (2010) use a window on both sides of a link. If the window contains other links, the words there belong to
# those links, so the context is only the neighbouring anchor on each side; otherwise it is the near text.


_SHOWN = frozenset({"a", "area"})
"""Elements whose links are visible in the text; others (forms, frames, `<link>`) are no neighbours."""
_HEAD_CHARS = 20
"""A neighbour is in the window when its anchor is, or at least this many of its first characters: windows are
truncated, and an anchor may continue with the alternative text of an image.
"""


def link_contexts(links: Sequence[Link]) -> list[tuple[str, ...]]:
    """Return the context texts of each link, in the links' order:

    the neighbouring anchors (one or two) or the near text.

    The window is `Link.context`, which ends with the block that contains the link (ours). A link alone in its block, as
    in lists and menus, has an empty window; the anchors before and after it in the document are then its neighbours.
    """
    shown = [i for i, link in enumerate(links) if link.where in _SHOWN and link.anchor]
    behind = dict(pairwise(shown))
    before = {later: earlier for earlier, later in behind.items()}
    return [_context(links, link, before.get(i), behind.get(i)) for i, link in enumerate(links)]


def _context(links: Sequence[Link], link: Link, before: int | None, behind: int | None) -> tuple[str, ...]:
    near = link.context
    anchors = [links[i].anchor for i in (before, behind) if i is not None]
    standing = tuple(anchor for anchor in anchors if not near or _stands_in(anchor, near))
    return standing or ((near,) if near else ())


def _stands_in(anchor: str, near: str) -> bool:
    return anchor in near or (len(anchor) > _HEAD_CHARS and anchor[:_HEAD_CHARS] in near)


# --------------------------------------------------------------------------- TF-IDF
# Turn texts into TF-IDF vectors and measure how near they are to the topic, for strategies that compare texts.
#
# The weight of a term is (1 + ln tf)·idf, tf its count in the text and idf that of the training pages; terms that are
# rare in those pages are ignored. A vector has length 1. As in gws there is one topic vector for each language, and a
# text's similarity is the highest of its cosines with these: with one joint vector a page could reach no more than its
# language's share.


Vector = Mapping[str, float]
TF_IDF = (
    "The weight of a word is (1 + ln tf)·idf with idf = ln((1 + N)/(1 + df)) + 1.",
    "The topic is Rocchio's: the centroid of pages on the topic minus that of others.",
)
"""What presets that compare texts do otherwise than their papers print, for `Preset.differs`."""
REMEMBERED_ANCHORS = 8_192
LONGEST_REMEMBERED_ANCHOR = 120


class TextModel:
    """A vocabulary and the topic's vectors, with the scores to expect of pages on the topic."""

    def __init__(
        self,
        idf: Vector,
        topics: Mapping[str, Vector],
        *,
        threshold: float,
        typical: float,
        made: Mapping[str, object] | None = None,
        percentiles: Sequence[float] = (),
        selections: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """Make a model. `idf`: term → IDF. `topics`: language → topic vector, of any length above 0.

        `threshold`: a low quantile of `similarity` over held-out pages on the topic (links of pages at or below the
        threshold are not followed in hits). `typical`: their median. `percentiles`: 0 to 100 % of the scores of
        relevant pages, also from webs. `selections`: measure → terms that tell the topic best, the best first.
        """
        self.idf = idf
        self.topics = {language: unit(vector) for language, vector in topics.items()}
        self.threshold = threshold
        self.typical = typical
        self.made: Mapping[str, object] = made or {}
        self.percentiles = tuple(percentiles)
        self.selections: Mapping[str, Sequence[str]] = selections or {}
        self._remembered = lru_cache(maxsize=REMEMBERED_ANCHORS)(self.similarity)

    def threshold_at(self, share: float) -> float:
        """Return the score below which `share`, 0…1, of relevant pages are; `threshold` when their scores are unknown.

        Between two percentiles it is the lower one.
        """
        return self.percentiles[math.floor(share * (len(self.percentiles) - 1))] if self.percentiles else self.threshold

    def selected(self, measure: str, number: int) -> TextModel:
        """Return the model with the `number` terms that are best by a measure. Raises KeyError for an unknown one."""
        kept = set(self.selections[measure][:number])
        topics = {language: {t: w for t, w in topic.items() if t in kept} for language, topic in self.topics.items()}
        return TextModel(
            {term: weight for term, weight in self.idf.items() if term in kept},
            {language: topic for language, topic in topics.items() if topic},
            threshold=self.threshold,
            typical=self.typical,
            made=self.made,
        )

    def vector(self, text: str) -> dict[str, float]:
        """Return the TF-IDF vector of `text`, length 1; empty when none of its terms is in the vocabulary."""
        return tf_idf(term_counts(text), self.idf)

    def similarity(self, text: str) -> float:
        """Return the cosine, 0…1, of `text` with the nearest language's topic vector; 0 without known terms."""
        return self.nearness(self.vector(text))

    def nearness(self, vector: Vector) -> float:
        """Return `similarity` of a text whose `vector` is known."""
        return min(max((_product(vector, topic) for topic in self.topics.values()), default=0.0), 1.0)

    def page_similarity(self, document: Document) -> float:
        """Return `similarity` of a page: of its title and its text."""
        return self.similarity(page_text(document))

    def anchor_similarity(self, anchor: str) -> float:
        """Return `similarity` of a short text, cached: the same anchors are on every page of a site."""
        if not anchor:
            return 0.0
        return self._remembered(anchor) if len(anchor) <= LONGEST_REMEMBERED_ANCHOR else self.similarity(anchor)


def page_text(document: Document) -> str:
    """Return title and text of a page."""
    return f"{document.title}\n{document.text}"


def tf_idf(counts: Mapping[str, int], idf: Vector) -> dict[str, float]:
    """Return the vector of (1 + ln tf)·idf, length 1, of the terms in `idf`."""
    weights: dict[str, float] = {}
    log = math.log
    squares = 0.0
    for term, count in counts.items():
        rarity = idf.get(term)
        if rarity is not None:
            weight = rarity if count == 1 else (1.0 + log(count)) * rarity
            weights[term] = weight
            squares += weight * weight
    if not squares:
        return {}
    length = math.sqrt(squares)
    return {term: weight / length for term, weight in weights.items()}


def unit(vector: Vector) -> dict[str, float]:
    """Return the vector with length 1; empty for one of length 0."""
    length = norm(vector)
    return {term: weight / length for term, weight in vector.items()} if length else {}


def norm(vector: Vector) -> float:
    """Return the Euclidean length of a vector."""
    return math.sqrt(sum(weight * weight for weight in vector.values()))


def cosine(a: Vector, b: Vector) -> float:
    """Return a·b / (|a||b|), 0…1, of vectors without negative weights; 0 when one is empty. Exactly symmetric."""
    lengths = norm(a) * norm(b)
    return min(_product(a, b) / lengths, 1.0) if lengths else 0.0


def mean(vectors: list[dict[str, float]]) -> dict[str, float]:
    """Return the mean of one vector or more."""
    total: dict[str, float] = {}
    for vector in vectors:
        for term, weight in vector.items():
            total[term] = total.get(term, 0.0) + weight
    return {term: weight / len(vectors) for term, weight in total.items()}


def _product(a: Vector, b: Vector) -> float:
    """Return the scalar product, summed with exact rounding, so that the order of the terms does not matter."""
    if len(a) > len(b):
        a, b = b, a
    return math.fsum([weight * b[term] for term, weight in a.items() if term in b])
