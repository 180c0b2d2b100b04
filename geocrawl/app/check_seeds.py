"""Check whether start pages still answer: one polite request each, redirects followed, nothing crawled.

Several hosts are requested at the same time, the pages of one host one after the other. Politeness is shared with the
catalogue (`fetch/guests.py`): delays, back-offs and robots.txt are the daemon's, and the check waits for a host
that the daemon has leased.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from geocrawl.app import fetchers, wiring
from geocrawl.errors import GivenBack
from geocrawl.fetch.clock import SystemClock
from geocrawl.model import NOT_PERMITTED, Failure, FailureCode, HostState, Page, Purpose, Url
from geocrawl.ports import Fetcher
from geocrawl.settings import Settings
from geocrawl.urls.database import DatabaseUrl

ANSWERS, MOVED, REFUSED, RESTING, DEAD = "answers", "moved", "refused", "resting", "dead"
_NOT_DEAD = {401: REFUSED, 403: REFUSED, 407: REFUSED, 429: RESTING, 451: REFUSED, 503: RESTING}
"""Statuses (RFC 9110, RFC 6585, RFC 7725) of pages that are there: for others, or later."""


@dataclass(frozen=True, slots=True)
class SeedAnswer:
    """How a start page answered."""

    outcome: str
    """answers; moved: redirected to another address; refused: the server, robots.txt or the operator's lists forbid the
    request; resting: its server asks to come later, or its host is in back-off or leased by another process; dead."""
    reason: str
    """ok, http-404, dns, robots …"""
    detail: str = ""
    moved_to: str = ""
    http_status: int | None = None
    elapsed_ms: float = 0.0


def check_seeds(
    settings: Settings,
    path: DatabaseUrl,
    seeds: Sequence[Url],
    *,
    on_answer: Callable[[Url], object],
    say: Callable[[str], object],
) -> Mapping[str, SeedAnswer]:
    """Request each start page and return the answers by the pages' addresses; parameters as in `fetch_pages`."""
    answers = fetch_pages(settings, path, seeds, on_answer=on_answer, say=say)
    return {seed.address: answer_of(seed, answers[seed.address]) for seed in seeds}


def fetch_pages(
    settings: Settings,
    path: DatabaseUrl | None,
    urls: Sequence[Url],
    *,
    on_answer: Callable[[Url], object] = lambda url: None,
    say: Callable[[str], object],
) -> Mapping[str, Page | Failure]:
    """Request pages outside of a crawl; return the answers at the end of their redirects, by the pages' addresses.

    `on_answer` is called with each URL that was answered, `say` with lines for a person. In the catalogue at `path`, if
    there is one, only hosts' politeness and robots.txt are written.
    """
    clock = SystemClock()
    with wiring.shared_politeness(path, settings, clock, say) as politeness:
        fetcher = fetchers.make_guest_fetcher(settings, politeness, clock, say)
        pages = _Pages(fetcher, workers=settings.workers, max_redirects=settings.max_redirects)
        return asyncio.run(pages.fetch_all(urls, on_answer))


class _Pages:
    """Requests pages, `workers` hosts at a time."""

    def __init__(self, fetcher: Fetcher, *, workers: int, max_redirects: int) -> None:
        self._fetcher = fetcher
        self._max_redirects = max_redirects
        self._at_once = asyncio.Semaphore(workers)
        self._detector = wiring.make_detector()

    async def fetch_all(self, urls: Sequence[Url], on_answer: Callable[[Url], object]) -> Mapping[str, Page | Failure]:
        """Request all pages and close the fetcher.

        Raises the first error that ended a request, not the ExceptionGroup in which asyncio wraps it.
        """
        by_host = defaultdict[str, list[Url]](list)
        for url in urls:
            by_host[url.host].append(url)
        answers: dict[str, Page | Failure] = {}

        async def ask_host(urls: Sequence[Url]) -> None:
            async with self._at_once:
                for url in urls:
                    answers[url.address] = await self._follow(url)
                    on_answer(url)

        try:
            async with asyncio.TaskGroup() as tasks:
                for of_host in by_host.values():
                    tasks.create_task(ask_host(of_host))
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            await self._fetcher.close()
        return answers

    async def _follow(self, url: Url) -> Page | Failure:
        """Return the answer at the end of a page's redirects. Each host on the path has a separate turn."""
        candidate = self._detector.of_url(url)
        purpose = Purpose.PAGE if candidate is None or candidate.weak else Purpose.PROBE
        at = url
        for _ in range(self._max_redirects + 1):
            async with self._fetcher.turn(HostState(at.host)) as turn:
                try:
                    answer = await turn.fetch(at, purpose=purpose)
                except GivenBack as later:
                    answer = Failure(at, FailureCode.RESTING, str(later))
            if isinstance(answer, Failure) or answer.location is None:
                return answer
            at = answer.location
        return Failure(url, FailureCode.REDIRECT_LOOP, f"more than {self._max_redirects} redirects to other hosts")


def answer_of(url: Url, answer: Page | Failure) -> SeedAnswer:
    """Return how the page at `url` answered. `answer`: the one at the end of its redirects."""
    if isinstance(answer, Failure):
        outcome = DEAD
        if answer.code is FailureCode.RESTING:
            outcome = RESTING
        elif answer.code in NOT_PERMITTED or (answer.code is FailureCode.ROBOTS and answer.retry_after_s is None):
            outcome = REFUSED
        at = "" if answer.url.identity == url.identity else f"{answer.url.address}: "
        reason = (
            str(answer.code) if answer.code is not FailureCode.ROBOTS or outcome == REFUSED else "robots-unreachable"
        )
        return SeedAnswer(outcome, reason, at + answer.detail, "", answer.status, round(answer.elapsed_ms, 1))
    moved_to = "" if answer.final.identity == url.identity else answer.final.address
    if not 200 <= answer.status < 300:
        detail = f"after a redirect to {moved_to}" if moved_to else ""
        outcome, elapsed_ms = _NOT_DEAD.get(answer.status, DEAD), round(answer.elapsed_ms, 1)
        return SeedAnswer(outcome, f"http-{answer.status}", detail, "", answer.status, elapsed_ms)
    outcome = MOVED if moved_to else ANSWERS
    return SeedAnswer(outcome, "ok", "", moved_to, answer.status, round(answer.elapsed_ms, 1))
