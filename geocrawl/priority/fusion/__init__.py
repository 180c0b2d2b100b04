"""Rank links by a value that is learnt during the crawl from all evidence at once (`strategy`).

Links are grouped into bands by their value, so that people can read the queue; the order stays that of the value. The
bands are named here, because whoever shows a queue needs no NumPy for that.
"""

from __future__ import annotations

from bisect import bisect_right

from geocrawl.model import Rank
from geocrawl.wording import Sentence

PAGES = (200, 100, 50, 20, 10, 5, 2)
"""A link of band 1 and above is worth at least one service in so many pages; band 0 is worth less."""
SEED_TIER = len(PAGES) + 1
_LEAST = tuple(1 / pages for pages in PAGES)

TIERS = {
    SEED_TIER: "start pages",
    **{
        band: Sentence("a service expected in {n} visits", n=pages)
        for band, pages in reversed(list(enumerate(PAGES, 1)))
    },
    0: "a service expected later, if at all",
}
"""Tier → its name for people."""


def rank_of(value: float) -> Rank:
    """Return the rank of a link of this value (0…1): the higher value always has the higher rank."""
    return Rank(bisect_right(_LEAST, value), value)
