"""Run pages in a browser as a crawl does: a polite turn for the page's host, the renderer, and what comes of it."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from geocrawl.app.fetchers import make_fetcher
from geocrawl.browser.renderer import BrowserRenderer, descendants, find_chromium
from geocrawl.fetch.clock import SystemClock
from geocrawl.model import HostState, Page, Purpose, RenderedPage
from geocrawl.settings import Settings
from tests.support.crawls import url
from tests.support.politeness import MemoryPoliteness

SETTINGS = Settings(delay_s=0.0, browser=True, browser_time_s=60.0)


class Run:
    """A browser and a fetcher for some pages."""

    def __init__(self, settings: Settings) -> None:
        self.said: list[str] = []
        self._fetcher = make_fetcher(settings, MemoryPoliteness(), SystemClock())
        self.renderer = BrowserRenderer(settings, find_chromium(""), user_agent="geocrawl/test", say=self.said.append)

    def set_time(self, time_s: float) -> None:
        """Let the scripts of pages run so long from now on."""
        self.renderer._limits = replace(self.renderer._limits, time_s=time_s)

    async def page(self, address: str) -> RenderedPage:
        """Request a page and run its scripts."""
        asked = url(address)
        async with self._fetcher.turn(HostState(asked.host)) as turn:
            page = await turn.fetch(asked, purpose=Purpose.PAGE)
            assert isinstance(page, Page), page
            rendered = await self.renderer.render(page, turn, lambda target: True)
        assert rendered is not None, self.said
        return rendered

    async def given(self, address: str, html: str) -> RenderedPage:
        """Run the scripts of a page that was never requested, on a host that need not exist."""
        asked = url(address)
        page = Page(asked, asked, 200, {"content-type": "text/html"}, html.encode(), 1.0, 0.0)
        async with self._fetcher.turn(HostState(asked.host)) as turn:
            rendered = await self.renderer.render(page, turn, lambda target: True)
        assert rendered is not None, self.said
        return rendered

    async def close(self) -> None:
        """End the browser and the connections."""
        await self.renderer.close()
        await self._fetcher.close()


@asynccontextmanager
async def running(**changes: object) -> AsyncIterator[Run]:
    """Yield a browser and a fetcher until the end of the block."""
    run = Run(replace(SETTINGS, **changes))  # type: ignore[arg-type]
    try:
        yield run
    finally:
        await run.close()


def left(before: list[int], *, within_s: float = 2.0) -> int:
    """Return how many processes are left some seconds after the browser was ended.

    `before`: this process's descendants when the browser was not yet started; a database's server may be among them.
    """
    last = time.monotonic() + within_s
    while (found := set(descendants(os.getpid())) - set(before)) and time.monotonic() < last:
        time.sleep(0.05)
    return len(found)
