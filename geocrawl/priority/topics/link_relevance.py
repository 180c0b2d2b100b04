"""Measure how near a link is to the topic by its URL string and anchor text (gws eq. 3; fusion uses it, too).

A word in a URL begins and ends at any character that is no letter, and within camel case (`getWMS`, `WMSServer`). So
"wms" is found in `/wms130`, `service%3Dwms` and `WMSServer`, "gis" in `gis.example.org` and `my_gis`, neither in
`swms.html`, `register` or `logistics`. Names that end in -gis (arcgis, qgis …) are separate words in the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from geocrawl.model import Relevance
from geocrawl.priority.text.keywords import Keywords, hint_of

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Boundary between words of camel case: get|WMS, WMS|Server."""


@dataclass(frozen=True, slots=True)
class LinkModel:
    """The trained link words, in lower case, and the record of the training."""

    keywords: Mapping[str, tuple[str, ...]]
    """Words of level 2: language → its k link keywords, the most frequent first."""
    abbreviations: tuple[str, ...]
    """Words of level 1."""
    made: Mapping[str, object] = field(default_factory=dict)


class LinkMatch(NamedTuple):
    """A link's level and the words that determined the level."""

    level: Relevance
    words: tuple[str, ...]


_NO_MATCH = LinkMatch(Relevance.NONE, ())


class LinkMeasure:
    """Determines the level of links by a link model."""

    def __init__(self, model: LinkModel, both: Relevance = Relevance.HIGH) -> None:
        """Make measures; `both` is the level of a link keyword that is also an abbreviation (wms, ows)."""
        keywords = {word for words in model.keywords.values() for word in words}
        self._levels = {
            **dict.fromkeys(model.abbreviations, Relevance.SOME),
            **dict.fromkeys(keywords, Relevance.HIGH),
            **dict.fromkeys(keywords.intersection(model.abbreviations), both),
        }
        self._words = Keywords(self._levels)
        self._hint = hint_of(self._levels)

    def match(self, address: str, anchor: str) -> LinkMatch:
        """Return the level by gws eq. 3: 2 with a link keyword in URL or anchor, 1 with an abbreviation, else 0."""
        text = f"{unquote(address) if '%' in address else address} {anchor}"
        if not self._hint.search(text.lower()):  # most links: skips the search for word boundaries
            return _NO_MATCH
        words = dict.fromkeys([*self._words.found_in(text), *self._words.found_in(split_camel_case(text))])
        level = max((self._levels[word] for word in words), default=Relevance.NONE)
        return LinkMatch(level, tuple(word for word in words if self._levels[word] == level))


def split_camel_case(text: str) -> str:
    """Return `text` with a space between the words of camel case: "getWMS" becomes "get WMS"."""
    return _CAMEL.sub(" ", text)
