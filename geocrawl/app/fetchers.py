"""Make what requests pages for a session: the polite fetcher, and the browser that runs scripts (`--browser`)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl import __version__
from geocrawl.browser.chromium import find_chromium
from geocrawl.fetch.fetcher import OwnHosts, PoliteFetcher
from geocrawl.fetch.http import user_agent
from geocrawl.fetch.names import Resolver
from geocrawl.fetch.proxy import proxy_from_environment
from geocrawl.fetch.record import WarcRecorder
from geocrawl.fetch.rests import Rests
from geocrawl.model import Url
from geocrawl.ports import Clock, Fetcher, HostLeases, Renderer, RobotsStore
from geocrawl.settings import Settings
from geocrawl.urls import AddressRules

if TYPE_CHECKING:
    import httpx

    from geocrawl.app.session import Session
    from geocrawl.app.shared_politeness import SharedPoliteness


OnReceived = Callable[[int], object]
"""Called with the number of bytes of each piece of an answer when it is received."""


def make_session_fetcher(
    session: Session,
    record: Path | None = None,
    on_received: OnReceived = lambda received_bytes: None,
    say: Callable[[str], object] = lambda line: None,
) -> Fetcher:
    """Return the fetcher of one run, which the caller closes.

    `record`: a WARC file to which every answer is written; `say` receives a line when writing to it fails.
    """
    return make_fetcher(
        session.settings,
        session.store.robots(),
        session.clock,
        hosts=session.store.host_leases(session.settings),
        share_with=session.share_with,
        transport=session.environment.transport if session.environment else None,
        resolver=session.environment.resolver if session.environment else None,
        recorder=_make_recorder(record, session, say) if record else None,
        on_received=on_received,
        may_put_off=True,
        rests=session.rests,
    )


def make_fetcher(
    settings: Settings,
    robots: RobotsStore,
    clock: Clock,
    *,
    hosts: HostLeases | None = None,
    share_with: SharedPoliteness | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
    resolver: Resolver | None = None,
    recorder: WarcRecorder | None = None,
    on_received: OnReceived = lambda received_bytes: None,
    may_put_off: bool = False,
    rests: Rests | None = None,
) -> Fetcher:
    """Return a fetcher that refuses hosts that `hosts` covers, and addresses that the operator's lists exclude.

    `hosts`, `may_put_off`, `rests`: as in `PoliteFetcher`. `share_with`: a catalogue whose robots.txt, opt-outs, delays
    and back-offs also apply. `transport`, `resolver`: replace the real network and its names.
    """
    rules, own = AddressRules(settings.allow, settings.deny), hosts or OwnHosts()

    async def reason_not_to_ask(url: Url) -> str:
        if await own.covers(url.host) or (share_with and await share_with.covers(url.host)):
            return "forgotten"
        return rules.reason(url)

    fetcher = PoliteFetcher(
        settings,
        share_with.robots(robots) if share_with else robots,
        clock,
        user_agent=user_agent(settings, __version__),
        environment=None if transport else proxy_from_environment(os.environ),
        transport=transport,
        resolver=resolver,
        recorder=recorder,
        refusal_of=reason_not_to_ask,
        hosts=share_with.hosts(own) if share_with else own,
        on_received=on_received,
        may_put_off=may_put_off,
        rests=rests,
    )
    return share_with.fetcher(fetcher) if share_with else fetcher


def _make_recorder(path: Path, session: Session, say: Callable[[str], object]) -> WarcRecorder:
    seeds = [seed.address for seed in session.frontier.seeds()]
    return WarcRecorder(path, software=f"geocrawl/{__version__}", seeds=seeds, say=say)


@asynccontextmanager
async def session_renderer(session: Session, say: Callable[[str], object]) -> AsyncIterator[Renderer | None]:
    """Yield the renderer of one run, and end its browser in the end; None for a session that runs no scripts.

    `say` is given a line for a person when the browser cannot be started.
    """
    executable = demand_browser(session)
    if not executable:
        yield None
        return
    from geocrawl.browser.renderer import BrowserRenderer

    agent = user_agent(session.settings, __version__)
    renderer = BrowserRenderer(session.settings, executable, user_agent=agent, say=say)
    try:
        yield renderer
    finally:
        await renderer.close()


def demand_browser(session: Session) -> str:
    """Return the path of the Chromium to start; '' for a session that runs no scripts.

    Harvests and probes run none, and in an environment (a replay) every answer is a recorded one. Raises
    EnvironmentFault with what to install when there is no browser.
    """
    if not session.settings.browser or not session.kind.learns or session.environment is not None:
        return ""
    return find_chromium(session.settings.browser_path)
