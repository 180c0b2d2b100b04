"""Remember waiting links and visited pages for fusion, both bounded.

A waiting link is stored as numbers (its arms, then its features), with its page and its score in the frontier. A
visited page is stored with the example of the link that led to it, so that a find can be credited to the whole path,
and with the features that it contributes to its own links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from geocrawl.priority.codec import Arrays
from geocrawl.priority.fusion.value_model import Example

NO_PAGE = NO_GROUP = -1
_LINK_HEAD, _PAGE_HEAD = 4, 8


class WaitingLink(NamedTuple):
    """A waiting link."""

    packed: bytes
    """The link's own arms and then its other features, uint32; empty when they were not kept (`link_reader`)."""
    page: int
    """Frontier id of the page with the link."""
    key: int
    """CRC-32 of the link's identity."""
    value: float
    """The link's value, 0…1."""
    group: int
    """The link's group (`link_groups`)."""


@dataclass(slots=True)
class VisitedPage:
    """A page that was visited."""

    page: int
    """Frontier id of the page that led to it; `NO_PAGE` for a seed."""
    led: Example
    """The example of the link that led to the page."""
    since_find: int
    tunnel: int
    numbers: tuple[int, ...] = ()
    """The features that the page contributes to its links; none for a page without links."""
    finds: int = 0
    reward: float = 0.0
    group: int = NO_GROUP
    """Group of the link that led to the page; `NO_GROUP` for a seed."""


class CrawlMemory:
    """Waiting links and visited pages by frontier id."""

    def __init__(self, *, most_links: int, most_pages: int, forgotten: Callable[[int], None]) -> None:
        """Make a memory that forgets links of lowest value beyond `most_links`, old pages beyond `most_pages`.

        `forgotten` is called with the frontier id of each such link.
        """
        self._forgotten = forgotten
        self._most_links = most_links
        self._most_pages = most_pages
        self.links: dict[int, WaitingLink] = {}
        self.pages: dict[int, VisitedPage] = {}
        self._by_key: dict[int, int] = {}

    def remember_link(self, id_: int, link: WaitingLink) -> bool:
        """Remember a link; of a link on two pages, the occurrence with the higher value counts.

        Returns whether this occurrence counts.
        """
        known = self.links.get(id_)
        if id_ in self.pages or (known is not None and known.value >= link.value):
            return False
        self.links[id_] = link
        self._by_key[link.key] = id_
        if len(self.links) > self._most_links * 5 // 4:
            self._forget_links()
        return id_ in self.links

    def remove_link(self, id_: int) -> WaitingLink | None:
        """Forget a link that no longer waits and return it; None when it is not known."""
        link = self.links.pop(id_, None)
        if link is not None and self._by_key.get(link.key) == id_:
            del self._by_key[link.key]
        return link

    def link_by_key(self, key: int) -> WaitingLink | None:
        """Return the waiting link whose identity has this key."""
        return self.links.get(self._by_key.get(key, NO_PAGE))

    def valuable(self, ids: Iterable[int]) -> list[int]:
        """Return those of the links that can be valued anew: their features and their page are remembered."""
        links, pages = self.links, self.pages
        return [id_ for id_ in ids if (link := links.get(id_)) is not None and link.packed and link.page in pages]

    def inputs(self, ids: Sequence[int]) -> tuple[list[bytes], list[Sequence[int]], NDArray[np.intp]]:
        """Return, of links that can be valued anew, their features, those of their pages, and each link's page in these
        as an index."""
        links, pages = self.links, self.pages
        places = {page: at for at, page in enumerate(dict.fromkeys(links[id_].page for id_ in ids))}
        page_of = np.array([places[links[id_].page] for id_ in ids], np.intp)
        return [links[id_].packed for id_ in ids], [pages[page].numbers for page in places], page_of

    def remember_page(self, id_: int, page: VisitedPage) -> None:
        """Remember a visited page."""
        self.pages[id_] = page
        if len(self.pages) > self._most_pages:
            del self.pages[next(iter(self.pages))]

    def path_to(self, id_: int, most: int) -> Iterator[VisitedPage]:
        """Yield the page and the pages on the path that led to it, nearest first, at most `most`."""
        for _ in range(most):
            page = self.pages.get(id_)
            if page is None:
                return
            yield page
            id_ = page.page

    def _forget_links(self) -> None:
        order = sorted(self.links, key=lambda id_: (-self.links[id_].value, id_))
        for id_ in order[self._most_links :]:
            self.remove_link(id_)
            self._forgotten(id_)

    # ----------------------------------------------------------------------- state

    def arrays(self) -> Arrays:
        """Return all links and pages as arrays, for a dump."""
        links, pages = self.links.values(), self.pages.values()
        return {
            "link ids": np.array(list(self.links), np.int64),
            "link values": np.array([link.value for link in links], np.float64),
            "link heads": _table(
                [(each.page, each.key, each.group, len(each.packed) // 4) for each in links], _LINK_HEAD
            ),
            "link features": np.frombuffer(b"".join(link.packed for link in links), np.uint32),
            "page ids": np.array(list(self.pages), np.int64),
            "page rewards": np.array([page.reward for page in pages], np.float64),
            "page heads": _table(
                [
                    (p.page, p.since_find, p.tunnel, p.finds, p.group, len(p.led.arms), len(p.led.ids), len(p.numbers))
                    for p in pages
                ],
                _PAGE_HEAD,
            ),
            "page features": np.array([n for p in pages for n in (*p.led.arms, *p.led.ids, *p.numbers)], np.uint32),
        }

    def restore(self, arrays: Arrays) -> None:
        """Restore the memory from what `arrays` returned. Raises KeyError or ValueError for other arrays."""
        self.links, self.pages, self._by_key = {}, {}, {}
        features, at = arrays["link features"], 0
        heads = arrays["link heads"].reshape(-1, _LINK_HEAD).tolist()
        for id_, value, (page, key, group, size) in zip(
            arrays["link ids"].tolist(), arrays["link values"].tolist(), heads, strict=True
        ):
            self.links[id_] = WaitingLink(features[at : at + size].tobytes(), page, key, value, group)
            self._by_key[key] = id_
            at += size
        numbers, at = arrays["page features"].tolist(), 0
        rows = arrays["page heads"].reshape(-1, _PAGE_HEAD).tolist()
        for id_, reward, row in zip(arrays["page ids"].tolist(), arrays["page rewards"].tolist(), rows, strict=True):
            page, since_find, tunnel, finds, group, arms, ids, size = row
            ends = at + arms, at + arms + ids, at + arms + ids + size
            led = Example(tuple(numbers[at : ends[0]]), tuple(numbers[ends[0] : ends[1]]))
            self.pages[id_] = VisitedPage(
                page, led, since_find, tunnel, tuple(numbers[ends[1] : ends[2]]), finds, reward, group
            )
            at = ends[2]


def _table(rows: Sequence[tuple[int, ...]], width: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(rows, np.int64).reshape(len(rows) * width)
