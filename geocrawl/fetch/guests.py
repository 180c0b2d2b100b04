"""Lease hosts without their URLs: for guests, whose requests come from no queue, and in the middle of another turn.

Guests are scratch sessions (`geocrawl probe`), checks of addresses that a person names, and previews of visitors. They
lease each host by the politeness that all processes share (`ports.Politeness`), so crawl, daemon and guests together
send a host one request at a time, at its pace.

A turn may borrow another host: when a robots.txt is redirected there, when a document names the host for its content,
or when the scripts of a page request something there in a browser. It does not wait for a host that is leased elsewhere
or in back-off, but is given back until that host should be free. Many hosts may redirect to one host, so their visits
get different times, one after the other at that host's pace, instead of all coming back at once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace

from geocrawl.errors import GivenBack, PassingFault
from geocrawl.fetch.paced_host import UNLEASED, PacedHost, Parts
from geocrawl.fetch.politeness import is_day_limit_reached
from geocrawl.model import Failure, FailureCode, HostState, Page, Purpose, Url, Validators
from geocrawl.ports import Clock, Fetcher, HeldHost, HostBusy, HostLease, NetworkWait, Politeness, Turn
from geocrawl.settings import Settings
from geocrawl.wording import moment


@dataclass(frozen=True, slots=True)
class Patience:
    """How long somebody waits for a host."""

    busy_s: float
    """Longest wait for a host that others have leased."""
    rest_s: float
    """Longest back-off that is waited for."""
    look_s: float = 0.1
    """Pause between two attempts to lease a host; by default shorter than the usual delay between two requests."""
    yields_s: float = 0.0
    """So long a host must have been free at first: whoever else has work for it comes first."""
    yields_for_s: float = 0.0
    """After so long a wait the host is taken at its next turn."""


PERSON = Patience(busy_s=150.0, rest_s=30.0)
"""Patience of a person's session."""
VISITOR = Patience(busy_s=15.0, rest_s=15.0, yields_s=2.0, yields_for_s=8.0)
"""Patience of visitors' previews: workers look every second, so a probe that is due comes first."""
_BORROWER = Patience(busy_s=0.0, rest_s=5.0)
_PATIENT_BORROWER = Patience(busy_s=4.0, rest_s=5.0, look_s=1.0)
_SAID_AFTER_S = 3.0
"""Length of a wait after which a line tells a person why it lasts."""
_KEPT_FOR_S = 60.0
_MOST_HOSTS = 10_000


async def lease_patiently(
    politeness: Politeness,
    clock: Clock,
    name: str,
    patience: Patience,
    *,
    held: HeldHost = UNLEASED,
    say: Callable[[str], object] = lambda line: None,
) -> HostLease | HostBusy:
    """Wait for a host and lease it; return HostBusy when it is not to be had in time.

    `held` is kept meanwhile. `say` is given a line for a person when the wait lasts.
    """
    begun, is_told = clock.monotonic(), False
    while True:
        waited_s, now = clock.monotonic() - begun, clock.now()
        await held.extend(now + _KEPT_FOR_S)
        yields = waited_s < patience.yields_for_s
        lease = await politeness.lease(name, now, wait_s=-patience.yields_s if yields else patience.rest_s)
        if not isinstance(lease, HostBusy) or waited_s >= patience.busy_s:
            return lease
        if not lease.holder and lease.until - now > patience.rest_s:
            return lease
        if not is_told and lease.holder and waited_s > _SAID_AFTER_S:
            is_told = True
            say(f"{name}: {lease.holder} is sending requests to it; waiting until that ends")
        await clock.sleep(patience.look_s)


# --------------------------------------------------------------------------- guests


