"""Have a browser read pages that are empty without script and lead to nothing, a few of each host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from geocrawl.model import Document, Page, Rendered, Url
from geocrawl.ports import Recogniser, Refusals, Renderer, Turn


class ScriptedPages:
    """Chooses the pages of one run whose scripts are run, and keeps the data that these received."""

    def __init__(
        self,
        renderer: Renderer,
        recogniser: Recogniser,
        refusals: Refusals,
        *,
        is_empty: Callable[[Page, Document], bool],
        may_be_followed: Callable[[Page], bool],
        per_host: int,
        chosen: Counter[str],
    ) -> None:
        """`is_empty`, `may_be_followed`: whether a page is empty without script, and permits to follow its links.
        `per_host`: how many pages of a host are chosen at most. `chosen`: how many were chosen, by host; counted on.
        """
        self._renderer = renderer
        self._is_empty = is_empty
        self._recogniser = recogniser
        self._refusals = refusals
        self._may_be_followed = may_be_followed
        self._per_host = per_host
        self._chosen = chosen
        self._received = KeptAnswers()

    async def rendered(self, page: Page, document: Document, turn: Turn) -> Rendered | None:
        """Return what the scripts of a page make of it; None for a page that was not chosen or could not be rendered.

        `document`: the page as it was read without them.
        """
        host = page.final.host
        if self._chosen[host] >= self._per_host or not self._is_empty(page, document):
            return None
        if self._recogniser.candidates(document):
            return None
        self._chosen[host] += 1
        rendered = await self._renderer.render(page, turn, self._refusals.is_inside)
        if rendered is None:
            return None
        if not self._may_be_followed(rendered.page):
            return replace(rendered, links=())
        self._received.keep(rendered.data)
        return rendered

    def received(self, url: Url, now: float) -> Page | None:
        """Return what a script received from an address not long ago, once; None: the address is to be requested."""
        return self._received.take(url, now)


def joined(document: Document, before: Document, rendered: Rendered) -> Document:
    """Return a rendered page's document with what scripts requested and with the links that they removed.

    `before`: the document without scripts.
    """
    links, known = [*document.links], {link.url.identity for link in document.links}
    for link in (*rendered.links, *before.links):
        if link.url.identity not in known:
            known.add(link.url.identity)
            links.append(link)
    return document._replace(links=tuple(links), status=before.status)


MOST_BYTES = 20 << 20
"""Bytes of all kept answers together."""
MOST_S = 3600.0
"""Seconds for which an answer is kept."""


class KeptAnswers:
    """Answers by address, each for one visit, within bounds of memory and age."""

    def __init__(self) -> None:
        self._answers: dict[str, Page] = {}
        """The oldest come first."""

    def keep(self, answers: Iterable[Page]) -> None:
        """Keep answers until they are taken; older ones are dropped when all exceed `MOST_BYTES`."""
        for page in answers:
            self._answers.pop(page.url.address, None)
            self._answers[page.url.address] = page
        size = sum(len(page.body) for page in self._answers.values())
        while size > MOST_BYTES:
            oldest = self._answers.pop(next(iter(self._answers)))
            size -= len(oldest.body)

    def take(self, url: Url, now: float) -> Page | None:
        """Return the answer of an address, which is kept no longer; None when there is none or it is too old."""
        known = self._answers.pop(url.address, None)
        return known if known is not None and now - known.fetched_at <= MOST_S else None
