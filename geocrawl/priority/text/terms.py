"""Turn text into terms, the axes of the vector spaces: English stemmed, Chinese split, Japanese in character bigrams.

Words in Latin letters lose their English ending (Snowball); German words pass through the same stemmer, which at least
treats equal words equally. Chinese is split by jieba's search mode (`tokens`). Japanese has no spaces and no
dictionary here: a text with kana is cut into runs of kanji and of katakana, and these into pairs of characters;
hiragana, the script of grammatical endings, is left out. Stop words of English, German, Chinese and the web are left
out, so are numbers and single letters.
"""

from __future__ import annotations

import logging
import os
import re
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from importlib import resources
from importlib.util import find_spec
from typing import Protocol

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


REMEMBERED_WORDS = 65_536
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
