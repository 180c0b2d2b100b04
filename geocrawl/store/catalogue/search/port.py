"""Say what the search needs of a database; `store/catalogue/index` implements it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from geocrawl.model.catalogue import SIDES, Box, Column, Layer, Service, columns

S = TypeVar("S")
Numbers = NDArray[np.int64]


class Phrase(NamedTuple):
    """Folded words that stand next to each other in a text."""

    words: tuple[str, ...]
    """The words, folded, in order."""
    is_prefix: bool = False
    """Whether the last word is the beginning of longer ones."""


QUERIED: Mapping[str, Column] = {name: each for name, each in columns(Service).items() if each.queryable}
"""Columns that filters may name, which the search holds in memory."""
PROVEN = ("level", "alive")
"""Columns that depend on all endpoints of a service."""
FACTS = (
    "id",
    *(name for name in QUERIED if name not in PROVEN),
    *SIDES,
    "host",
    "server",  # Key that twins share: services of one server with the same content; None without an endpoint.
    *("systems", "formats", "fields"),  # Numbers of the lists of reference systems … (`SearchIndex.items`).
    *("title_words", "words"),  # Numbers of words in the title, and in all indexed texts.
    "completeness",  # Of the metadata (title, abstract, provider, extent …), 0 to 100.
    *PROVEN,
)
"""Names of what the search holds of each service, to filter, rank and count; times are seconds since 1970 UTC."""
Facts = tuple[Any, ...]
"""Values in the order of `FACTS`."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Services that were written into the index or taken out of it since an earlier look."""

    upto: int
    """Number of the last change, to ask for later ones."""
    written: Sequence[Facts]
    """Facts of services that are new or were written again."""
    dropped: Sequence[int]
    """Numbers of services that are no more."""


LayerWords = tuple[int, int, str]
"""The words of a layer that has a name: number of its service, position, and title, name and keywords as one text."""


Groups: TypeAlias = dict[tuple[int, int], tuple[Box | None, tuple[str, ...]]]
"""Service and position of a group → the extent and the reference systems that its layers inherit."""


class SearchIndex(Protocol):
    """An index of the catalogue's texts and facts. Every method raises DatabaseFault when it cannot be read."""

    def changes(self, after: int) -> Changes | None:
        """Return what has changed since change number `after` (0: everything there is); None for nothing."""
        ...

    def items(self, after: int) -> Mapping[int, tuple[str, ...]]:
        """Return the lists of reference systems, formats and fields with a number above `after`."""
        ...

    def match(self, phrases: Sequence[Phrase], columns: Sequence[str] = ()) -> Numbers:
        """Return the ids of the services in which one of the phrases occurs, in the named columns or in any."""
        ...

    def vocabulary(self) -> Mapping[str, int]:
        """Return the words without digits, with the number of services that have them."""
        ...

    def services(self, ids: Sequence[int], make: Callable[..., S], *, with_secrets: bool) -> Sequence[S]:
        """Return what `make` makes of each service's columns, given by name and without the costly ones; deleted
        services are missing."""
        ...

    def layers(self, service_id: int, phrases: Sequence[Phrase], most: int) -> tuple[Layer, ...]:
        """Return the first layers of a service in whose title or name one of the phrases occurs."""
        ...

    def layer_texts(self, service_ids: Sequence[int], most: int) -> Sequence[LayerWords]:
        """Return the words of the layers with a name of some services, by their positions, `most` of them."""
        ...

    def layer(self, service_id: int, position: int, groups: Groups) -> tuple[Layer, tuple[str, ...]] | None:
        """Return a layer with the extent that it inherits, and the reference systems of its groups; None for one that
        is gone. `groups`: what groups hand down, kept for the next layer."""
        ...

    def availabilities(self, ids: Sequence[int], since: float, now: float) -> Mapping[int, float | None]:
        """Return the share of the time in which the last answer of each service's best endpoint was valid; None, or no
        entry: not known."""
        ...