class GuestFetcher:
    """Leases the host of each turn, and sends its requests through another fetcher (`ports.Fetcher`)."""

    def __init__(
        self,
        inner: Fetcher,
        politeness: Politeness,
        settings: Settings,
        clock: Clock,
        say: Callable[[str], object] = lambda line: None,
        *,
        for_visitors: bool = False,
    ) -> None:
        """`say` is given a line for a person: who is waited for, which host is in back-off. `for_visitors`: make the
        turns of previews, which yield to all others and count their requests apart."""
        self._inner = inner
        self._politeness = politeness
        self._settings = settings
        self._clock = clock
        self._for_visitors = for_visitors
        self._patience = VISITOR if for_visitors else PERSON
        self._say = say
        self._of_visitors: OrderedDict[str, HostState] = OrderedDict()
        """Host → requests of the day, errors and back-off as visitors have met them."""

    @asynccontextmanager
    async def turn(
        self, host: HostState, held: HeldHost = UNLEASED, waiting: NetworkWait = nullcontext
    ) -> AsyncIterator[Turn]:
        """Yield the host's turn; a `RefusedTurn` when the host cannot be leased in time. Raises DatabaseFault when
        politeness cannot be shared now."""
        if await self._politeness.covers(host.name):  # it opted out: no request will be sent
            async with self._inner.turn(host, held, waiting) as turn:
                yield turn
            return
        if (refused := self._why_refused(host.name)) is not None:
            yield refused
            return
        lease = await lease_patiently(
            self._politeness, self._clock, host.name, self._patience, held=held, say=self._say
        )
        if isinstance(lease, HostBusy):
            yield self._refused(host.name, lease)
            return
        begun = self._state(lease.state, host)
        async with self._inner.turn(begun, _BothLeases(lease, held), waiting) as turn:
            is_settled = False
            try:
                yield turn
                is_settled = True
            finally:
                await self._release(lease, begun, turn.host, is_settled=is_settled)

    async def close(self) -> None:
        """Close all connections."""
        await self._inner.close()

    def _why_refused(self, name: str) -> RefusedTurn | None:
        """Return the turn of a host that visitors may not ask now, by what they have met there; None when they may."""
        own, now = self._of_visitors.get(name), self._clock.now()
        if own is None:
            return None
        if is_day_limit_reached(own, now, self._settings):
            return RefusedTurn(own, FailureCode.BUDGET, "this host's daily limit of requests is reached")
        if own.next_at - now > self._patience.rest_s:
            return self._refused(name, HostBusy(own.next_at, ""))
        return None

    def _refused(self, name: str, busy: HostBusy) -> RefusedTurn:
        """Tell a person why a host gets no request; return the turn in which it gets none."""
        text = f"{name}: {busy.holder} keeps sending requests to it; try again later"
        if not busy.holder:
            wait_s = max(busy.until - self._clock.now(), 0.0)
            text = f"{name} is in back-off for another {wait_s:,.0f} s after an earlier answer; try again then"
        self._say(text)
        return RefusedTurn(HostState(name), FailureCode.RESTING, text, is_busy=bool(busy.holder))

    def _state(self, stored: HostState, host: HostState) -> HostState:
        """Return a host's state for a turn. Visitors have requests of the day, errors and back-offs of their own: they
        take nothing from the daemon that watches the services."""
        next_at = max(stored.next_at, host.next_at)
        if not self._for_visitors:
            return replace(stored, next_at=next_at)
        own = self._of_visitors.get(host.name) or HostState(host.name)
        return replace(own, next_at=max(next_at, own.next_at), crawl_delay_s=stored.crawl_delay_s)

    async def _release(self, lease: HostLease, begun: HostState, state: HostState, *, is_settled: bool) -> None:
        """End the lease. After a turn that was cut off, the delay begins now, as if a request had just ended."""
        now, pace_s = self._clock.now(), self._settings.pace_s(state.name, state.crawl_delay_s)
        if not is_settled:
            state = replace(state, next_at=max(state.next_at, now + pace_s))
        if self._for_visitors:
            self._of_visitors[state.name] = state
            self._of_visitors.move_to_end(state.name)
            if len(self._of_visitors) > _MOST_HOSTS:
                self._of_visitors.popitem(last=False)
            next_at = lease.state.next_at
            if state.asked != begun.asked:  # its back-offs are the visitors' alone
                next_at = max(next_at, min(state.next_at, now + self._settings.at_work_s + pace_s))
            state = replace(lease.state, next_at=next_at, crawl_delay_s=state.crawl_delay_s)
        with suppress(PassingFault):  # the lease ends by itself
            await lease.release(state, now)


