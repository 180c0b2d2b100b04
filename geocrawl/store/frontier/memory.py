"""Remember recently seen links, so that a link that repeats on every page of a site costs no statement.

In the database depth only falls, and rank only rises unless it is revised. So a link that is no better than the
remembered URL is no better than the stored one either, whatever other processes wrote meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from geocrawl.model import RankedLink, Url
from geocrawl.store.frontier.plan import KnownUrl, Source

_REMEMBERED_LINKS = 200_000
"""About 200 bytes each; when there are more, all are forgotten."""


class LinkMemory:
    """URLs by identity, with their depth, rank and state when a link to them was last read or written."""

    def __init__(self, *, by_depth: bool) -> None:
        """Make an empty memory. `by_depth`: the score follows the depth, and only the tier is the link's own."""
        # Python's hash distinguishes identities as well as a 64-bit key, in less memory than the text.
        self._seen: dict[int, KnownUrl] = {}
        self._stale: set[int] = set()
        """Ids of URLs whose rank may have fallen since."""
        self._compared = 1 if by_depth else 2

    def find(self, links: Sequence[RankedLink], source: Source) -> tuple[list[int], list[int]]:
        """Return for each link the id of the URL that it cannot improve (0: unknown), and the positions of those links
        for which the database must be asked."""
        get, compared, stale = self._seen.get, self._compared, self._stale
        deeper = source.depth + 1
        ids, unsettled = list[int](), list[int]()
        for position, ranked in enumerate(links):
            depth, rank = (source.depth, max(ranked.rank, source.rank)) if ranked.same_depth else (deeper, ranked.rank)
            seen = get(hash(ranked.link.url.identity))
            if seen is None or seen.depth > depth or seen.rank[:compared] < rank[:compared] or seen.id in stale:
                unsettled.append(position)
            ids.append(0 if seen is None else seen.id)
        return ids, unsettled

    def put(self, url: Url, known: KnownUrl) -> None:
        """Remember the present depth, rank and state of a URL."""
        if len(self._seen) >= _REMEMBERED_LINKS:
            self.clear()
        self._seen[hash(url.identity)] = known
        self._stale.discard(known.id)

    def forget(self, ids: Iterable[int]) -> None:
        """Forget the ranks of these URLs, because they may have fallen."""
        self._stale.update(ids)
        if len(self._stale) > _REMEMBERED_LINKS:
            self.clear()

    def clear(self) -> None:
        """Drop everything: rows were rolled back, deleted or reranked."""
        self._seen.clear()
        self._stale.clear()
