"""Hold the facts of all services in arrays, so that filters, orders and counts take milliseconds.

A service has a position, at which every array says something of it. 100,000 services take about 30 MB. Changes of the
catalogue are read as they come; only what changed is read again."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from geocrawl.model.catalogue import HEALTHS, LEVELS, SIDES
from geocrawl.query.fold import words_of
from geocrawl.store.catalogue.search.port import FACTS, QUERIED, Facts, Numbers, SearchIndex

Flags = NDArray[np.bool_]

_TYPES: Final[Mapping[str, Any]] = {"BOOLEAN": np.bool_, "TEXT": np.int32}
_COLUMNS: Final[Mapping[str, Any]] = {
    **{name: _TYPES.get(column.sql, np.float64) for name, column in QUERIED.items() if name != "title"},
    **dict.fromkeys(SIDES, np.float64),
    **dict.fromkeys(("host", "server", "systems", "formats", "fields", "title_words", "words"), np.int32),
    **dict.fromkeys(("health", "level"), np.int8),
    "id": np.int64,
    "soundness": np.float32,
    "is_there": np.bool_,
}
_NAMED = ("host", "server", *(name for name, column in QUERIED.items() if column.sql == "TEXT"))
"""Columns whose texts are numbered, but for `title`, `health` and `level`."""
_HEALTHS = {health: number for number, health in enumerate(HEALTHS)}
_LEVELS = {level: number for number, level in enumerate(LEVELS, 1)}
_FIRST_ROOM = 1_024
_MOST_TEXTS = 64
"""Most texts of providers whose services are remembered; each takes a byte a service."""


class SharedTexts:
    """Texts that many services share, by number."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        """Return the number of a text, a new one for a new text."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return number

    def find(self, text: str) -> int:
        """Return the number of a text; -1 when no service has it."""
        return self._numbers.get(text, -1)


