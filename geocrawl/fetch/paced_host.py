"""Make the requests of one leased host: each waits for the host's delay and back-off, and changes the host's state."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from math import ceil
from typing import NamedTuple

from geocrawl.errors import GivenBack, OwnFault
from geocrawl.fetch.answer_reader import (
    HttpAnswer,
    KeptConnectionLost,
    UnverifiedServer,
    length_deviation,
    may_be_longer,
)
from geocrawl.fetch.http import Cookies, HttpClient
from geocrawl.fetch.ip_bounds import PutOff
from geocrawl.fetch.politeness import (
    ExchangeSubject,
    after_cut_off,
    after_exchange,
    count_request,
    delay_s,
    is_day_limit_reached,
    read_retry_after,
    starts_backoff,
    wait_for_next_day,
)
from geocrawl.model import Deviation, Failure, FailureCode, HostState, Purpose, Url, Validators
from geocrawl.ports import Clock, HeldHost, NetworkWait, Politeness
from geocrawl.settings import Settings
from geocrawl.urls import AddressRules

THINKING_S = 30.0
"""Seconds after the last answer of a turn in which the answer is read and the visit settled."""
_MOST_GIVEN_BACK = 10_000
_CLOCK_SET_S = 60.0
"""A wait whose rest by the two clocks differs by more was shortened, because the wall clock was set."""

WHY_REFUSED = {
    "deny": "the deny list names it",
    "allow": "the allow list does not name it",
    "forgotten": "its host opted out (`geocrawl forget --list`)",
}


_MOST_RESTING = 10_000
"""Number of addresses that are remembered; beyond it the oldest are forgotten."""
_SLEW = 0.001
"""Share of a wait by which the wall clock may run ahead of the monotonic one without being set."""


class _Rest(NamedTuple):
    until: float
    slack_s: float
    status: int


class RetryAfterMemory:
    """Remembers by the monotonic clock which hosts and addresses asked to be left alone (Retry-After).

    The catalogue stores the same by the wall clock, which may be set meanwhile. This memory ends with its process: the
    monotonic clock of another process or boot cannot be compared with it.
    """

    def __init__(self) -> None:
        self._hosts: dict[str, float] = {}
        self._addresses: dict[str, _Rest] = {}

    def rest_host(self, name: str, now: float, seconds: float) -> None:
        """Note that a host is to be left alone. `now`: monotonic, as everywhere here."""
        self._hosts[name] = now + seconds

    def host_s(self, name: str, now: float) -> float:
        """Return for how many seconds a host is still to be left alone."""
        left_s = self._hosts.get(name, 0.0) - now
        if left_s <= 0.0:
            self._hosts.pop(name, None)
        return max(left_s, 0.0)

    def rest_address(self, address: str, now: float, seconds: float, status: int) -> None:
        """Note that an address answered with this status, and is to be left alone."""
        self._addresses.pop(address, None)
        self._addresses[address] = _Rest(now + seconds, 1.0 + _SLEW * seconds, status)
        if len(self._addresses) > _MOST_RESTING:
            del self._addresses[next(iter(self._addresses))]

    def address_s(self, address: str, now: float) -> tuple[float, int]:
        """Return for how many seconds an address is still to be left alone, and what it answered; (0, 0) for none."""
        rest = self._addresses.get(address)
        if rest is None or rest.until - now <= rest.slack_s:
            self._addresses.pop(address, None)
            return 0.0, 0
        return rest.until - now, rest.status


@dataclass(frozen=True, slots=True)
class Parts:
    """The settings, client and stores that all turns of one fetcher share."""

    settings: Settings
    clock: Clock
    http: HttpClient
    politeness: Politeness
    rests: RetryAfterMemory
    rules: AddressRules
    """The operator's lists."""
    given_back: set[str] = field(default_factory=set)
    """Hosts whose visit was given back because their robots.txt was just read."""

    async def refusal_of(self, url: Url) -> str:
        """Return why an address may not be requested: 'deny', 'allow', 'forgotten'; '' if it may."""
        return "forgotten" if await self.politeness.covers(url.host) else self.rules.reason(url)


