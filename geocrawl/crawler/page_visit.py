"""Visit a page: fetch and read it, let the strategy judge it, and collect all results in one `Visit`."""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from geocrawl.crawler.guesses import Guesses, ScriptBudget
from geocrawl.crawler.posted_records import PostedRecords, is_data, is_exception
from geocrawl.crawler.refusals import MANY_PAGES, EndlessSitemaps, MissingFolders
from geocrawl.crawler.visits import TRANSIENT, cut_off, leads_on, moved, not_modified, page_retry_after_s, retry_after_s
from geocrawl.model import (
    ADDRESS_ONLY,
    CONFIGURATION,
    MOST_CANDIDATES,
    NOT_PERMITTED,
    REFRESH,
    SCRIPT_SRC,
    SITEMAP,
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
    Portion,
    Purpose,
    Rank,
    RankedLink,
    Relevance,
    RenderedPage,
    State,
    StoredPage,
    SubQueue,
    Url,
    Visit,
)
from geocrawl.model.web import validators_of
from geocrawl.ports import Clock, LevelMeasure, Reader, ReadingPool, Recogniser, Refusals, Renderer, Strategy, Turn
from geocrawl.urls import RECORDS, leads_to_records, records_page, records_start
from geocrawl.urls.records import at_own_origin

# --------------------------------------------------------------------------- pages that are empty without script
# A browser reads pages that are empty without script and lead to nothing, a few of each host.


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
        self._received = ReceivedAnswers()

    async def rendered(self, page: Page, document: Document, turn: Turn) -> RenderedPage | None:
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


def joined(document: Document, before: Document, rendered: RenderedPage) -> Document:
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


class ReceivedAnswers:
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
        """Return the answer of an address, and forget it; None for an unknown address or an answer that is too old."""
        known = self._answers.pop(url.address, None)
        return known if known is not None and now - known.fetched_at <= MOST_S else None


# --------------------------------------------------------------------------- visits


_MOST_REFRESHES = 20
"""Pages in a row that send their readers on (`REFRESH`): an endless chain ends here."""
_RANKED_BY_PLACE = ADDRESS_ONLY | {RECORDS, CONFIGURATION}
"""Places of links whose rank does not come from the text around them."""
_ARCHIVE = "stop:archive"
_SCRIPT = "stop:script"
"""Reason for refusing a script that the reader did not choose."""

FoundCandidate = tuple[Candidate, int | None]
"""A candidate, and the index of its link in `Document.links`; None when the document itself is the candidate."""


