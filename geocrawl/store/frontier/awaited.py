"""The frontier and the opt-outs as the crawl loop awaits them: `ports.CrawlQueue` and `ports.OptOuts`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from geocrawl.model import HostState, Lease, Rank, Settled, Visit, WaitingHost
from geocrawl.store.engine.opt_out import OptOut
from geocrawl.store.engine.steps import do_async
from geocrawl.store.frontier.frontier import SqlFrontier


class AwaitedFrontier:
    """A frontier whose methods are awaited. SQLite answers at once, so none of them lets another task run, but for a
    lease between two of its transactions: the order of visits with one worker, and what is written together, stay as
    they are.

    A commit on a server costs a way there and a write to its disk. So the visits that are ready at the same time are
    settled in one transaction there."""

    def __init__(self, frontier: SqlFrontier) -> None:
        self._frontier = frontier
        self._ready: list[tuple[Visit, asyncio.Future[Settled]]] = []
        """Visits to be settled together, with who waits for the result."""

    async def lease(self, wanted: Callable[[], int] = lambda: 1, *, pages: bool = True) -> Sequence[Lease]:
        """Lease the best ready entries with their hosts; none when nothing is ready now. On SQLite one at a time."""
        most = 1
        if self._frontier.settling.groups:
            await asyncio.sleep(0)  # those whose visits were settled together ask together
            most = wanted()
        return await do_async(self._frontier.lease_in_steps(most, pages=pages), self._frontier.clock)

    async def ready_at(self, *, pages: bool = True) -> float | None:
        """Return when the next entry can be leased; None when nothing waits."""
        return self._frontier.ready_at(pages=pages)

    async def waiting_hosts(self, *, pages: bool = True) -> Sequence[WaitingHost]:
        """Return the hosts that have addresses never visited, the first to be ready first."""
        return self._frontier.waiting_hosts(pages=pages)

    async def others_at_work(self) -> bool:
        """Return whether others have leased hosts with queued URLs, and we none."""
        return self._frontier.others_at_work()

    async def settle(self, visit: Visit) -> Settled:
        """Write all results of a visit in one transaction, on a server with others that are ready; end its lease."""
        if not self._frontier.settling.groups:
            return self._frontier.settle(visit)
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Settled] = loop.create_future()
        self._ready.append((visit, result))
        if len(self._ready) == 1:
            loop.call_soon(self._settle_ready)
        return await result

    def _settle_ready(self) -> None:
        """Settle the visits that are ready together, without those for whose result nobody waits any more."""
        ready = [(visit, result) for visit, result in self._ready if not result.done()]
        self._ready.clear()
        outcomes = self._frontier.settle_many([visit for visit, _ in ready])
        for (_, result), outcome in zip(ready, outcomes, strict=True):
            if isinstance(outcome, Exception):
                result.set_exception(outcome)
            else:
                result.set_result(outcome)

    async def renew(self, lease: Lease, until: float) -> Lease | None:
        """Extend a lease to at least `until`; None when another process has leased the host since."""
        return self._frontier.renew(lease, until)

    async def release(self, lease: Lease, host: HostState) -> None:
        """End a lease whose visit was given up, and write the state of its host."""
        self._frontier.release(lease, host)

    async def rerank(self, ranks: Iterable[tuple[int, Rank | None]], *, through: int | None = None) -> int:
        """Store new ranks of waiting pages; return how many changed."""
        return self._frontier.rerank(ranks, through=through)


class AwaitedOptOuts:
    """The hosts that opted out, as this process last read them: no call waits for anything but the first read."""

    def __init__(self, opt_out: OptOut) -> None:
        self._opt_out = opt_out

    async def covers(self, host: str) -> bool:
        """Return whether a host, or a parent domain of it, opted out."""
        return self._opt_out.covers(host)
