"""Choose the links of a page that are stored, each with its rank and the reason of its refusal, if any."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from geocrawl.model import ADDRESS_ONLY, SCRIPT_SRC, Candidate, Document, Link, Page, Rank, RankedLink, Url
from geocrawl.ports import Refusals
from geocrawl.urls import RECORDS, records_page

_RANKED_BY_PLACE = ADDRESS_ONLY | {RECORDS}
"""Places of links whose rank does not come from the text around them."""
_SCRIPT = "stop:script"
"""Reason for refusing a script that the reader did not choose."""

FoundCandidate = tuple[Candidate, int | None]
"""A candidate, and the index of its link in `Document.links`; None when the document itself is the candidate."""


class PageLinks:
    """Chooses the links of pages for one crawl."""

    def __init__(self, refusals: Refusals, *, records_only: bool) -> None:
        """Set the rules of refusal; `records_only` keeps only links to a catalogue's pages of records (a harvest)."""
        self._refusals = refusals
        self._records_only = records_only

    def of_document(
        self, document: Document, ranks: Sequence[Rank | None], own: Rank, found: Sequence[FoundCandidate]
    ) -> list[RankedLink]:
        """Return the links of a page that are neither dropped nor candidates.

        `ranks` has one rank for each of `document.links`, None drops the link; `own` is the page's rank; `found` are
        the page's candidates.
        """
        candidates = {index for _, index in found}
        return [*self._ordinary(document, ranks, candidates), *self._records(document, own)]

    def of_sitemaps(self, sitemaps: Sequence[Url], own: Rank) -> list[RankedLink]:
        """Return links to the sitemaps that robots.txt names, ranked as the page `own`.

        These are links of every page of the host, so each sitemap is read once.
        """
        links = (Link(url, where="sitemap") for url in sitemaps if not self._records_only)
        return [RankedLink(link, own, self._refusals.reason(link.url)) for link in links]

    def of_redirect(self, source: Url, target: Url, own: Rank) -> RankedLink:
        """Return the link from a page to its redirect's target, with the page's depth and rank."""
        refused = self._refusals.reason(target)
        if refused == _SCRIPT and self._refusals.reason(source) == _SCRIPT:
            refused = ""  # the reader chose the script that moved
        return RankedLink(Link(target, where="redirect"), own, refused, same_depth=True)

    def of_candidate(
        self, found: FoundCandidate, document: Document, ranks: Sequence[Rank | None]
    ) -> tuple[Candidate, RankedLink | None]:
        """Return a candidate, with its link if weak, because a weak candidate may be an ordinary page."""
        candidate, index = found
        if not candidate.weak or index is None:
            return candidate, None
        rank, link = ranks[index], document.links[index]
        return candidate, RankedLink(link, rank, self._refusals.reason(link.url)) if rank is not None else None

    def _ordinary(
        self, document: Document, ranks: Sequence[Rank | None], candidates: set[int | None]
    ) -> list[RankedLink]:
        """Return the highest-ranked link to each address."""
        if self._records_only:
            return []
        best: dict[str, RankedLink] = {}
        own = document.url.identity
        for index, (link, rank) in enumerate(zip(document.links, ranks, strict=True)):
            identity = link.url.identity
            if rank is None or index in candidates or link.where in _RANKED_BY_PLACE or identity == own:
                continue
            known = best.get(identity)
            if known is None or rank > known.rank:
                refused = known.refused if known else self._refusal(link)
                best[identity] = RankedLink(link, rank, refused, link.where == SCRIPT_SRC)
        return list(best.values())

    def _refusal(self, link: Link) -> str:
        """Return the reason for refusing a link, '' for none. Scripts are refused unless the reader chose them."""
        reason = self._refusals.reason(link.url)
        return "" if link.where == SCRIPT_SRC and reason == _SCRIPT else reason

    def _records(self, document: Document, own: Rank) -> list[RankedLink]:
        """Return links to a catalogue's pages of records, with the rank of the page that names them.

        A numbered page of records has the depth of the page before it. A page without a number is one deeper, so that
        the depth limit ends an endless catalogue.
        """
        links = (link for link in document.links if link.where == RECORDS)
        return [
            RankedLink(link, own, self._refusals.reason(link.url), same_depth=records_page(link.url) is not None)
            for link in links
            if link.url.identity != document.url.identity
        ]


def passed_on_the_way(page: Page, rank: Rank) -> list[RankedLink]:
    """Return links to the redirects that led to a page in the same visit, which are recorded and never visited."""
    return [RankedLink(Link(hop, where="redirect"), rank, refused="redirect-target") for hop in page.hops]


def digest_of(document: Document, candidates: Sequence[Candidate]) -> int:
    """Return a signed 64-bit hash of the addresses of a page's links and candidates, independent of their order."""
    named = {link.url.identity for link in document.links} | {candidate.endpoint.key for candidate in candidates}
    text = "\n".join(sorted(named)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)
