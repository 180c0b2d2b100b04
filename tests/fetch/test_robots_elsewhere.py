"""robots.txt that redirects to another host: asked for with that host's lease, pace and rules, or not at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from geocrawl.errors import GivenBack
from geocrawl.fetch.fetcher import PoliteFetcher
from geocrawl.fetch.politeness import DAY_S
from geocrawl.model import Failure, FailureCode, HostState, Page, Purpose, Url
from geocrawl.ports import HostBusy, HostLease
from tests.support.http_server import Loopback, answer, pages, redirect, serve
from tests.support.politeness import MemoryPoliteness

from .conftest import AGENT, VirtualClock, settings, url

FORBIDS_ALL = answer(b"User-agent: *\nDisallow: /", content_type="text/plain")
VICTIM = "http://victim.example"


class World:
    """A fetcher whose proxy serves all hosts, with the leases of hosts that are borrowed."""

    def __init__(self, server: Loopback, **changes: object) -> None:
        self.server = server
        self.clock = VirtualClock()
        chosen = settings(ignore_robots=False, proxy=server.base, **{"delay_s": 1.0, **changes})
        self.hosts = MemoryPoliteness(self.clock, chosen)
        self.fetcher = PoliteFetcher(chosen, self.hosts, self.clock, user_agent=AGENT)

    async def get(self, address: str = "http://a.example/page") -> tuple[Page | Failure, HostState]:
        """Fetch in a turn of its own; return the answer and the host's state."""
        asked = url(address)
        async with self.fetcher.turn(HostState(asked.host)) as turn:
            return await turn.fetch(asked, purpose=Purpose.PAGE), turn.host

    async def lease(self, name: str = "victim.example") -> HostLease:
        lease = await self.hosts.lease(name, self.clock.now(), wait_s=1e9)
        assert not isinstance(lease, HostBusy)
        return lease

    async def put(self, **state: float) -> None:
        """Have the victim be in this state."""
        lease = await self.lease()
        await lease.release(replace(lease.state, **state), self.clock.now())  # type: ignore[arg-type]

    async def state(self, name: str = "victim.example") -> HostState:
        lease = await self.lease(name)
        await lease.release(lease.state, self.clock.now())
        return lease.state


def elsewhere(path: str) -> dict[str, bytes]:
    """A host whose robots.txt leads to this path of the victim."""
    return {"http://a.example/robots.txt": redirect(VICTIM + path), "http://a.example/page": answer(b"a")}


async def test_the_other_hosts_delay_is_kept_and_its_requests_are_counted() -> None:
    async with serve(pages({**elsewhere("/robots.txt"), f"{VICTIM}/robots.txt": FORBIDS_ALL})) as server:
        world = World(server, delay_s=2.0)
        await world.put(next_at=world.clock.now() + 3.0)
        answered, host = await world.get()
        state = await world.state()
        await world.fetcher.close()
    assert isinstance(answered, Failure) and answered.code is FailureCode.ROBOTS
    assert world.clock.slept == [3.0], "the victim's own time, not that of the host that redirects"
    assert (state.asked, state.next_at) == (1, world.clock.now() + 2.0)
    assert (host.asked, host.next_at) == (1, world.clock.now() - 3.0 + 2.0)


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Unavailable", "500 Oops"])
async def test_the_other_hosts_trouble_is_its_own(status: str) -> None:
    trouble = answer(b"", status, retry_after="600")
    async with serve(pages({**elsewhere("/robots.txt"), f"{VICTIM}/robots.txt": trouble})) as server:
        world = World(server)
        answered, host = await world.get()
        state = await world.state()
        await world.fetcher.close()
    assert isinstance(answered, Failure) and answered.code is FailureCode.ROBOTS and answered.retry_after_s is not None
    assert (host.errors, host.next_at <= world.clock.now() + 1.0) == (0, True)
    assert state.errors == 1
    assert status.startswith("500") or state.next_at == world.clock.now() + 600.0


