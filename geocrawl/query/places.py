"""Know the places of the world: continents, countries and their first-level regions, with names and boxes.

`data/search/places.tsv` holds them, and `scripts/gazetteer.py` says where they come from. A place is known by its box
alone: what lies at a border may count to both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from geocrawl.filters import unreadable
from geocrawl.model.catalogue import Box
from geocrawl.query.fold import words_of
from geocrawl.wording import Sentence

Words = tuple[str, ...]

_CODES_OF_HOSTS = {"uk": "GB"}
_SOLD_TO_ALL = frozenset(
    ["ac", "ai", "cc", "cd", "co", "fm", "gg", "io", "la", "ly", "me", "nu", "sh", "tk", "to", "tv", "ws"]
)
"""Top-level domains of countries that anybody uses."""
_ALIKE = 0.35
"""So alike must the boxes of a service and a place be (intersection over union) that the service is the place's."""
_WITHIN = 0.8
_CONTINENT = "*"
_WORLD = "*.001"


@dataclass(frozen=True, slots=True)
class Place:
    """A continent, a country, or a first-level region of one."""

    code: str
    """ISO 3166-1 for a country, with GeoNames' number for a region: DE, DE.02; `*.150` for a continent (UN M49)."""
    title: str
    """Its English name."""
    names: tuple[Words, ...]
    """Its names in several languages, folded."""
    boxes: tuple[Box, ...]
    """Boxes around its parts; none crosses the antimeridian."""

    @property
    def country(self) -> str:
        """Return the country's code; '' for a continent."""
        first = self.code.partition(".")[0]
        return "" if first == _CONTINENT else first

    @property
    def is_world(self) -> bool:
        """Return whether the place is the whole world, within which everything lies."""
        return self.code == _WORLD

    @property
    def is_country(self) -> bool:
        """Return whether the place is a country."""
        return "." not in self.code


class Places:
    """A gazetteer."""

    def __init__(self, places: Sequence[Place]) -> None:
        from shapely import STRtree, box  # a crawl that finds no service does without

        named = dict[Words, list[Place]]()
        for place in places:
            for name in place.names:
                named.setdefault(name, []).append(place)
        self._named: Mapping[Words, tuple[Place, ...]] = {name: tuple(found) for name, found in named.items()}
        self.longest = max(map(len, self._named), default=0)
        """Most words of a name."""
        self.by_code: Mapping[str, Place] = {place.code: place for place in places}
        boxed = [(place.country, each) for place in places if place.country for each in place.boxes]
        self._owners = tuple(country for country, _ in boxed)
        self._sides = sides_of(each for _, each in boxed)
        self._tree = STRtree(box(*self._sides))

    def named(self, words: Words) -> tuple[Place, ...]:
        """Return the places with this name, folded: a country alone where one has it, else all of them."""
        found = self._named.get(words, ())
        return tuple(place for place in found if place.is_country) or found

    @property
    def names(self) -> Iterable[Words]:
        """Return the names of all places, folded."""
        return self._named

    def country_of(self, host: str, extent: Box | None) -> str:
        """Return the country of a service by its extent and its host's top-level domain; '' when neither tells."""
        from shapely import box

        of_host = self._country_of_host(host)
        if extent is None or extent[0] > extent[2] or not self._owners:
            return of_host
        near = np.sort(self._tree.query(box(*extent)))
        if not near.size:
            return ""
        alike, within = likeness(sides_of([extent]), self._sides[:, near])
        lies_in = {self._owners[n] for n in near[within >= _WITHIN]}
        if of_host in lies_in:
            return of_host
        best = int(alike.argmax())
        if alike[best] >= _ALIKE:
            return self._owners[int(near[best])]
        return lies_in.pop() if len(lies_in) == 1 else ""

    def read_country(self, text: str) -> str:
        """Return the code of a country that is typed as its code or as one of its names. Raises QueryError."""
        code = text.strip().upper()
        code = _CODES_OF_HOSTS.get(code.lower(), code)
        if "." not in code and code in self.by_code:
            return code
        for place in self.named(tuple(words_of(text))):
            if place.is_country:
                return place.code
        raise unreadable("country", text, Sentence("a code of two letters or a country's name, such as DE"))

    def _country_of_host(self, host: str) -> str:
        ending = host.rpartition(".")[2].lower()
        code = _CODES_OF_HOSTS.get(ending, ending.upper())
        return code if code in self.by_code and ending not in _SOLD_TO_ALL else ""


@cache
def shipped_places() -> Places:
    """Return the gazetteer of `data/search`."""
    text = resources.files("geocrawl").joinpath("data/search/places.tsv").read_text("utf-8")
    return Places([_place(line) for line in text.splitlines() if not line.startswith("#")])


def country_name(code: str, language: str = "en") -> str:
    """Return the name of a country in English or Chinese (zh); its code where it is not known."""
    place = shipped_places().by_code.get(code)
    if place is None:
        return code
    # Names are in the order of their languages: of those in Chinese characters, the first is not Japanese.
    written = map("".join, place.names) if language == "zh" else ()
    return next((name for name in written if _HAN.fullmatch(name)), place.title)


_HAN = re.compile(r"[\u4e00-\u9fff]+")


def _place(line: str) -> Place:
    code, title, names, boxes = line.split("\t")
    return Place(code, title, tuple(tuple(name.split()) for name in names.split("|")), tuple(map(_box, boxes.split())))


def _box(text: str) -> Box:
    west, south, east, north = (float(side) for side in text.split(","))
    return (west, south, east, north)


# --------------------------------------------------------------------------- boxes

Sides = NDArray[np.float64]
"""West, south, east, north of several boxes, as four rows."""
_LEAST_AREA = 1e-9
"""Square degrees: the area that a point counts as having."""


def sides_of(boxes: Iterable[Box]) -> Sides:
    """Return the sides of boxes as four rows."""
    return np.array(list(boxes), np.float64).reshape(-1, 4).T


def likeness(one: Sides, others: Sides) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how alike a box is to others (intersection over union of their areas in degrees), and which share of it
    lies within them. Either may be several boxes when the other is one; 0 for sides that are not numbers."""
    west, south = np.fmax(one[0], others[0]), np.fmax(one[1], others[1])
    east, north = np.fmin(one[2], others[2]), np.fmin(one[3], others[3])
    common = np.clip(east - west, 0, None) * np.clip(north - south, 0, None)
    area = np.maximum((one[2] - one[0]) * (one[3] - one[1]), _LEAST_AREA)
    other_area = np.maximum((others[2] - others[0]) * (others[3] - others[1]), _LEAST_AREA)
    alike = common / (area + other_area - common)
    is_point = (area <= _LEAST_AREA) & (east >= west) & (north >= south)
    within = np.where(is_point, 1.0, common / area)
    return np.nan_to_num(alike), np.nan_to_num(within)
