"""Find other forms of a word: `forest` for `forests`, `Karte` for `Karten`.

The endings of several languages are exchanged for each other, and every form that results is asked for. A form that
no text holds costs a look-up in the index and finds nothing, so no language needs to be known; a stemmer would make one
word of different ones (`water` and `wat`) in the languages for which it was not made.
"""

from __future__ import annotations

import re

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