class PageLinks:
    """Chooses the links of pages for one crawl."""

    def __init__(self, refusals: Refusals, levels: LevelMeasure, scripts: ScriptBudget, *, records_only: bool) -> None:
        """Set the rules of refusal and the measure of links; `records_only` keeps only links to a catalogue's pages of
        records (a harvest)."""
        self._refusals = refusals
        self._levels = levels
        self._scripts = scripts
        self._records_only = records_only

    def of_document(
        self,
        document: Document,
        ranks: Sequence[Rank | None],
        level: Relevance,
        own: Rank,
        found: Sequence[FoundCandidate],
    ) -> list[RankedLink]:
        """Return the links of a page that are neither dropped nor candidates.

        `ranks` has one rank for each of `document.links`, None drops the link; `level` and `own` are the page's level
        and rank; `found` are the page's candidates.
        """
        candidates = {index for _, index in found}
        return [*self._ordinary(document, ranks, level, candidates), *self._records(document, own)]

    def of_sitemaps(self, sitemaps: Sequence[Url], own: Rank) -> list[RankedLink]:
        """Return links to the sitemaps that robots.txt names, ranked as the page `own`.

        These are links of every page of the host, so each sitemap is read once.
        """
        links = (Link(url, where="sitemap", rel=SITEMAP) for url in sitemaps if not self._records_only)
        return [RankedLink(link, own, self._refusal(link)) for link in links]

    def of_redirect(self, source: Url, target: Url, own: Rank) -> RankedLink:
        """Return the link from a page to its redirect's target, with the page's depth and rank."""
        refused = self._refusals.reason(target)
        if refused == _SCRIPT and self._refusals.reason(source) == _SCRIPT:
            refused = ""  # the reader chose the script that moved
        return RankedLink(Link(target, where="redirect"), own, refused, same_depth=True)

    def of_candidate(
        self, found: FoundCandidate, document: Document, ranks: Sequence[Rank | None], level: Relevance
    ) -> tuple[Candidate, RankedLink | None]:
        """Return a candidate, with its link if weak, because a weak candidate may be an ordinary page."""
        candidate, index = found
        if not candidate.weak or index is None:
            return candidate, None
        rank, link = ranks[index], document.links[index]
        if rank is None:
            return candidate, None
        return candidate, RankedLink(
            link, rank, self._refusals.reason(link.url), sub_queue=self._sub_queue(link, level)
        )

    def _sub_queue(self, link: Link, level: Relevance) -> int:
        """Return the number of the sub-queue of a link on a page of this level."""
        return SubQueue(self._levels.link(link.url.address, link.anchor), level).number

    def _ordinary(
        self, document: Document, ranks: Sequence[Rank | None], level: Relevance, candidates: set[int | None]
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
            is_script = link.where == SCRIPT_SRC
            if is_script and not self._scripts.admits(link.url):
                continue
            known = best.get(identity)
            if known is None or is_script or rank > known.rank:  # a page that runs a script may link its source, too
                refused = known.refused if known and not is_script else self._refusal(link)
                rank = max(rank, known.rank) if known else rank
                best[identity] = RankedLink(link, rank, refused, is_script, self._sub_queue(link, level))
        return list(best.values())

    def _refusal(self, link: Link) -> str:
        """Return the reason for refusing a link, '' for none. Scripts are refused unless the reader chose them, and
        gzip files unless they are sitemaps."""
        reason = self._refusals.reason(link.url)
        if link.where in (SCRIPT_SRC, CONFIGURATION) and reason == _SCRIPT:
            return ""
        is_packed = link.rel.lower() == SITEMAP and link.url.identity.partition("?")[0].endswith(".gz")
        return "" if is_packed and reason == _ARCHIVE else reason

    def _records(self, document: Document, own: Rank) -> list[RankedLink]:
        """Return links to a catalogue's pages of records and to a viewer's files, with the rank of the page that names
        them.

        A numbered page of records has the depth of the page before it, and so has each page of a harvest's list that
        states a total. Any other page without a number is one deeper, so that the depth limit ends an endless
        catalogue; so is a file.
        """
        places = (RECORDS, CONFIGURATION)
        named = (
            each
            for each in document.links
            if each.where in places or (self._records_only and leads_to_records(each.url))
        )
        links = (link._replace(url=at_own_origin(link.url, document.url)) for link in named)
        total = (document.portion.matched or 0) if document.portion and self._records_only else 0
        return [
            RankedLink(
                link,
                own,
                self._records_refusal(link, total),
                same_depth=bool(total) or records_page(link.url) is not None,
            )
            for link in links
            if link.url.identity != document.url.identity
        ]

    def _records_refusal(self, link: Link, total: int) -> str:
        """Return the reason for refusing a link to a page of records. Where a harvest's list states a total, that is
        the bound."""
        reason = self._refusal(link)
        return "" if reason == MANY_PAGES and (records_start(link.url) or 0) < total else reason


def passed_on_the_way(page: Page, rank: Rank) -> list[RankedLink]:
    """Return links to the redirects that led to a page in the same visit, which are recorded and never visited."""
    return [RankedLink(Link(hop, where="redirect"), rank, refused="redirect-target") for hop in page.hops]


def _with_named(document: Document, found: Sequence[tuple[Candidate, int | None]]) -> Portion | None:
    """Return what a document holds of a list, with the numbers of the records that name a service."""
    if document.portion is None:
        return None
    numbers = {document.links[index].record for _, index in found if index is not None}
    return document.portion._replace(named=frozenset(numbers - {-1}))


def digest_of(document: Document, candidates: Sequence[Candidate]) -> int:
    """Return a signed 64-bit hash of the addresses of a page's links and candidates, independent of their order."""
    named = {link.url.identity for link in document.links} | {candidate.endpoint.key for candidate in candidates}
    text = "\n".join(sorted(named)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)


_MOST_LINKS_IN_LOOP = 300
"""A document with more links is judged in a thread: it takes 0.1 to 0.4 ms a link, and 20,000 links may be read."""


class PageVisitor:
    """Visits pages: one leased page at a time."""

    def __init__(
        self,
        *,
        reader: Reader,
        pool: ReadingPool,
        judging: asyncio.Lock,
        recogniser: Recogniser,
        strategy: Strategy,
        levels: LevelMeasure,
        refusals: Refusals,
        scripts: ScriptBudget,
        clock: Clock,
        max_redirects: int,
        retry_first_s: float,
        scripted: ScriptedPages | None = None,
        kept_score: Callable[[Document], float | None] | None = None,
        records_only: bool = False,
        guesses: Guesses | None = None,
    ) -> None:
        """Set the parts and limits of visits.

        `judging`: held while the strategy judges (`Learning.lock`).
        `levels`: measures the levels of pages and links, which put a link into its sub-queue.
        `scripted`: has a browser read pages that are empty without script; None: they stay empty.
        `kept_score`: returns the score of a page that is to be kept (SkyReach's page filter), None for any other page;
        None: no page is kept.
        `records_only`: follow a catalogue's pages only to its pages of records and to candidates (a harvest).
        """
        self._reader = reader
        self._pool = pool
        self._judging = judging
        self._recogniser = recogniser
        self._strategy = strategy
        self._levels = levels
        self._refusals = refusals
        self._scripts = scripts
        self._records_only = records_only
        self._links = PageLinks(refusals, levels, scripts, records_only=records_only)
        self._clock = clock
        self._max_redirects = max_redirects
        self._retry_first_s = retry_first_s
        self._scripted = scripted
        self._kept_score = kept_score
        self._guesses = guesses
        self._missing, self._sitemaps = MissingFolders(), EndlessSitemaps()
        self._posted = PostedRecords()

    async def visit(self, lease: Lease, turn: Turn) -> Visit:
        """Visit the leased page. Whatever a server sends, no exception is raised."""
        entry = lease.entry
        if refused := self._sitemaps.reason(entry) or self._missing.reason(entry):
            return Visit(lease, State.REFUSED, refused, turn.host, self._clock.now())
        self._sitemaps.note_request(entry.url)
        answer = await self._ask(lease, turn)
        self._missing.note(entry.url, answer.status)
        visit = await self._made(lease, answer, turn)
        if not self._posted.may_help(entry.url, visit):
            return visit
        posted = await self._made(lease, await self._posted.ask(entry.url, turn), turn)
        return posted if self._posted.note(entry.url, posted) else visit._replace(host=turn.host)

    async def _ask(self, lease: Lease, turn: Turn) -> Page | Failure:
        """Fetch the leased page; redirects to another address are not followed, unless they set a cookie.

        What a page's script has just received from this address is not requested again.
        """
        url, known = lease.entry.url, lease.entry.validators
        if self._scripted and (received := self._scripted.received(url, self._clock.now())):
            return received
        if self._posted.is_wanted(url):
            return await self._posted.ask(url, turn)
        answer = await turn.fetch(
            url, purpose=Purpose.PAGE, follow=lambda target: target.identity == url.identity, validators=known
        )
        if isinstance(answer, Page) and answer.location is not None and "set-cookie" in answer.headers:
            # A redirect that sets a cookie expects it with the next request: such a chain is one visit.
            answer = await turn.fetch(url, purpose=Purpose.PAGE, validators=known)
        return answer

    async def _made(self, lease: Lease, answer: Page | Failure, turn: Turn) -> Visit:
        """Return the visit that results from an answer."""
        host = turn.host
        if isinstance(answer, Failure):
            return self._failed(lease, answer, host)
        if answer.location is not None:
            return self._redirected(lease, answer, host, answer.location)
        if answer.not_modified:
            return not_modified(lease, answer, host, self._clock.now())
        if not 200 <= answer.status < 300:
            return self._refused_by_server(lease, answer, host)
        document = await self._read(answer, lease.entry)
        if isinstance(document, Failure):
            return self._failed(lease, document, host)
        if is_exception(document, is_harvest=self._records_only):
            return self._answered(lease, answer, host, State.FAILED, "exception")
        answer, document = await self._with_scripts_run(lease, answer, document, turn)
        sitemaps = await turn.sitemaps(lease.entry.url)
        visit = await self._understood(lease, answer, document, turn.host, sitemaps)
        if not self._records_only:
            return visit
        if document.fault == FailureCode.TRUNCATED or len(visit.candidates) >= MOST_CANDIDATES:
            return cut_off(visit, answer, self._retry_first_s)
        if leads_on(visit, answer) or is_data(document):
            return visit
        return visit._replace(state=State.FAILED, reason=str(FailureCode.WRONG_TYPE))  # a login, or an app's shell

    async def _with_scripts_run(
        self, lease: Lease, page: Page, document: Document, turn: Turn
    ) -> tuple[Page, Document]:
        """Return a page and its document as its scripts leave them, if it is empty without; else both unchanged."""
        rendered = await self._scripted.rendered(page, document, turn) if self._scripted else None
        if rendered is None:
            return page, document
        after = await self._read(rendered.page, lease.entry)
        if isinstance(after, Failure):  # what the scripts wrote cannot be read: the page without them can
            return page, joined(document, document, rendered)
        return rendered.page, joined(after, document, rendered)

    async def _read(self, page: Page, entry: Entry) -> Document | Failure:
        """Read a page in the event loop, or in the pool when that may take long."""
        if self._pool.takes(page, suspect=entry.is_suspect):
            return await self._pool.run(page, partial(self._reader.read, page, depth=entry.depth))
        return self._reader.read(page, depth=entry.depth)

    def _failed(self, lease: Lease, failure: Failure, host: HostState) -> Visit:
        state, reason, retry_s = State.FAILED, str(failure.code), None
        if failure.code is FailureCode.ROBOTS and failure.retry_after_s is None:
            state = State.REFUSED
        elif failure.code is FailureCode.ROBOTS:
            reason, retry_s = "robots-unreachable", failure.retry_after_s
        elif failure.code in NOT_PERMITTED:
            state = State.REFUSED
        elif failure.code in TRANSIENT:
            retry_s = retry_after_s(lease, self._retry_first_s, failure.retry_after_s)
        return Visit(
            *(lease, state, reason, host, self._clock.now()),
            http_status=failure.status,
            elapsed_ms=failure.elapsed_ms,
            retry_after_s=retry_s,
        )

    def _refused_by_server(self, lease: Lease, page: Page, host: HostState) -> Visit:
        reason = f"http-{page.status}"
        visit = self._answered(lease, page, host, State.FAILED, reason)
        if reason not in TRANSIENT:
            candidates, links = self._guessed(page, lease.entry.rank, ())
            return visit._replace(candidates=candidates, links=links)
        return visit._replace(retry_after_s=page_retry_after_s(lease, self._retry_first_s, page))

    def _redirected(self, lease: Lease, page: Page, host: HostState, target: Url) -> Visit:
        """Return a visit that leads to the redirect's target, which is visited separately."""
        entry = lease.entry
        if entry.hops >= self._max_redirects:
            return self._answered(lease, page, host, State.FAILED, str(FailureCode.REDIRECT_LOOP))
        if entry.depth == 0:
            self._refusals.admit(target)
        candidate = self._recogniser.of_url(target)
        link = self._links.of_redirect(entry.url, target, entry.rank)
        visit = self._answered(lease, page, host, State.VISITED, "redirect")
        if candidate is None:
            return moved(visit, link, is_harvest=self._records_only)
        evidence = Evidence("redirect", entry.url.address, target.address)
        if records_page(target) is not None:  # a page of records that moved, and its service
            return visit._replace(links=(link,), candidates=((replace(candidate, evidence=evidence), None),))
        ranked = (replace(candidate, evidence=evidence), link if candidate.weak else None)
        return visit._replace(candidates=(ranked,))

    async def _understood(
        self, lease: Lease, page: Page, document: Document, host: HostState, sitemaps: Sequence[Url]
    ) -> Visit:
        """Return the visit of a page that was read; the loop goes on meanwhile when the page has many links."""
        judged = partial(self._judged, lease, page, document, host, sitemaps)
        async with self._judging:
            if len(document.links) <= _MOST_LINKS_IN_LOOP:
                return judged()
            return await self._pool.in_thread(judged)

    def _judged(self, lease: Lease, page: Page, document: Document, host: HostState, sitemaps: Sequence[Url]) -> Visit:
        """Return the visit of a page that was read: its judgement, links and candidates."""
        own = lease.entry.rank
        named, level = self._recogniser.candidates(document), self._levels.page(document)
        judgement = self._judgement(document, named)
        self._scripts.note(page, pays=bool(named))
        candidates = tuple(self._links.of_candidate(candidate, document, judgement.ranks, level) for candidate in named)
        guessed, lists = self._guessed(page, own, [candidate for candidate, _ in named])
        ordinary = self._links.of_document(document, judgement.ranks, level, own, named)
        if lease.entry.hops >= _MOST_REFRESHES:
            ordinary = [each for each in ordinary if each.link.where != REFRESH]
        if endless := self._sitemaps.note(document):
            ordinary = [each for each in ordinary if each.link.url.identity not in endless]
        links = (
            *lists,
            *passed_on_the_way(page, own),
            *ordinary,
            *self._links.of_sitemaps(sitemaps, own),
        )
        return self._answered(lease, page, host, State.VISITED, "ok")._replace(
            title=document.title,
            relevance=level,
            score=judgement.score,
            features=judgement.features,
            stored=self._stored(page, document),
            links=links,
            candidates=(*candidates, *guessed),
            portion=_with_named(document, named),
            digest=digest_of(document, [candidate for candidate, _ in named]),
        )

    def _judgement(self, document: Document, named: Sequence[FoundCandidate]) -> Judgement:
        """Return the strategy's judgement of a page; a harvest needs none but for weak candidates."""
        if self._records_only and not any(candidate.weak for candidate, _ in named):
            return Judgement(0.0, (None,) * len(document.links))
        return self._strategy.judge(document)

    def _guessed(
        self, page: Page, own: Rank, named: Sequence[Candidate]
    ) -> tuple[tuple[tuple[Candidate, None], ...], tuple[RankedLink, ...]]:
        """Return the candidates and the lists of records that the software of a page is likely to have, but those that
        the page names."""
        guesses = self._guesses.of_page(page) if self._guesses is not None else []
        known = {(candidate.endpoint.kind, candidate.endpoint.key) for candidate in named}
        candidates = [guess for guess in guesses if isinstance(guess, Candidate)]
        lists = [guess for guess in guesses if isinstance(guess, Link)]
        return (
            tuple(
                (candidate, None)
                for candidate in candidates
                if (candidate.endpoint.kind, candidate.endpoint.key) not in known
            ),
            tuple(RankedLink(link, own, self._refusals.reason(link.url)) for link in lists),
        )

    def _stored(self, page: Page, document: Document) -> StoredPage | None:
        score = self._kept_score(document) if self._kept_score is not None and page.body else None
        return None if score is None else StoredPage(document.encoding, zlib.compress(page.body), score)

    def _answered(self, lease: Lease, page: Page, host: HostState, state: State, reason: str) -> Visit:
        """Return the visit of an answer by its status and headers alone."""
        return Visit(
            *(lease, state, reason, host, self._clock.now()),
            final=page.final,
            http_status=page.status,
            content_type=page.content_type,
            size_bytes=len(page.body),
            elapsed_ms=page.elapsed_ms,
            validators=validators_of(page),
        )
