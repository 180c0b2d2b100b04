"""Run the scripts of one page: answer what they request through our fetcher, and take the document they leave.

The page itself is not requested again. Of what it requests, scripts and data are fetched, one after the other, with
the delay of their host; images, styles, fonts, media and frames are not, nor anything but GET.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from geocrawl.model import SCRIPT_SRC, Failure, FailureCode, Link, Page, Purpose, RenderedPage, Url
from geocrawl.ports import Turn
from geocrawl.urls import read_url

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Request, Route


# --------------------------------------------------------------------------- the world that a page's scripts see
# A page is read from a world of JavaScript next to its own, which its scripts can neither see nor change.
# A document that grows beyond a bound is cut as soon as the script that wrote it pauses, before it is laid out: laying
# out 100 MB of text takes minutes and a gigabyte.


_IDLE = "new Promise(done => requestIdleCallback(() => done(true)))"
_CUT = """(most => {
  const size = node => node instanceof CharacterData ? node.length : 10;  // an element: its tags, at least
  const sizeOfTree = root => {
    let sum = size(root);
    const walker = document.createTreeWalker(root);
    while (sum <= most && walker.nextNode()) sum += size(walker.currentNode);
    return sum;
  };
  const cut = () => {
    let sum = 0;
    const walker = document.createTreeWalker(document);
    while (sum <= most && walker.nextNode()) sum += size(walker.currentNode);
    if (sum <= most) return sum;
    const last = walker.currentNode, root = document.documentElement, rest = document.createRange();
    if (last instanceof CharacterData) last.deleteData(Math.max(last.length - (sum - most), 0), last.length);
    rest.setStartAfter(last);
    rest.setEnd(root, root.childNodes.length);
    rest.deleteContents();
    return most;
  };
  let left = most;  // what may be added before the document is measured again
  new MutationObserver(records => {
    for (const record of records)
      for (const node of record.type === 'childList' ? record.addedNodes : [record.target])
        if (left >= 0) left -= sizeOfTree(node);
    if (left < 0) left = Math.max(most - cut(), most / 4);
  }).observe(document, {childList: true, characterData: true, subtree: true});
})"""


class World:
    """A world of JavaScript in the top frame of a tab."""

    def __init__(self, session: CDPSession) -> None:
        self._session = session
        self._context: int | None = None

    async def bound(self, most_chars: int) -> None:
        """Have every document that the tab opens from now on cut at about so many characters."""
        await self._session.send("Page.enable")
        source = f"{_CUT}({most_chars})"
        await self._session.send(
            "Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": "geocrawl-bound"}
        )

    async def rest(self) -> bool:
        """Return whether the page's scripts do nothing, as soon as they do."""
        return bool(await self._value(_IDLE))

    async def document(self, most_chars: int) -> str | None:
        """Return the document as HTML, cut at so many characters."""
        found = await self._value(f"document.documentElement.outerHTML.slice(0, {most_chars})")
        return found if isinstance(found, str) else None

    async def _value(self, expression: str) -> Any:
        """Return the value of an expression, awaited if it is a promise; None when it has none."""
        if self._context is None:
            tree = await self._session.send("Page.getFrameTree")
            frame = tree["frameTree"]["frame"]["id"]
            made = await self._session.send("Page.createIsolatedWorld", {"frameId": frame})
            self._context = made["executionContextId"]
        asked = {"expression": expression, "contextId": self._context, "awaitPromise": True, "returnByValue": True}
        answer = await self._session.send("Runtime.evaluate", asked)
        return answer["result"].get("value")


# --------------------------------------------------------------------------- the run of a page


_FETCHED = frozenset({"script", "xhr", "fetch"})
"""Types of requests that are answered."""
_QUIET_S = 1.0
"""A page without requests for so long is done, if its scripts do nothing at that moment."""
_TAKE_S = 3.0
"""How long the document may be waited for when the scripts' time is over."""
_WALL_FACTOR = 5.0
"""How much longer than its scripts may run a page may take by the clock, with the waits for its requests."""
_FLOOD = 400
"""Requests, answered or not, after which a page is taken to make them without end; more where more are answered."""
_MOST_LINKS = 200
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class PageLimits:
    """What one page may use."""

    time_s: float
    """How long its scripts may run, without the waits for its requests."""
    requests: int
    bytes: int
    """Of all answers, decoded."""
    dom_chars: int
    redirects: int


