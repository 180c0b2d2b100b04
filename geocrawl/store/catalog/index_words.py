"""Split text into words for the full-text index, in the same way for indexing and for searching.

Chinese and Japanese are written without spaces, and FTS5 takes a run of them for one word. Every such character
becomes a word of its own here, and what a person asks for becomes a phrase of them, so a search finds exactly the
texts that contain it: no dictionary decides where words end, and nothing has to be loaded first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

Segment = Callable[[str], str]
"""Text to words with spaces between them."""

_UNSPACED = re.compile(
    "([\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
)


def spaced(text: str) -> str:
    """Return `text` with a space around each character of a script written without them; full-width forms made plain
    (NFKC)."""
    return text if text.isascii() else _UNSPACED.sub(r" \1 ", unicodedata.normalize("NFKC", text))


def match_query(words: str, segment: Segment = spaced) -> str:
    """Return an FTS5 query for texts that contain all words, in any order; '' when there is no word.

    Every word is quoted, so that no character is read as FTS5's own syntax. A word that ends in `*` matches all words
    that begin with it.
    """
    phrases = []
    for word in words.split():
        stem = word.rstrip("*")
        text = " ".join(segment(stem.replace('"', " ").replace("\0", " ")).split())
        if any(character.isalnum() for character in text):
            phrases.append(f'"{text}"' + ("*" if stem != word else ""))
    return " ".join(phrases)
