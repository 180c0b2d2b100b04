"""Make what requests pages for a session: the polite fetcher, and the browser that runs scripts (`--browser`)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl import __version__
from geocrawl.browser.renderer import find_chromium
from geocrawl.fetch.fetcher import PoliteFetcher
from geocrawl.fetch.guests import GuestFetcher
from geocrawl.fetch.http import user_agent
from geocrawl.fetch.names import Resolver
from geocrawl.fetch.paced_host import RetryAfterMemory
from geocrawl.fetch.proxy import proxy_from_environment
from geocrawl.fetch.record import WarcRecorder
from geocrawl.ports import Clock, Fetcher, Politeness, Renderer
from geocrawl.settings import Settings

if TYPE_CHECKING:
    import httpx

    from geocrawl.app.session import Session


OnReceived = Callable[[int], object]
"""Called with the number of bytes of each piece of an answer when it is received."""


def make_session_fetcher(
    session: Session,
    record: Path | None = None,
    on_received: OnReceived | None = None,
    say: Callable[[str], object] = lambda line: None,
) -> Fetcher:
    """Return the fetcher of one run, which the caller closes.

    `record`: a WARC file to which every answer is written; `say` receives a line when writing to it fails.
    """
    fetcher = make_fetcher(
        session.settings,
        session.guest_of or session.store.politeness(session.settings),
        session.clock,
        transport=session.environment.transport if session.environment else None,
        resolver=session.environment.resolver if session.environment else None,
        recorder=_make_recorder(record, session, say) if record else None,
        on_received=on_received,
        may_put_off=True,
        rests=session.rests,
    )
    if session.guest_of is None:
        return fetcher
    return GuestFetcher(fetcher, session.guest_of, session.settings, session.clock, session.say)


def make_guest_fetcher(
    settings: Settings,
    politeness: Politeness,
    clock: Clock,
    say: Callable[[str], object] = lambda line: None,
    *,
    for_visitors: bool = False,
) -> Fetcher:
    """Return a fetcher that leases the host of each turn by itself, for requests that come from no queue.

    `say`, `for_visitors`: as in `GuestFetcher`.
    """
    fetcher = make_fetcher(settings, politeness, clock, for_visitors=for_visitors)
    return GuestFetcher(fetcher, politeness, settings, clock, say, for_visitors=for_visitors)


def make_fetcher(
    settings: Settings,
    politeness: Politeness,
    clock: Clock,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
    resolver: Resolver | None = None,
    recorder: WarcRecorder | None = None,
    on_received: OnReceived | None = None,
    may_put_off: bool = False,
    rests: RetryAfterMemory | None = None,
    for_visitors: bool = False,
) -> PoliteFetcher:
    """Return a fetcher for turns of leased hosts.

    `may_put_off`, `rests`, `for_visitors`: as in `PoliteFetcher`. `transport`, `resolver`: replace the real network and
    its names.
    """
    return PoliteFetcher(
        settings,
        politeness,
        clock,
        user_agent=user_agent(settings, __version__),
        environment=None if transport else proxy_from_environment(os.environ),
        transport=transport,
        resolver=resolver,
        recorder=recorder,
        on_received=on_received,
        may_put_off=may_put_off,
        rests=rests,
        for_visitors=for_visitors,
    )


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