class PageRun:
    """Runs one page in a browser context of its own and takes what the page requests."""

    def __init__(self, page: Page, turn: Turn, limits: PageLimits, may_request: Callable[[Url], bool]) -> None:
        self._page = page
        self._turn = turn
        self._limits = limits
        self._may_request = may_request
        self._asked: asyncio.Queue[Route] = asyncio.Queue()
        self._answers: dict[str, Page | Failure] = {}
        """By address: what was requested before is not requested again."""
        self._links: dict[str, Link] = {}
        self._data: list[Page] = []
        self._is_served = False
        self._is_over = False
        self._waited_s = 0.0
        """How long the page's requests took, with the waits for their hosts."""
        self._intercepted = 0
        self._bytes = 0
        self._requests = 0
        self._begun = time.monotonic()

    async def run(self, context: BrowserContext) -> RenderedPage:
        """Run the scripts until they are quiet or a limit is reached, and return what they left.

        Raises what `Turn.fetch` raises, and playwright's Error when the browser ends.
        """
        await context.route("**/*", self._on_request)
        tab = await context.new_page()
        context.on("page", lambda popup: asyncio.ensure_future(popup.close()))
        world = World(await context.new_cdp_session(tab))
        await world.bound(self._limits.dom_chars)
        opening = asyncio.ensure_future(tab.goto(self._page.final.address, wait_until="commit"))
        try:
            await self._until_quiet(opening, world)
            document = None if self.is_flooding else await self._document(world)
        finally:
            opening.cancel()
            await self._refuse_the_rest()
        return replace(self.so_far, page=self._page if document is None else self._with(document))

    @property
    def so_far(self) -> RenderedPage:
        """Return the page as it was before its scripts, with what these requested so far."""
        return RenderedPage(self._page, tuple(self._links.values()), tuple(self._data))

    # ------------------------------------------------------------------ requests

    async def _on_request(self, route: Route) -> None:
        """Queue a request that may be answered, and refuse any other at once."""
        from playwright.async_api import Error

        self._intercepted += 1
        request = route.request
        with suppress(Error):  # the page may be gone
            if self.is_flooding:
                return  # an answer would only bring more: the browser is ended
            if self._is_over:
                await route.abort("blockedbyclient")
            elif request.is_navigation_request():
                await self._on_navigation(route)
            elif request.method == "GET" and request.resource_type in _FETCHED:
                self._asked.put_nowait(route)
            else:
                self._note(request, "script")
                await route.abort("blockedbyclient")

    async def _refuse_the_rest(self) -> None:
        """Refuse what was requested and not answered, so that nothing waits for it."""
        from playwright.async_api import Error

        self._is_over = True
        while not self._asked.empty() and not self.is_flooding:
            with suppress(Error):
                await self._asked.get_nowait().abort("blockedbyclient")

    async def _on_navigation(self, route: Route) -> None:
        """Answer the page itself; anything else that it opens is a link, and the page stays as it is."""
        if self._is_served:
            self._note(route.request, "meta-refresh")
            await route.fulfill(status=204)
            return
        self._is_served = True
        headers = headers_for(self._page, self._page.final)
        await route.fulfill(status=self._page.status, headers=headers, body=self._page.body)

    def _note(self, request: Request, where: str) -> None:
        if len(self._links) < _MOST_LINKS and (url := read_url(request.url, self._page.final)):
            self._links.setdefault(url.address, Link(url, where=where))

    async def _answer(self, route: Route) -> None:
        """Fetch what a script requests, and hand it to the browser."""
        from playwright.async_api import Error

        url = read_url(route.request.url, self._page.final)
        is_new = url is not None and url.address not in self._answers
        answer = await self._fetched(url) if url is not None else None
        if url is not None and (isinstance(answer, Failure) or route.request.resource_type != "script"):
            data = answer if isinstance(answer, Page) and is_data(answer) else None
            if data is not None and is_new and data.final.address == url.address:
                self._data.append(data)
            if len(self._links) < _MOST_LINKS:
                self._links.setdefault(url.address, Link(url, where="script" if data is None else SCRIPT_SRC))
        with suppress(Error):
            if isinstance(answer, Page):
                headers = headers_for(answer, self._page.final)
                await route.fulfill(status=answer.status, headers=headers, body=answer.body)
            else:
                await route.abort("blockedbyclient")

    async def _fetched(self, url: Url) -> Page | Failure:
        """Return the answer to a request, or the one that it had before."""
        known = self._answers.get(url.address)
        if known is None:
            known = self._answers[url.address] = await self._with_redirects(url)
            self._bytes += len(known.body) if isinstance(known, Page) else 0
        return known

    async def _with_redirects(self, url: Url) -> Page | Failure:
        """Request an address in the turn of its host, and what it redirects to on other hosts likewise."""
        target = url
        for _ in range(self._limits.redirects + 1):
            if not self._may_request(target):
                return Failure(target, FailureCode.ALLOW, "a page's scripts may not request this address")
            if self._is_spent:
                return Failure(target, FailureCode.BUDGET, "the limits of this page are reached")
            answer = await self._request(target)
            if isinstance(answer, Failure) or answer.location is None:
                return answer
            target = answer.location
        return Failure(url, FailureCode.REDIRECT_LOOP, f"more than {self._limits.redirects} redirects")

    async def _request(self, url: Url) -> Page | Failure:
        self._requests += 1
        begun = time.monotonic()
        try:
            if url.host == self._page.final.host:
                return await self._turn.fetch(url, purpose=Purpose.DATA)
            return await self._turn.fetch_elsewhere(url, purpose=Purpose.DATA)
        finally:
            self._waited_s += time.monotonic() - begun

    @property
    def _is_spent(self) -> bool:
        """Return whether the page may send no more requests."""
        limits = self._limits
        return (
            self._requests >= limits.requests
            or self._bytes >= limits.bytes
            or time.monotonic() - self._begun > _WALL_FACTOR * limits.time_s
        )

    # ------------------------------------------------------------------ time

    async def _until_quiet(self, opening: asyncio.Future[Any], world: World) -> None:
        """Answer requests until no more come, the scripts rest, or their time is over."""
        await self._within_time(asyncio.shield(opening))
        while self._left_s > 0 and not self.is_flooding:
            route = await self._within_time(self._asked.get(), _QUIET_S)
            if route is not None:
                await self._answer(route)
            elif await self._within_time(world.rest()) and self._asked.empty():
                return

    async def _document(self, world: World) -> str | None:
        """Return what the scripts left; None when they let nobody in."""
        try:
            async with asyncio.timeout(max(self._left_s, _TAKE_S)):
                return await world.document(self._limits.dom_chars)
        except TimeoutError:
            return None

    @property
    def _left_s(self) -> float:
        """Return how long the scripts may still run: of the time so far, the waits for requests are not theirs."""
        return self._limits.time_s - (time.monotonic() - self._begun - self._waited_s)

    @property
    def is_flooding(self) -> bool:
        """Return whether the page made so many requests, answered or not, that it will make them without end.

        Its browser is to be ended, because every request costs us time.
        """
        return self._intercepted > _FLOOD + 2 * self._limits.requests

    async def _within_time(self, awaited: Any, most_s: float = float("inf")) -> Any:
        """Await something while the scripts run; return None when it takes longer than they may run, or `most_s`."""
        try:
            async with asyncio.timeout(max(min(self._left_s, most_s), 0.0)):
                return await awaited
        except TimeoutError:
            return None

    def _with(self, document: str) -> Page:
        """Return the page with a document as its body; without validators, for scripts may write another next time."""
        dropped = ("content-type", "etag", "last-modified")
        headers = {name: value for name, value in self._page.headers.items() if name not in dropped}
        headers["content-type"] = "text/html; charset=utf-8"
        return replace(self._page, headers=headers, body=_BOM + document.encode("utf-8", "replace"))


_PASSED_ON = ("content-type", "content-security-policy", "x-content-type-options")
_NOBODY = "https://nobody.invalid"
"""An origin that no page has."""
_ALLOWED_ORIGIN = "access-control-allow-origin"


def headers_for(answer: Page, page: Url) -> dict[str, str]:
    """Return the header fields of an answer for the browser: its type, its policies, and who may read it (CORS).

    `page`: the page that runs. No cookie is ever set. A page may read answers of its own site; those of another site
    only if that site says so, as in any browser.
    """
    headers = {
        name: value
        for name, value in answer.headers.items()
        if name in _PASSED_ON or name.startswith("access-control-")
    }
    if answer.final.site != page.site:
        headers.setdefault(_ALLOWED_ORIGIN, _NOBODY)
    return headers


def is_data(answer: Page) -> bool:
    """Return whether an answer is JSON or XML, by its type or its first character."""
    if not 200 <= answer.status < 300:
        return False
    kind = answer.content_type
    if kind.endswith(("json", "xml")) and "html" not in kind and "svg" not in kind:
        return True
    begun = answer.body[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    return "script" not in kind and begun.startswith((b"{", b"[", b"<?xml"))