class Snapshot:
    """The facts of all services, as of the last `refresh`."""

    def __init__(self) -> None:
        self.upto = 0
        self.count = 0
        """Positions in use, those of deleted services included."""
        self.columns: dict[str, NDArray[Any]] = {name: np.zeros(_FIRST_ROOM, dtype) for name, dtype in _COLUMNS.items()}
        self.names = {name: SharedTexts() for name in _NAMED if name not in ("title", "health", "level")}
        self.titles: list[str] = []
        self.items: dict[int, tuple[str, ...]] = {}
        self.lists_by_item: dict[str, array[int]] = {}
        """Numbers of the lists that have an item, by the item in lower case."""
        self._indexed_providers = 0
        self._providers_by_word: dict[str, set[int]] = {}
        """Numbers of the providers whose names have a word, by the word."""
        self._of_provider: dict[str, Flags] = {}
        """What `of_provider` has returned since the last change."""
        self._positions = np.full(_FIRST_ROOM, -1, np.int32)
        """Position by id."""

    def refresh(self, index: SearchIndex) -> None:
        """Read what has changed."""
        changes = index.changes(self.upto)
        if changes is None:
            return
        self._of_provider.clear()
        lists = index.items(max(self.items, default=0))
        self.items.update(lists)
        for number, items in lists.items():
            for item in {item.lower() for item in items}:
                self.lists_by_item.setdefault(item, array("i")).append(number)
        for number in changes.dropped:
            if (position := self.position(number)) >= 0:
                self.columns["is_there"][position] = False
        if changes.written:
            self._write(changes.written)
        self.upto = changes.upto

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return an array of one fact of all positions."""
        return self.columns[name][: self.count]

    def position(self, number: int) -> int:
        """Return the position of a service; -1 when it is not known."""
        return int(self._positions[number]) if 0 <= number < len(self._positions) else -1

    def positions(self, numbers: Numbers) -> NDArray[np.int32]:
        """Return the positions of those services that are known."""
        known = numbers[(numbers >= 0) & (numbers < len(self._positions))]
        found: NDArray[np.int32] = self._positions[known]
        return found[found >= 0]

    @property
    def services(self) -> int:
        """Return how many services there are."""
        return int(np.count_nonzero(self["is_there"]))

    def lists_with(self, items: Iterable[str]) -> NDArray[np.int32]:
        """Return the numbers of the lists that have one of some items, which are in lower case."""
        named = [np.array(self.lists_by_item[item], np.int32) for item in items if item in self.lists_by_item]
        return np.concatenate([*named, np.zeros(0, np.int32)])

    def of_provider(self, text: str) -> Flags:
        """Return for each position whether its provider has just this name, as the values of a facet are. For a text
        that is no provider's name: whether the provider's name has its words, or the host holds it."""
        if text not in self._of_provider:
            if len(self._of_provider) >= _MOST_TEXTS:
                self._of_provider.clear()
            self._of_provider[text] = self._find_provider(text)
        return self._of_provider[text]

    def _find_provider(self, text: str) -> Flags:
        of_name: Flags = self["provider"] == self.names["provider"].find(text)
        if (of_name & self["is_there"]).any():
            return of_name
        for number in range(self._indexed_providers, len(self.names["provider"].texts)):
            for word in words_of(self.names["provider"].texts[number]):
                self._providers_by_word.setdefault(word, set()).add(number)
        self._indexed_providers = len(self.names["provider"].texts)
        named = [self._providers_by_word.get(word, set()) for word in set(words_of(text))]
        numbers = set.intersection(*sorted(named, key=len)) if named else set()
        part = text.strip().lower()
        hosts = [number for number, host in enumerate(self.names["host"].texts) if part in host]
        found: Flags = np.isin(self["provider"], [*numbers]) | np.isin(self["host"], hosts)
        return found

    def _write(self, written: Sequence[Facts]) -> None:
        """Write the facts of services, all of one column at once; None becomes not a number."""
        facts: dict[str, Sequence[Any]] = dict(zip(FACTS, zip(*written, strict=True), strict=True))
        places = [self._place(number) for number in facts["id"]]
        for place, title in zip(places, facts["title"], strict=True):
            self.titles[place] = title
        servers = zip(facts["server"], facts["id"], strict=True)
        facts |= {
            "server": [f"service {number}" if server is None else str(server) for server, number in servers],
            "soundness": list(map(soundness_of, facts["health"], facts["level"], facts["completeness"])),
            "health": [_HEALTHS.get(health, 0) for health in facts["health"]],
            "level": [_LEVELS.get(level, 0) for level in facts["level"]],
            "is_there": [True] * len(written),
        }
        for name, column in self.columns.items():
            values = list(map(self.names[name].number, facts[name])) if name in self.names else facts[name]
            column[places] = np.array(values, column.dtype)

    def _place(self, number: int) -> int:
        """Return the position of a service, a new one for a new service."""
        position = self.position(number)
        return position if position >= 0 else self._add(number)

    def _add(self, number: int) -> int:
        position = self.count
        self.count += 1
        if position >= len(self.columns["id"]):
            self.columns = {name: np.resize(column, 2 * position) for name, column in self.columns.items()}
        if number >= len(self._positions):
            grown = np.full(2 * number + 1, -1, np.int32)
            grown[: len(self._positions)] = self._positions
            self._positions = grown
        self._positions[number] = position
        self.titles.append("")
        return position


# --------------------------------------------------------------------------- soundness

_OF_HEALTH: Mapping[str, float] = {
    "alive": 1.0,
    "degraded": 0.6,
    "new": 0.5,
    "unconfirmed": 0.4,
    "down": 0.15,
    "gone": 0.0,
}
_OF_LEVEL: Mapping[str, float] = {"delivers": 1.0, "answers": 0.7, "advertised": 0.4}
_UNPROVEN = 0.3


def of_health(states: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return for each state of health (its place in `HEALTHS`) how good it is, 0 to 1."""
    goodness: NDArray[np.float64] = np.array([_OF_HEALTH[health] for health in HEALTHS])[states]
    return goodness


def soundness_of(health: str, level: str, completeness: int) -> float:
    """Return how sound a service is, 0 to 1: half its health, a third the level of its proof, the rest how much it
    says of itself (`completeness`, 0 to 100)."""
    return 0.5 * _OF_HEALTH.get(health, 0.5) + 0.3 * _OF_LEVEL.get(level, _UNPROVEN) + 0.2 * completeness / 100