@pytest.mark.parametrize(("remembered", "delay_s", "apart_s"), [(1_000, 1.0, 1.0), (0, 1.0, 1.0), (1_000, 0.0, 0.2)])
async def test_a_host_that_is_leased_is_not_asked_and_the_visits_come_back_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, remembered: int, delay_s: float, apart_s: float
) -> None:
    monkeypatch.setattr("geocrawl.fetch.guests._MOST_RETURNS", remembered)
    strangers = [f"http://s{n}.example" for n in range(20)]
    web = {f"{one}/robots.txt": redirect(f"{VICTIM}/robots.txt") for one in strangers}
    async with serve(pages(web)) as server:
        world = World(server, delay_s=delay_s)
        lease = await world.lease()
        now, back = world.clock.now(), []
        for one in strangers:
            asked = url(one + "/page")
            async with world.fetcher.turn(HostState(asked.host)) as turn:
                with pytest.raises(GivenBack, match="redirects to victim"):
                    await turn.fetch(asked, purpose=Purpose.PAGE)
                back.append(turn.host.next_at)
        assert [target for target in server.targets if "victim" in target] == []
        assert [at - now for at in back] == pytest.approx([(n + 1) * apart_s for n in range(20)], abs=0.001)
        await lease.release(lease.state, now)
        await world.get(strangers[0] + "/page")
        await world.fetcher.close()
    assert server.targets[-2:] == [f"{VICTIM}/robots.txt", f"{strangers[0]}/page"]
    assert server.targets.count(f"{strangers[0]}/robots.txt") == 1, "its redirect is remembered"


