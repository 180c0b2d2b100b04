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


@dataclass(frozen=True, slots=True)
class SeedAnswer:
    """How a start page answered."""

    outcome: str
    """answers; moved: redirected to another address; refused: robots.txt or the operator's lists forbid the request;
    resting: its host is in back-off or leased by another process; dead."""
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
    on_answer: Callable[[Url, SeedAnswer], object],
    say: Callable[[str], object],
) -> Mapping[str, SeedAnswer]:
    """Request each start page and return the answers by the pages' addresses.

    `on_answer` is called with each answer as it comes, `say` with lines for a person. In the catalogue at `path` only
    hosts' politeness and robots.txt are written.
    """
    clock = SystemClock()
    with wiring.shared_politeness(path, settings, clock, say) as politeness:
        fetcher = fetchers.make_guest_fetcher(settings, politeness, clock, say)
        checker = Checker(fetcher, workers=settings.workers, max_redirects=settings.max_redirects)
        return asyncio.run(checker.ask_all(seeds, on_answer))


class Checker:
    """Requests start pages, `workers` hosts at a time."""

    def __init__(self, fetcher: Fetcher, *, workers: int, max_redirects: int) -> None:
        self._fetcher = fetcher
        self._max_redirects = max_redirects
        self._at_once = asyncio.Semaphore(workers)
        self._detector = wiring.make_detector()

    async def ask_all(
        self, seeds: Sequence[Url], on_answer: Callable[[Url, SeedAnswer], object]
    ) -> Mapping[str, SeedAnswer]:
        """Request all start pages, close the fetcher, and return each answer by its page's address.

        Raises the first error that ended a request, not the ExceptionGroup in which asyncio wraps it.
        """
        by_host = defaultdict[str, list[Url]](list)
        for seed in seeds:
            by_host[seed.host].append(seed)
        answers: dict[str, SeedAnswer] = {}

        async def ask_host(urls: Sequence[Url]) -> None:
            async with self._at_once:
                for url in urls:
                    answers[url.address] = found = answer_of(url, await self.follow(url))
                    on_answer(url, found)

        try:
            async with asyncio.TaskGroup() as tasks:
                for urls in by_host.values():
                    tasks.create_task(ask_host(urls))
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            await self._fetcher.close()
        return answers

    async def follow(self, url: Url) -> Page | Failure:
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


def answer_of(url: Url, found: Page | Failure) -> SeedAnswer:
    """Return how the page at `url` answered. `found`: the answer at the end of its redirects."""
    if isinstance(found, Failure):
        outcome = DEAD
        if found.code is FailureCode.RESTING:
            outcome = RESTING
        elif found.code in NOT_PERMITTED or (found.code is FailureCode.ROBOTS and found.retry_after_s is None):
            outcome = REFUSED
        at = "" if found.url.identity == url.identity else f"{found.url.address}: "
        reason = str(found.code) if found.code is not FailureCode.ROBOTS or outcome == REFUSED else "robots-unreachable"
        return SeedAnswer(outcome, reason, at + found.detail, "", found.status, round(found.elapsed_ms, 1))
    moved_to = "" if found.final.identity == url.identity else found.final.address
    if not 200 <= found.status < 300:
        detail = f"after a redirect to {moved_to}" if moved_to else ""
        return SeedAnswer(DEAD, f"http-{found.status}", detail, "", found.status, round(found.elapsed_ms, 1))
    outcome = MOVED if moved_to else ANSWERS
    return SeedAnswer(outcome, "ok", "", moved_to, found.status, round(found.elapsed_ms, 1))
