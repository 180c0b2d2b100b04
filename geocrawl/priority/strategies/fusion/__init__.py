"""Rank links by a value that is learnt during the crawl from all evidence at once (`strategy`).

Links are grouped into bands by their value, so that people can read the queue; the order stays that of the value. The
bands are named here, because whoever shows a queue needs no NumPy for that.
"""

from __future__ import annotations

from geocrawl.wording import Sentence

PAGES = (200, 100, 50, 20, 10, 5, 2)
"""A link of band 1 and above is worth at least one service in so many pages; band 0 is worth less."""
SEED_TIER = len(PAGES) + 1

TIERS = {
    SEED_TIER: "start pages",
    **{
        band: Sentence("a service expected in {n} visits", n=pages)
        for band, pages in reversed(list(enumerate(PAGES, 1)))
    },
    0: "a service expected later, if at all",
}
"""Tier → its name for people."""
