"""Remember what was matched last: pages of one search, its facets and its second look ask for the same words."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from geocrawl.search.port import Numbers, Phrase, SearchIndex

_MOST = 128
"""Most answers that are remembered, each at most 8 bytes a service."""
_MOST_NUMBERS = 2_000_000
"""Most numbers in all of them."""


class Remembering:
    """An index that remembers the last answers of `match` (`port.SearchIndex`)."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index
        self._known: OrderedDict[tuple[object, ...], Numbers] = OrderedDict()
        self._numbers = 0
        self.changes = index.changes
        self.items = index.items
        self.vocabulary = index.vocabulary
        self.rows = index.rows
        self.layers = index.layers
        self.availability = index.availability

    def match(self, phrases: Sequence[Phrase], columns: Sequence[str] = ()) -> Numbers:
        """Return the ids of the services in which one of the phrases occurs, in the named columns or in any."""
        key = (*phrases, None, *columns)
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
            return found
        found = self._known[key] = self._index.match(phrases, columns)
        self._numbers += len(found)
        while len(self._known) > _MOST or (self._numbers > _MOST_NUMBERS and len(self._known) > 1):
            self._numbers -= len(self._known.popitem(last=False)[1])
        return found

    def forget(self) -> None:
        """Forget all answers, for the index has changed."""
        self._known.clear()
        self._numbers = 0
