"""Fold texts and queries in the same way, so that spellings of one word become one: `Fläche`, `FLACHE` → `flache`.

Folding makes letters lower-case and full-width forms plain (NFKC), takes diacritics from Latin, Greek and Cyrillic
letters, and turns traditional Chinese characters into simplified ones. Chinese and Japanese are written without spaces,
and a full-text index takes a run of them for one word: every such character becomes a word of its own, and what a
person asks for becomes a phrase of them. No dictionary decides where words end.

A text for the index also gets the parts of names that programs write: `LandUse2018` is found by `landuse`, `land use`
and `2018`.

A word of a query is asked for in other forms, too: `forest` for `forests`, `Karte` for `Karten`. The endings of several
languages are exchanged for each other, and every form that results is asked for. A form that no text holds costs a
look-up in the index and finds nothing, so no language needs to be known; a stemmer would make one word of different
ones (`water` and `wat`) in the languages for which it was not made."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final

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


# --------------------------------------------------------------------------- forms of a word

_STRIPPED = ("ern", "ies", "ing", "es", "en", "er", "em", "ed", "as", "os", "s", "e", "n", "y", "a", "o", "i")
_PARTNERS = {
    "s": ("", "es"),
    "es": ("", "e", "en", "s"),
    "e": ("", "es", "en", "er", "n", "i", "a"),
    "en": ("", "e", "es"),
    "n": ("", "e"),
    "er": ("", "e", "ern"),
    "ern": ("", "er"),
    "em": ("", "e"),
    "ed": ("", "e", "ing"),
    "ing": ("", "e", "s", "ed"),
    "ies": ("y", "ie"),
    "y": ("ies", "ie"),
    "as": ("a", "o", "os"),
    "os": ("o", "a", "as"),
    "a": ("as", "e", "o", "os"),
    "o": ("os", "a", "i", "as"),
    "i": ("o", "e"),
}
_ADDED = ("s", "es", "e", "en", "n", "er", "ern")
_RUN = re.compile(r"\d+|\D+")
_F = re.compile("foto|graf|morf")
_LEAST_STEM = 4
_MOST_FORMS = 24


def forms(word: str) -> tuple[str, ...]:
    """Return forms in which a folded word may occur, itself first; a short word, a number and a word of a script
    without such endings have only one."""
    if not word.isalpha() or not word[:1].isascii() or len(word) < _LEAST_STEM - 1:
        return (word,)
    if len(word) < _LEAST_STEM:
        return (word, word + "s")
    found = [word]
    found += [word + ending for ending in _ADDED]
    for ending in _STRIPPED:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _LEAST_STEM - (ending == "s"):
            found += [stem + partner for partner in _PARTNERS[ending]]
    return tuple(dict.fromkeys(found))[:_MOST_FORMS]


def number_apart(word: str) -> tuple[str, ...]:
    """Return the letters and the digits of a word apart: `natura`, `2000` for `natura2000`."""
    return tuple(_RUN.findall(word)) or (word,)


def other_sounds(word: str) -> tuple[str, ...]:
    """Return a folded word with the sound f written in the other way: `orthofoto`, `geografie`."""
    with_f, with_ph = word.replace("ph", "f"), _F.sub(lambda found: found[0].replace("f", "ph"), word)
    return tuple(dict.fromkeys(other for other in (with_f, with_ph) if other != word))


def plurals(word: str) -> tuple[str, ...]:
    """Return the forms of a folded word that differ by an ending of the plural, itself first: those of the many words
    that mean the same."""
    if not word.isalpha() or not word[:1].isascii() or len(word) < _LEAST_STEM:
        return (word,)
    found = [word]
    found += [stem for ending in ("s", "n", "en") if (stem := word.removesuffix(ending)) != word and len(stem) > 3]
    found += [word + ending for ending in ("s", "n", "en") if not word.endswith(("s", "n"))]
    return tuple(dict.fromkeys(found))


# --------------------------------------------------------------------------- other scripts

_LATIN_FORMS: Final = """
а a, б b, в v, г g, д d, е e, ж zh, з z, и i, к k, л l, м m, н n, о o, п p, р r, с s, т t, у u, ф f, х kh, ц ts, ч ch,
ш sh, щ shch, ъ, ы y, ь, э e, ю yu, я ya, і i, є ie, ґ g, ј j,
α a, β v, γ g, δ d, ε e, ζ z, η i, θ th, ι i, κ k, λ l, μ m, ν n, ξ x, ο o, π p, ρ r, σ s, ς s, τ t, υ y, φ f, χ ch,
ψ ps, ω o
"""
_LATIN: Final[Mapping[str, str]] = {
    pair.split()[0]: "".join(pair.split()[1:]) for pair in _LATIN_FORMS.replace("\n", " ").split(",")
}
_TABLE: Final = str.maketrans(dict(_LATIN))


def in_latin(word: str) -> str:
    """Return a folded word with Cyrillic and Greek letters written in Latin ones."""
    return word if word.isascii() else word.translate(_TABLE)


def letters_for(latin: str) -> tuple[str, ...]:
    """Return the Cyrillic and Greek letters whose Latin form begins with a letter."""
    return tuple(letter for letter, form in _LATIN.items() if form.startswith(latin))