class _BothLeases:
    """A host that is leased for a turn, and in the queue of the guest's own session (`ports.HeldHost`)."""

    def __init__(self, *leases: HeldHost) -> None:
        self._leases = leases

    async def extend(self, until: float) -> None:
        """Keep the host until this time at least."""
        for lease in self._leases:
            await lease.extend(until)


class RefusedTurn:
    """The turn of a host that gets no request now: every request fails (`ports.Turn`)."""

    def __init__(self, host: HostState, code: FailureCode, detail: str, *, is_busy: bool = False) -> None:
        """`is_busy`: whether others have leased the host, so that it may be free soon."""
        self.host = host
        self.is_busy = is_busy
        self._code = code
        self._detail = detail

    async def fetch(
        self,
        url: Url,
        *,
        purpose: Purpose,
        follow: Callable[[Url], bool] | None = None,
        validators: Validators | None = None,
        body: bytes | None = None,
    ) -> Page | Failure:
        return Failure(url, self._code, self._detail)

    async def fetch_elsewhere(self, url: Url, *, purpose: Purpose) -> Page | Failure:
        return Failure(url, self._code, self._detail)

    async def sitemaps(self, url: Url) -> Sequence[Url]:
        return ()


# --------------------------------------------------------------------------- hosts that a turn borrows

_LEAST_APART_S = 0.2
"""Time between two visits that wait for the same host, where it has no delay."""
_MOST_RETURNS = 1000
"""Number of hosts with a remembered time at which times in the past are dropped."""


class BorrowedHosts:
    """Leases other hosts in the middle of a turn."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._return_at: dict[str, float] = {}
        """Host → the latest time at which a visit that was given back comes back for the host."""

    @asynccontextmanager
    async def borrow(self, name: str, borrower: PacedHost) -> AsyncIterator[PacedHost]:
        """Lease a host, and write its state back at the end.

        Raises GivenBack when the host is not free soon; the borrower gets no requests until it is.
        """
        async with self.lend(name, borrower.waiting) as host:
            if isinstance(host, HostBusy):
                now = self._parts.clock.now()
                at = self._next_return(name, now if host.holder else host.until - _BORROWER.rest_s, now)
                borrower.rest_until(at)
                detail = f"robots.txt of {borrower.name} redirects to {name}, to be asked from {moment(at)} UTC on"
                raise GivenBack(detail)
            yield host

    @asynccontextmanager
    async def lend(
        self, name: str, waiting: NetworkWait, *, is_patient: bool = False
    ) -> AsyncIterator[PacedHost | HostBusy]:
        """Lease a host, and write its state back at the end; yield HostBusy when it is not free soon.

        `waiting`: as in `ports.Fetcher.turn`. `is_patient`: whether to wait some seconds for a host that another worker
        has leased.
        """
        politeness, clock = self._parts.politeness, self._parts.clock
        lease = await lease_patiently(politeness, clock, name, _PATIENT_BORROWER if is_patient else _BORROWER)
        if isinstance(lease, HostBusy):
            yield lease
            return
        host = PacedHost(self._parts, lease.state, lease, waiting)
        try:
            yield host
        finally:
            await lease.release(host.state, clock.now())

    def _next_return(self, name: str, earliest: float, now: float) -> float:
        """Return when to come back for a host: later than all times returned before."""
        if len(self._return_at) > _MOST_RETURNS:
            self._return_at = {host: at for host, at in self._return_at.items() if at > now}
        apart_s = max(self._parts.settings.delay_of_s(name), _LEAST_APART_S)
        at = max(self._return_at.get(name, 0.0), earliest, now) + apart_s
        self._return_at[name] = at
        return at