class UnleasedHost:
    """A host that nobody else requests (`ports.HeldHost`)."""

    async def extend(self, until: float) -> None:
        """Do nothing: there is no lease that could end."""


UNLEASED = UnleasedHost()


class PacedHost:
    """Paces the requests to one leased host, and keeps the host's state."""

    def __init__(
        self,
        parts: Parts,
        state: HostState,
        held: HeldHost,
        waiting: NetworkWait = nullcontext,
        *,
        may_be_put_off: bool = False,
    ) -> None:
        """`held`, `waiting`: as in `ports.Fetcher.turn`. `may_be_put_off`: whether the first request raises GivenBack,
        rather than wait, while the IP address is busy with other hosts, and so does the one after robots.txt."""
        self._settings = parts.settings
        self._clock = parts.clock
        self._http = parts.http
        self._refusal_of = parts.refusal_of
        self._rests = parts.rests
        self._state = state
        self._held = held
        self.waiting = waiting
        self._may_be_put_off = self._may_return = may_be_put_off
        self._given_back = parts.given_back
        self._service = ""
        self.in_backoff = False
        """Whether an answer put the host into back-off."""
        self.asks_service = False
        """Whether the turn is about a service: its requests, robots.txt among them, go on when TLS cannot be
        verified."""
        self.robots_for: Url | None = None
        """The address for which a robots.txt is requested; on a host that is borrowed, to which another's redirects."""
        self._unverified: dict[str, Deviation] = {}
        """Origins whose TLS cannot be verified, with the fault; forgotten with the turn."""
        self._mismeasured: set[str] = set()
        """Origins whose answers are longer than they announce; forgotten with the turn."""

    @property
    def name(self) -> str:
        """Return the host's name."""
        return self._state.name

    @property
    def state(self) -> HostState:
        """Return the host's state after the requests so far."""
        return wait_for_next_day(self._state, self._clock.now(), self._settings)

    @property
    def is_day_limit_reached(self) -> bool:
        """Return whether the host has received as many requests today as it may."""
        return is_day_limit_reached(self._state, self._clock.now(), self._settings)

    async def request(
        self,
        url: Url,
        purpose: Purpose,
        cookies: Cookies | None = None,
        validators: Validators | None = None,
        body: bytes | None = None,
    ) -> HttpAnswer | Failure:
        """Wait until it is time, make one exchange, and update the host's state.

        A request whose kept connection the server ended is made once more, on a new one, like any other request: after
        the delay, and counted. So is a request about a service whose TLS cannot be verified, then without cookies and
        verification, and one whose answer may be longer than announced, then read to its real end. Raises ValueError
        for another host's address, GivenBack when the lease was lost or the turn is put off.
        """
        if url.host != self.name:
            raise ValueError(f"{url.address} was asked in the turn of {self.name}")
        answer = await self._exchange(url, purpose, cookies, validators, body)
        if isinstance(answer, KeptConnectionLost):
            answer = await self._exchange(url, purpose, cookies, validators, body)
        if isinstance(answer, UnverifiedServer) and self._fault_passed_over(url, purpose):
            answer = await self._exchange(url, purpose, cookies, validators, body)
        if self._may_pass_over_faults(purpose) and url.origin not in self._mismeasured and may_be_longer(answer):
            answer = await self._read_to_end(answer, url, purpose, cookies, body)
        return answer

    async def _read_to_end(
        self, short: HttpAnswer | Failure, url: Url, purpose: Purpose, cookies: Cookies | None, body: bytes | None
    ) -> HttpAnswer | Failure:
        """Make an exchange again, reading all bytes; return the first answer when that brings no more."""
        self._mismeasured.add(url.origin)
        whole = await self._exchange(url, purpose, cookies, None, body)
        deviation = length_deviation(short, whole) if isinstance(whole, HttpAnswer) else None
        if deviation is None or isinstance(whole, Failure):
            self._mismeasured.discard(url.origin)
            return short
        return replace(whole, deviations=(*whole.deviations, deviation))

    def _may_pass_over_faults(self, purpose: Purpose) -> bool:
        return self.asks_service and purpose is not Purpose.PAGE

    def _fault_passed_over(self, url: Url, purpose: Purpose) -> Deviation | None:
        """Return the fault of the origin's TLS that a request passes over; None for a request that is verified."""
        return self._unverified.get(url.origin) if self._may_pass_over_faults(purpose) else None

    def adopt_crawl_delay(self, crawl_delay_s: float | None) -> None:
        """Use this Crawl-delay from now on, also for the wait that has begun."""
        if crawl_delay_s == self._state.crawl_delay_s:
            return
        before = delay_s(self._state, self._settings)
        self._state = replace(self._state, crawl_delay_s=crawl_delay_s)
        grown = delay_s(self._state, self._settings) - before
        if grown > 0 and self._state.next_at:
            self._state = replace(self._state, next_at=self._state.next_at + grown)

    def rest_until(self, at: float) -> None:
        """Request nothing before this time."""
        self._state = replace(self._state, next_at=max(self._state.next_at, at))

    def retry_after_s(self, answer: HttpAnswer | Failure) -> float | None:
        """Return the seconds for which an answer asks to be left alone; None when it does not."""
        if isinstance(answer, Failure) or answer.status not in (429, 503):
            return None
        return read_retry_after(answer.headers, self._clock.now(), self._settings)

    async def _exchange(
        self, url: Url, purpose: Purpose, cookies: Cookies | None, validators: Validators | None, body: bytes | None
    ) -> HttpAnswer | Failure:
        self._respect_rest()
        if purpose is not Purpose.ROBOTS:
            self._return_after_robots()
        await self._wait()
        rest_s, status = self._rests.address_s(url.address, self._clock.monotonic())
        if rest_s:  # the clock was set: what the address said is still true
            return HttpAnswer(url, status, {"retry-after": f"{ceil(rest_s)}"}, b"", False, None, 0, 0.0)
        of = self.robots_for if purpose is Purpose.ROBOTS else url
        if of is not None and (refusal := await self._refusal_of(of)):  # since the visit began: each request waits
            return Failure(url, FailureCode(refusal), WHY_REFUSED[refusal])
        fault = self._fault_passed_over(url, purpose)
        if fault is not None:
            cookies = None
        try:
            answer = await self._http.get(
                url,
                purpose,
                cookies,
                validators,
                body=body,
                waiting=self.waiting,
                begins_turn=self._may_be_put_off,
                verified=fault is None,
                to_end=url.origin in self._mismeasured and self._may_pass_over_faults(purpose),
            )
        except OwnFault:  # the host was not reached
            raise
        except PutOff as put_off:  # nothing was sent
            self.rest_until(self._clock.now() + put_off.for_s)
            raise GivenBack(f"{self.name}: {put_off}") from None
        except BaseException:  # whatever ended the exchange, the host was asked
            self._state = after_cut_off(self._state, self._clock.now(), self._settings)
            raise
        if isinstance(answer, Failure) and answer.code is FailureCode.GUARD:
            return answer  # nothing was sent
        self._may_be_put_off = False
        now = self._clock.now()
        self._state = count_request(self._state, now)
        if self._is_no_trouble(answer, purpose):
            if isinstance(answer, UnverifiedServer):
                self._unverified[url.origin] = answer.deviation
            self._state = replace(self._state, next_at=now + delay_s(self._state, self._settings))
            return answer
        if fault is not None and isinstance(answer, HttpAnswer):
            answer = replace(answer, deviations=(fault, *answer.deviations))
        return self._after(answer, self._asked(url, purpose, now))

    def _after(self, answer: HttpAnswer | Failure, asked: ExchangeSubject) -> HttpAnswer | Failure:
        """Write what an exchange means for the host; a failure after which it is in back-off says for how long."""
        outcome = answer.code if isinstance(answer, Failure) else answer.status
        before, wait_s = self._state, self.retry_after_s(answer)
        if wait_s and isinstance(answer, HttpAnswer):
            self._rests.rest_address(answer.url.address, self._clock.monotonic(), wait_s, answer.status)
        self._state = after_exchange(before, outcome, asked.at, self._settings, retry_after_s=wait_s, asked=asked)
        if starts_backoff(before, self._state, outcome, self._settings, asked, wait_s):
            self.in_backoff = True
            if wait_s is not None:
                self._rests.rest_host(self.name, self._clock.monotonic(), self._state.next_at - asked.at)
            if isinstance(answer, Failure):
                answer = replace(answer, retry_after_s=self._state.next_at - asked.at)
        return answer

    def _respect_rest(self) -> None:
        """Raise GivenBack while the host is to be left alone, although its state says no more so since the clock was
        set."""
        now, rest_s = self._clock.now(), self._rests.host_s(self.name, self._clock.monotonic())
        if not self.in_backoff and rest_s > max(self._state.next_at - now, 0.0) + _CLOCK_SET_S:
            self.rest_until(now + rest_s)
            raise GivenBack(f"{self.name}: the host asked to be left alone for another {rest_s:,.0f} s")

    def _return_after_robots(self) -> None:
        """Raise GivenBack when the first request of the turn was for robots.txt and the delay after it has begun: its
        rest is waited out in the host's state. Once only: a robots.txt that expires sooner is asked for again."""
        rest_s = self._state.next_at - self._clock.now()
        is_after_robots = self._may_return and not self._may_be_put_off and 0 < rest_s < self._settings.patience_s / 2
        if not is_after_robots or self.name in self._given_back or len(self._given_back) > _MOST_GIVEN_BACK:
            self._may_return = False
            self._given_back.discard(self.name)
            return
        self._given_back.add(self.name)
        raise GivenBack(f"{self.name}: its robots.txt was read; the delay after it has begun")

    def _is_no_trouble(self, answer: HttpAnswer | Failure, purpose: Purpose) -> bool:
        """Return whether a failed exchange says nothing against the host, because the request is repeated at once."""
        if isinstance(answer, KeptConnectionLost):  # servers close what is idle
            return True
        return isinstance(answer, UnverifiedServer) and self._may_pass_over_faults(purpose)

    async def keep_for(self, seconds: float) -> None:
        """Have the lease last for so long at least. Raises GivenBack when another process has leased the host."""
        await self._held.extend(self._clock.now() + seconds)

    async def _wait(self) -> None:
        """Wait until the host may be requested, under a lease that lasts until the answer is read and settled.

        The lease is checked before and after the wait, because the process or its machine may be suspended meanwhile.
        """
        longest_s = self._settings.dns_timeout_s + self._settings.total_timeout_s + THINKING_S
        now = self._clock.now()
        wait_s = self._state.next_at - now
        await self._held.extend(now + max(wait_s, 0.0) + longest_s)
        if wait_s > 0:
            async with self.waiting(wait_s):
                await self._clock.sleep(wait_s)
            await self._held.extend(self._clock.now() + self._settings.total_timeout_s)

    def _asked(self, url: Url, purpose: Purpose, at: float) -> ExchangeSubject:
        """Return what an exchange was about; all requests to a service are about the first one's address."""
        if purpose in (Purpose.PROBE, Purpose.MAP):
            self._service = self._service or url.address
            return ExchangeSubject(self._service, at)
        return ExchangeSubject(url.address, at, is_robots=url.address == robots_address(url))


def robots_address(url: Url) -> str:
    """Return the address of the robots.txt that applies to `url`."""
    return f"{url.origin}/robots.txt"