@pytest.mark.parametrize("cause", ["a back-off", "its daily limit"])
async def test_a_host_that_rests_is_not_asked_before_it_may_be(cause: str) -> None:
    async with serve(pages(elsewhere("/rules"))) as server:
        world = World(server, requests_per_host_per_day=2)
        now = world.clock.now()
        until = now + 600.0 if cause == "a back-off" else (now // DAY_S + 1) * DAY_S
        await world.put(next_at=until)
        async with world.fetcher.turn(HostState("a.example")) as turn:
            with pytest.raises(GivenBack):
                await turn.fetch(url("http://a.example/page"), purpose=Purpose.PAGE)
        await world.fetcher.close()
    assert server.targets == ["http://a.example/robots.txt"]
    assert until - 5.0 < turn.host.next_at <= until, "it waits for the rest of it"


async def test_requests_for_others_count_towards_the_daily_limit_of_the_host() -> None:
    web = {f"http://s{n}.example/robots.txt": redirect(f"{VICTIM}/rules?{n}") for n in range(4)}
    async with serve(pages({**web, f"{VICTIM}/robots.txt": answer(b"", "404 None")})) as server:
        world = World(server, requests_per_host_per_day=3)
        for n in range(2):
            await world.get(f"http://s{n}.example/page")
        with pytest.raises(GivenBack):
            await world.get("http://s2.example/page")
        await world.fetcher.close()
    assert sum("victim" in target for target in server.targets) == 3


async def test_many_hosts_that_redirect_to_one_robots_txt_cost_it_one_request() -> None:
    strangers = [f"http://s{n}.example" for n in range(60)]
    web = {f"{one}/robots.txt": redirect(f"{VICTIM}/robots.txt") for one in strangers}
    async with serve(pages({**web, f"{VICTIM}/robots.txt": FORBIDS_ALL})) as server:
        world = World(server)
        answers = [(await world.get(one + "/page"))[0] for one in strangers]
        await world.get(f"{VICTIM}/page")
        await world.fetcher.close()
    assert all(isinstance(each, Failure) and each.code is FailureCode.ROBOTS for each in answers)
    assert [target for target in server.targets if "victim" in target] == [f"{VICTIM}/robots.txt"]


async def test_a_target_that_its_own_robots_txt_forbids_is_not_asked_and_holds_no_rules() -> None:
    web = {**elsewhere("/private/rules"), f"{VICTIM}/robots.txt": FORBIDS_ALL, f"{VICTIM}/private/rules": FORBIDS_ALL}
    async with serve(pages(web)) as server:
        world = World(server)
        answered, _ = await world.get()
        await world.fetcher.close()
    assert isinstance(answered, Page) and answered.status == 200
    assert [target for target in server.targets if "victim" in target] == [f"{VICTIM}/robots.txt"]


async def test_a_target_whose_own_robots_txt_is_out_of_reach_is_not_asked_and_nothing_is_allowed() -> None:
    web = {**elsewhere("/rules"), f"{VICTIM}/robots.txt": redirect("http://third.example/robots.txt")}
    async with serve(pages(web)) as server:
        world = World(server)
        answered, _ = await world.get()
        await world.fetcher.close()
    assert isinstance(answered, Failure) and answered.retry_after_s == 3600.0
    assert [target for target in server.targets if "a.example" not in target] == [f"{VICTIM}/robots.txt"]


async def test_an_allowed_target_is_asked_after_the_delay_that_its_own_robots_txt_names() -> None:
    slow = answer(b"User-agent: *\nCrawl-delay: 9\nAllow: /", content_type="text/plain")
    web = {**elsewhere("/rules"), f"{VICTIM}/robots.txt": slow, f"{VICTIM}/rules": FORBIDS_ALL}
    async with serve(pages(web)) as server:
        world = World(server)
        answered, _ = await world.get()
        await world.fetcher.close()
    assert isinstance(answered, Failure) and answered.code is FailureCode.ROBOTS and answered.retry_after_s is None
    assert [target for target in server.targets if "victim" in target] == [f"{VICTIM}/robots.txt", f"{VICTIM}/rules"]
    assert world.clock.slept == [9.0]


async def test_a_host_that_opts_out_between_two_requests_is_asked_no_more() -> None:
    async with serve(pages({**elsewhere("/rules"), f"{VICTIM}/robots.txt": answer(b"", "404 None")})) as server:
        world = World(server)
        world.hosts.has_opted_out = lambda host: host == "victim.example" and f"{VICTIM}/robots.txt" in server.targets
        got, _ = await world.get()
        await world.fetcher.close()
    assert isinstance(got, Failure) and got.code is FailureCode.ROBOTS
    assert server.targets == ["http://a.example/robots.txt", f"{VICTIM}/robots.txt"]


@pytest.mark.parametrize("reason", ["deny", "forgotten"])
async def test_a_target_that_may_not_be_asked_is_not_and_nothing_is_allowed(reason: str) -> None:
    async with serve(pages(elsewhere("/robots.txt"))) as server:
        world = World(server, **({"deny": ("victim.example",)} if reason == "deny" else {}))
        world.hosts.has_opted_out = lambda host: reason == "forgotten" and host == "victim.example"
        answered, _ = await world.get()
        await world.fetcher.close()
    assert isinstance(answered, Failure) and answered.code is FailureCode.ROBOTS
    assert server.targets == ["http://a.example/robots.txt"]


@pytest.mark.parametrize(("hosts", "is_read"), [(5, True), (6, False)])
async def test_a_chain_over_five_other_hosts_is_followed_and_no_further(hosts: int, is_read: bool) -> None:
    names = ["http://a.example", *(f"http://h{n}.example" for n in range(1, hosts + 1))]
    web = {f"{names[n]}/robots.txt": redirect(f"{names[n + 1]}/robots.txt") for n in range(hosts)}
    async with serve(
        pages({**web, f"{names[-1]}/robots.txt": FORBIDS_ALL, "http://a.example/page": answer(b"a")})
    ) as server:
        world = World(server)
        answered, _ = await world.get()
        await world.fetcher.close()
    assert isinstance(answered, Failure) is is_read
    assert server.targets[:6] == [f"{name}/robots.txt" for name in names[:6]]


async def test_a_circle_of_redirects_asks_each_address_once() -> None:
    web = {**elsewhere("/robots.txt"), f"{VICTIM}/robots.txt": redirect("http://a.example/robots.txt")}
    async with serve(pages(web)) as server:
        world = World(server)
        answered, _ = await world.get()
        await world.fetcher.close()
    assert isinstance(answered, Page)
    assert server.targets == ["http://a.example/robots.txt", f"{VICTIM}/robots.txt", "http://a.example/page"]


async def test_a_redirect_to_the_same_host_by_another_scheme_or_port_needs_no_other_lease() -> None:
    web = {
        "http://a.example/robots.txt": redirect("http://a.example:8080/robots.txt"),
        "http://a.example:8080/robots.txt": FORBIDS_ALL,
    }
    async with serve(pages(web)) as server:
        world = World(server)
        answered, host = await world.get()
        await world.fetcher.close()
    assert isinstance(answered, Failure) and answered.code is FailureCode.ROBOTS
    assert (host.asked, world.clock.slept) == (2, [1.0])


async def test_a_fault_in_the_middle_leaves_the_other_hosts_pace_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve(pages(elsewhere("/robots.txt"))) as server:
        world = World(server)
        http = world.fetcher._parts.http
        get = http.get

        async def broken(asked: Url, *more: Any, **named: Any) -> object:
            if asked.host == "victim.example":
                raise RuntimeError("a defect")
            return await get(asked, *more, **named)

        monkeypatch.setattr(http, "get", broken)
        with pytest.raises(RuntimeError):
            await world.get()
        state = await world.state()
        await world.fetcher.close()
    assert (state.asked, state.next_at) == (1, world.clock.now() + 10.0 + 1.0)
