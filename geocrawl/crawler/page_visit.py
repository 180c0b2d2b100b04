"""One visit of a page: fetch, read, judge, recognise; everything it brought goes into one `Visit`."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import replace

from geocrawl.crawler.probe_visit import TRANSIENT, not_modified
from geocrawl.model import (
    ADDRESS_ONLY,
    BARRED,
    SCRIPT_SRC,
    Candidate,
    Document,
    Entry,
    Evidence,
    Failure,
    FailureCode,
    HostState,
    Judgement,
    Lease,
    Link,
    Page,
    Purpose,
    Rank,
    RankedLink,
    Relevance,
    State,
    StoredPage,
    Url,
    Visit,
)
from geocrawl.model.validators import validators_of
from geocrawl.ports import Clock, Fetcher, Reader, Recogniser, Refusals, Strategy
from geocrawl.urls import RECORDS, records_page

_TAKEN_OTHERWISE = ADDRESS_ONLY | {RECORDS}
"""Places of links that are not ranked by what is said of them."""
_SCRIPT = "stop:script"
"""Why scripts are left alone that no page was found to need."""


class PageVisitor:
    """One page: fetch, read, judge, recognise."""

    def __init__(
        self,
        *,
        fetcher: Fetcher,
        reader: Reader,
        recogniser: Recogniser,
        strategy: Strategy,
        refusals: Refusals,
        clock: Clock,
        max_redirects: int,
        retry_first_s: float,
        store_from: float | None = None,
        records_only: bool = False,
    ) -> None:
        """`store_from`: pages with at least this page score are kept (SkyReach's page filter); None: no page is.
        `records_only`: a catalogue's pages lead to its pages of records and to candidates alone (a harvest)."""
        self._fetcher = fetcher
        self._reader = reader
        self._recogniser = recogniser
        self._strategy = strategy
        self._refusals = refusals
        self._clock = clock
        self._max_redirects = max_redirects
        self._retry_first_s = retry_first_s
        self._store_from = store_from
        self._records_only = records_only

    async def visit(self, lease: Lease) -> Visit:
        """Visit the leased page; never raises for what the web does."""
        url, known = lease.entry.url, lease.entry.validators
        async with self._fetcher.turn(lease.host) as turn:
            answer = await turn.fetch(
                url, purpose=Purpose.PAGE, follow=lambda target: target.identity == url.identity, validators=known
            )
            if isinstance(answer, Page) and answer.location is not None and "set-cookie" in answer.headers:
                # A redirect that hands out a cookie wants it back on the next hop: such a chain is one visit.
                answer = await turn.fetch(url, purpose=Purpose.PAGE, validators=known)
            host, sitemaps = turn.host, turn.sitemaps(url)
        if isinstance(answer, Failure):
            return self._failed(lease, answer, host)
        if answer.location is not None:
            return self._redirected(lease, answer, host)
        if answer.not_modified:
            return not_modified(lease, answer, host, self._clock.now())
        if not 200 <= answer.status < 300:
            return self._refused_by_server(lease, answer, host)
        return self._understood(lease, answer, host, sitemaps)

    def _failed(self, lease: Lease, failure: Failure, host: HostState) -> Visit:
        state, reason, retry_s = State.FAILED, str(failure.code), None
        if failure.code is FailureCode.ROBOTS and failure.retry_after_s is None:
            state = State.REFUSED
        elif failure.code is FailureCode.ROBOTS:
            reason, retry_s = "robots-unreachable", failure.retry_after_s
        elif failure.code in BARRED:
            state = State.REFUSED
        elif failure.code in TRANSIENT:
            retry_s = self._retry_s(lease.entry, failure.retry_after_s)
        return Visit(
            lease=lease,
            state=state,
            reason=reason,
            host=host,
            at=self._clock.now(),
            http_status=failure.status,
            elapsed_ms=failure.elapsed_ms,
            retry_after_s=retry_s,
        )

    def _refused_by_server(self, lease: Lease, page: Page, host: HostState) -> Visit:
        reason = f"http-{page.status}"
        retry_s = self._retry_s(lease.entry, None) if reason in TRANSIENT else None
        return self._answered(lease, page, host, State.FAILED, reason, retry_after_s=retry_s)

    def _redirected(self, lease: Lease, page: Page, host: HostState) -> Visit:
        """The target takes a turn of its own, as deep and as high as its source."""
        entry, target = lease.entry, page.location
        assert target is not None, "only called with a location"
        if entry.hops >= self._max_redirects:
            return self._answered(lease, page, host, State.FAILED, str(FailureCode.REDIRECT_LOOP))
        if entry.depth == 0:
            self._refusals.admit(target)
        link = Link(target, where="redirect")
        candidate = self._recogniser.of_url(target)
        refused = self._refusals.reason(target)
        if refused == _SCRIPT and self._refusals.reason(entry.url) == _SCRIPT:
            refused = ""  # a script that the reader chose has moved
        ranked = RankedLink(link, entry.rank, refused, same_depth=True)
        evidence = Evidence("redirect", entry.url.address, target.address)
        return self._answered(
            lease,
            page,
            host,
            State.VISITED,
            "redirect",
            links=() if candidate else (ranked,),
            candidates=((replace(candidate, evidence=evidence), ranked if candidate.weak else None),)
            if candidate
            else (),
        )

    def _understood(self, lease: Lease, page: Page, host: HostState, sitemaps: Sequence[Url]) -> Visit:
        document = self._reader.read(page, depth=lease.entry.depth)
        judgement = self._strategy.judge(document)
        found = self._recogniser.candidates(document)
        return self._answered(
            lease,
            page,
            host,
            State.VISITED,
            "ok",
            title=document.title,
            judgement=judgement,
            stored=self._stored(page, document, judgement),
            links=(
                *_followed(page, lease.entry.rank),
                *self._links(document, judgement.ranks, {index for _, index in found}),
                *self._records(document, lease.entry.rank),
                *self._sitemaps(sitemaps, lease.entry.rank),
            ),
            candidates=tuple(self._with_page(each, document, judgement.ranks) for each in found),
            digest=digest_of(document, [candidate for candidate, _ in found]),
        )

    def _stored(self, page: Page, document: Document, judgement: Judgement) -> StoredPage | None:
        if self._store_from is None or not page.body or judgement.score < self._store_from:
            return None
        return StoredPage(document.encoding, zlib.compress(page.body))

    def _links(
        self, document: Document, ranks: tuple[Rank | None, ...], candidates: set[int | None]
    ) -> list[RankedLink]:
        """The page's links worth keeping, one for each identity, the best ranked."""
        if self._records_only:
            return []
        best: dict[str, RankedLink] = {}
        for index, (link, rank) in enumerate(zip(document.links, ranks, strict=True)):
            if (
                rank is None
                or index in candidates
                or link.where in _TAKEN_OTHERWISE
                or link.url.identity == document.url.identity
            ):
                continue
            known = best.get(link.url.identity)
            if known is None or rank > known.rank:
                refused = known.refused if known else self._refusal(link)
                best[link.url.identity] = RankedLink(link, rank, refused, same_depth=link.where == SCRIPT_SRC)
        return list(best.values())

    def _refusal(self, link: Link) -> str:
        """Why a link is left alone. Scripts are no pages, but those that the reader chose belong to theirs."""
        reason = self._refusals.reason(link.url)
        return "" if link.where == SCRIPT_SRC and reason == _SCRIPT else reason

    def _records(self, document: Document, own: Rank) -> list[RankedLink]:
        """Pages of a catalogue's records, as high as the page that names them, whatever its words.

        The next page is as deep as this one; one that has no number is deeper, so that it all ends.
        """
        links = (link for link in document.links if link.where == RECORDS)
        return [
            RankedLink(link, own, self._refusals.reason(link.url), same_depth=records_page(link.url) is not None)
            for link in links
            if link.url.identity != document.url.identity
        ]

    def _sitemaps(self, sitemaps: Sequence[Url], own: Rank) -> list[RankedLink]:
        """What robots.txt names: a link of each page of the host, as high as the page, and so read once."""
        links = (Link(url, where="sitemap") for url in sitemaps if not self._records_only)
        return [RankedLink(link, own, self._refusals.reason(link.url)) for link in links]

    def _with_page(
        self, found: tuple[Candidate, int | None], document: Document, ranks: tuple[Rank | None, ...]
    ) -> tuple[Candidate, RankedLink | None]:
        """A weak candidate keeps its link, for it may turn out to be an ordinary page."""
        candidate, index = found
        if not candidate.weak or index is None:
            return candidate, None
        rank, link = ranks[index], document.links[index]
        return candidate, RankedLink(link, rank, self._refusals.reason(link.url)) if rank is not None else None

    def _answered(
        self,
        lease: Lease,
        page: Page,
        host: HostState,
        state: State,
        reason: str,
        *,
        title: str = "",
        judgement: Judgement | None = None,
        stored: StoredPage | None = None,
        links: tuple[RankedLink, ...] = (),
        candidates: tuple[tuple[Candidate, RankedLink | None], ...] = (),
        retry_after_s: float | None = None,
        digest: int | None = None,
    ) -> Visit:
        return Visit(
            lease=lease,
            state=state,
            reason=reason,
            host=host,
            at=self._clock.now(),
            final=page.final,
            http_status=page.status,
            content_type=page.content_type,
            size_bytes=len(page.body),
            elapsed_ms=page.elapsed_ms,
            title=title,
            relevance=judgement.relevance if judgement else Relevance.NONE,
            score=judgement.score if judgement else 0.0,
            memo=judgement.memo if judgement else b"",
            stored=stored,
            links=links,
            candidates=candidates,
            retry_after_s=retry_after_s,
            digest=digest,
            validators=validators_of(page),
        )

    def _retry_s(self, entry: Entry, asked_s: float | None) -> float:
        return max(self._retry_first_s * 2.0**entry.attempts, asked_s or 0.0)


def _followed(page: Page, rank: Rank) -> list[RankedLink]:
    """Addresses passed on the way (a cookie's redirects): the same page, so they are known and never visited."""
    return [RankedLink(Link(hop, where="redirect"), rank, refused="redirect-target") for hop in page.hops]


def digest_of(document: Document, candidates: Sequence[Candidate]) -> int:
    """64 bits over what leads on from a page: the links and candidates on it, whatever their order."""
    named = {link.url.identity for link in document.links} | {candidate.endpoint.key for candidate in candidates}
    text = "\n".join(sorted(named)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)
