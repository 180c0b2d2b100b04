"""The port `Renderer`: one browser for a run, started when a page first needs it, one page at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from geocrawl.browser.chromium import Chromium
from geocrawl.browser.page_run import Limits, PageRun
from geocrawl.model import Page, Rendered, Url
from geocrawl.ports import Turn
from geocrawl.settings import Settings

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext


_CLOSE_S = 5.0
_DATA_BYTES = 20 * 1024 * 1024
"""Bytes that the scripts of one page receive at most, decoded."""
"""Longest wait for a page to end; then the browser is ended."""


class BrowserRenderer:
    """Runs the scripts of pages (`ports.Renderer`)."""

    def __init__(self, settings: Settings, executable: str, *, user_agent: str, say: Callable[[str], object]) -> None:
        """`executable`: the Chromium to start. `say` is given a line for a person when it cannot be started."""
        self._settings = settings
        self._executable = executable
        self._user_agent = user_agent
        self._say = say
        self._limits = Limits(
            time_s=settings.browser_time_s,
            requests=settings.browser_requests,
            bytes=_DATA_BYTES,
            dom_chars=settings.page_body_bytes,
            redirects=settings.max_redirects,
        )
        self._alone = asyncio.Lock()
        self._browser: Chromium | None = None
        self._is_given_up = False

    async def render(self, page: Page, turn: Turn, may_request: Callable[[Url], bool]) -> Rendered | None:
        """Run the scripts of a page. A browser that crashes or hangs is ended, and the next page gets another."""
        async with self._alone:
            browser = await self._running()
            if browser is None:
                return None
            run = PageRun(page, turn, self._limits, self._rule(page, may_request))
            return await self._run(run, browser)

    async def close(self) -> None:
        """End the browser."""
        browser, self._browser = self._browser, None
        if browser is not None:
            await browser.close()

    async def _run(self, run: PageRun, browser: Chromium) -> Rendered:
        from playwright.async_api import Error

        context: BrowserContext | None = None
        is_well = False
        try:
            context = await browser.new_context(self._user_agent)
            rendered = await run.run(context)
            is_well = not run.is_flooding
            return rendered
        except Error:
            return run.so_far
        finally:
            if not is_well or not await _closed(context):
                browser.kill()
                await self.close()
                _end_unanswered()

    async def _running(self) -> Chromium | None:
        """Return the browser, started if need be; None when it cannot be started."""
        from playwright.async_api import Error

        if self._browser is not None and not self._browser.is_running:
            await self.close()
        if self._browser is None and not self._is_given_up:
            try:
                self._browser = await Chromium.start(self._executable, memory_bytes=self._settings.browser_memory_bytes)
            except (Error, TimeoutError, OSError) as error:
                self._is_given_up = True
                said = f"{self._executable} does not start, so pages that need script stay empty"
                self._say(f"{said}: {reason_of(str(error))}")
        return self._browser

    def _rule(self, page: Page, may_request: Callable[[Url], bool]) -> Callable[[Url], bool]:
        """Return a function that returns whether the scripts of a page may request an address.

        An origin to which a password is sent answers its own pages alone: those of others would read what it protects.
        """
        own, settings = page.final.origin, self._settings

        def rule(url: Url) -> bool:
            return may_request(url) and (url.origin == own or settings.credentials_of(url.host, url.origin) is None)

        return rule


def reason_of(error: str) -> str:
    """Return in one line why a browser does not start, from what Playwright says with the browser's log."""
    if "No usable sandbox" in error:
        return (
            "it finds no sandbox; let ordinary users create user namespaces on this machine, or install Chromium's "
            "setuid helper (Debian: apt install chromium-sandbox)"
        )
    return error.strip().partition("\n")[0]


def _end_unanswered() -> None:
    """End what Playwright keeps for each request that was never answered; it would wait for ever."""
    for task in asyncio.all_tasks():
        if getattr(task.get_coro(), "__qualname__", "") == "BrowserContext._on_route":
            task.cancel()


async def _closed(context: BrowserContext | None) -> bool:
    """Close a context with its pages, and return whether that worked in time."""
    from playwright.async_api import Error

    with suppress(Error, TimeoutError):
        async with asyncio.timeout(_CLOSE_S):
            if context is not None:
                await context.close()
            return True
    return False
