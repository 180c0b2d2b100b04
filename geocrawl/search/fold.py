"""Fold texts and queries in the same way, so that spellings of one word become one: `Fläche`, `FLACHE` → `flache`.

Folding makes letters lower-case and full-width forms plain (NFKC), takes diacritics from Latin, Greek and Cyrillic
letters, and turns traditional Chinese characters into simplified ones. Chinese and Japanese are written without spaces,
and a full-text index takes a run of them for one word: every such character becomes a word of its own, and what a
person asks for becomes a phrase of them. No dictionary decides where words end.

A text for the index also gets the parts of names that programs write: `LandUse2018` is found by `landuse`, `land use`
and `2018`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path

# By the place of this file: the CSW's interpreter loads it where geocrawl is not installed.
_SIMPLIFIED = Path(__file__).resolve().parents[1] / "data" / "search" / "simplified.txt"
_UNSPACED = re.compile(
    "([\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)
_DIACRITICS = re.compile("[\u0300-\u036f]")
_LETTERS = str.maketrans(
    {
        "ß": "ss",
        "ø": "o",
        "æ": "ae",
        "œ": "oe",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ħ": "h",
        "ı": "i",
        "\u0640": None,  # Arabic: the stroke that lengthens a word, and vowel signs
        **{chr(code): None for code in range(0x64B, 0x660)},
        "\0": " ",
    }
)
_NAME = re.compile(
    r"(?<![^\W_])[A-Za-z0-9]*(?:[a-z][A-Z0-9]|[A-Z][0-9]|[0-9][A-Za-z]|[A-Z][A-Z][a-z])[A-Za-z0-9]*(?![^\W_])"
)
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_ASCII_WORD = re.compile("[a-z0-9]+")
_NO_ASCII_WORD = re.compile("[^a-z0-9\x1e]+")
_MOST_PARTS = 12
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"}
_DIGRAPH = re.compile("ae|oe|ue")


def folded(text: str) -> str:
    """Return `text` folded, with a space around each character of a script written without spaces."""
    if text.isascii():
        return text.lower().replace("\0", " ")
    text = _without_diacritics(text).translate(_simplified()).lower()
    return _UNSPACED.sub(r" \1 ", _without_diacritics(text).translate(_LETTERS))


def folded_for_index(text: str) -> str:
    """Return `text` folded, each name that a program wrote followed by its parts."""
    return folded(_NAME.sub(_with_parts, text if text.isascii() else _without_diacritics(text)))


def words_of(text: str) -> list[str]:
    """Return the words of a text, folded, as the index divides it: runs of letters, marks and digits."""
    return _words(folded(text))


def lines_of_words(texts: Iterable[str]) -> list[str]:
    """Return each text as its words with a space around each, all folded at once: ten times as fast as one by one."""
    if not (texts := list(texts)):
        return []
    folded_texts = folded("\x1e".join(text.replace("\x1e", " ") for text in texts))
    if folded_texts.isascii():
        return [f" {line} " for line in _NO_ASCII_WORD.sub(" ", folded_texts).split("\x1e")]
    return [f" {' '.join(_words(line))} " for line in folded_texts.split("\x1e")]


def spellings(word: str) -> tuple[str, ...]:
    """Return the spellings in which a word may be in the index, folded, the word's own first.

    `Fläche` may have been written Flaeche, and what is typed as Flaeche may be Fläche.
    """
    own = " ".join(words_of(word))
    lower = unicodedata.normalize("NFC", word).lower()
    others = [" ".join(words_of("".join(_UMLAUTS.get(letter, letter) for letter in lower)))]
    if _DIGRAPH.search(own):
        others.append(_DIGRAPH.sub(lambda found: found[0][0], own))
    return tuple(dict.fromkeys((own, *others)))


def count_words(folded_text: str) -> int:
    """Return how many words a folded text has; two characters of a script written without spaces count as one."""
    words = folded_text.split()
    return len(words) - sum(is_unspaced(word) for word in words) // 2


def is_unspaced(text: str) -> bool:
    """Return whether a text holds characters of a script written without spaces."""
    return _UNSPACED.search(text) is not None


def _without_diacritics(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text))
    return unicodedata.normalize("NFC", _DIACRITICS.sub("", decomposed))


def _words(folded_text: str) -> list[str]:
    if folded_text.isascii():
        return _ASCII_WORD.findall(folded_text)
    # Marks belong to words: without them the scripts of India fall apart.
    others = {
        ord(each): " " for each in set(folded_text) if not (each.isalnum() or unicodedata.category(each)[0] == "M")
    }
    return folded_text.translate(others).split()


def _with_parts(found: re.Match[str]) -> str:
    name = found[0]
    parts = [part for part in _PART.findall(name) if len(part) > 1][:_MOST_PARTS]
    letters = "".join(part for part in parts if part.isalpha())
    return " ".join(dict.fromkeys((name, letters, *parts)))


@cache
def _simplified() -> dict[int, int]:
    """Return traditional Chinese characters → simplified ones (`scripts/simplified_chinese.py`)."""
    text = _SIMPLIFIED.read_text("utf-8")
    traditional, simplified = text.split("\n")[:2]
    return {ord(a): ord(b) for a, b in zip(traditional, simplified, strict=True)}
