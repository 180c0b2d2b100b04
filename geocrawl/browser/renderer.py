"""Render pages in Chromium (`ports.Renderer`): one browser for a run, started when a page first needs it, one page at a
time."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import shutil
import signal
import tempfile
import uuid
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.browser.page_run import PageLimits, PageRun
from geocrawl.errors import EnvironmentFault, needs_extra
from geocrawl.model import Page, RenderedPage, Url
from geocrawl.ports import Turn
from geocrawl.settings import Settings

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright


# --------------------------------------------------------------------------- Chromium
# Chromium is started without a way to the network, its memory is watched, and it is ended. The browser's own requests
# lead nowhere: no name can be looked up, and every connection goes through a proxy whose name cannot be looked up
# either. What a page requests is answered by `page_run`. Memory is read from Linux's /proc.


_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium(named: str) -> str:
    """Return the path of the Chromium to start: the one that is named, else the first one in PATH.

    Raises UsageError without Playwright, EnvironmentFault without Chromium, with what to install.
    """
    if find_spec("playwright") is None:
        raise needs_extra("--browser", "Playwright", "browser")
    for name in (named,) if named else _NAMES:
        if path := shutil.which(name):
            return path
    if named:
        fault = f"browser_path: {named} is not a program that can be run"
        raise EnvironmentFault(f"{fault}; name Chromium or Google Chrome")
    raise EnvironmentFault(
        "--browser needs Chromium, and none of these is in PATH: "
        + ", ".join(_NAMES)
        + " (Debian: apt install chromium); the setting browser_path may name it"
    )


_PROC = Path("/proc")
_PARENT = re.compile(r"\) \S (\d+) ")
"""The parent's number in /proc/PID/stat, behind the command's name and the state."""
_OWN_MEMORY = re.compile(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", re.M)


def descendants(root: int) -> list[int]:
    """Return the numbers of all processes that descend from `root`, parents first."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            if found := _PARENT.search((folder / "stat").read_text("utf-8", "replace")):
                children[int(found[1])].append(int(folder.name))
    found_pids, waiting = [], [root]
    while waiting:
        of_parent = children.get(waiting.pop(), [])
        found_pids += of_parent
        waiting += of_parent
    return found_pids


def called_with(argument: str) -> list[int]:
    """Return the numbers of this process's descendants that have an argument on their command line."""
    wanted, found = argument.encode(), []
    for pid in descendants(os.getpid()):
        with suppress(OSError):
            if wanted in (_PROC / str(pid) / "cmdline").read_bytes().split(b"\0"):
                found.append(pid)
    return found


def memory_bytes(pids: list[int]) -> int:
    """Return the memory in use by processes, without files that are mapped into it."""
    total_kb = 0
    for pid in pids:
        with suppress(OSError):
            status = (_PROC / str(pid) / "status").read_text("utf-8", "replace")
            total_kb += sum(int(part) for part in _OWN_MEMORY.findall(status))
    return total_kb * 1024


def limit_memory(pids: list[int], most_bytes: int) -> None:
    """Have the kernel refuse more memory to each of these processes, and to those that they start from now on."""
    if not hasattr(resource, "prlimit"):
        return
    for pid in pids:
        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_DATA, (most_bytes, most_bytes))


START_S = 30.0
"""Longest start of the browser."""
_END_S = 5.0
"""Longest wait for the browser to end by itself; then it is killed."""
_LOOK_S = 0.25
"""How often its memory is measured."""
_ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://nowhere.invalid:1",
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # as versions before 2024 call it
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
    "--mute-audio",
    "--renderer-process-limit=1",
)
_REMOVED = "for (const each of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete window[each];"
"""Takes from pages what could speak UDP, as the arguments above do, whose names have changed before."""
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ")
"""Variables of the environment that the browser gets: no settings, no passwords."""


class Chromium:
    """A running browser."""

    def __init__(self, playwright: Playwright, browser: Browser, mark: str, home: tempfile.TemporaryDirectory[str]):
        """`mark`: an argument by which the browser's process is known. `home`: its folder."""
        self._playwright = playwright
        self._browser = browser
        self._mark = mark
        self._home = home
        self._watch: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, executable: str, *, memory_bytes: int) -> Chromium:
        """Start a browser that may use so much memory. Raises playwright's Error or TimeoutError when it cannot run."""
        from playwright.async_api import async_playwright

        mark = f"--geocrawl={uuid.uuid4().hex}"
        home = tempfile.TemporaryDirectory(prefix="geocrawl-browser-", ignore_cleanup_errors=True)
        playwright = await async_playwright().start()
        try:
            browser = await playwright.chromium.launch(
                executable_path=executable,
                args=[*_ARGUMENTS, mark],
                ignore_default_args=["--disable-popup-blocking"],
                chromium_sandbox=os.geteuid() != 0,  # Chromium's sandbox does not work for root
                env={**{name: os.environ[name] for name in _PASSED_ON if name in os.environ}, "HOME": home.name},
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=START_S * 1000,
            )
        except BaseException:
            await playwright.stop()
            home.cleanup()
            raise
        chromium = cls(playwright, browser, mark, home)
        limit_memory(chromium._processes(), memory_bytes)
        chromium._watch = asyncio.create_task(chromium._end_when_too_large(memory_bytes))
        return chromium

    @property
    def is_running(self) -> bool:
        """Return whether the browser runs."""
        return bool(self._browser.is_connected())

    async def new_context(self, user_agent: str) -> BrowserContext:
        """Return a context without anything of other pages, to be closed by the caller."""
        context = await self._browser.new_context(
            user_agent=user_agent, service_workers="block", accept_downloads=False, locale="en-GB"
        )
        await context.add_init_script(_REMOVED)
        return context

    def kill(self) -> None:
        """End the browser's processes at once."""
        for pid in reversed(self._processes()):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    async def close(self) -> None:
        """End the browser, by force if it does not end by itself, and what drives it."""
        from playwright.async_api import Error

        if self._watch is not None:
            self._watch.cancel()
        try:
            async with asyncio.timeout(_END_S):
                await self._browser.close()
        except (Error, TimeoutError):
            self.kill()
        finally:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(_END_S):
                    await self._playwright.stop()
            self._home.cleanup()

    def _processes(self) -> list[int]:
        return [pid for root in called_with(self._mark) for pid in (root, *descendants(root))]

    async def _end_when_too_large(self, most_bytes: int) -> None:
        while self.is_running:
            if memory_bytes(self._processes()) > most_bytes:
                self.kill()
                return
            await asyncio.sleep(_LOOK_S)


# --------------------------------------------------------------------------- the renderer


_CLOSE_S = 5.0
"""Longest wait for a page to end; then the browser is ended."""
_DATA_BYTES = 20 * 1024 * 1024
"""Bytes that the scripts of one page receive at most, decoded."""


class BrowserRenderer:
    """Runs the scripts of pages (`ports.Renderer`)."""

    def __init__(self, settings: Settings, executable: str, *, user_agent: str, say: Callable[[str], object]) -> None:
        """`executable`: the Chromium to start. `say` is given a line for a person when it cannot be started."""
        self._settings = settings
        self._executable = executable
        self._user_agent = user_agent
        self._say = say
        self._limits = PageLimits(
            time_s=settings.browser_time_s,
            requests=settings.browser_requests,
            bytes=_DATA_BYTES,
            dom_chars=settings.page_body_bytes,
            redirects=settings.max_redirects,
        )
        self._alone = asyncio.Lock()
        self._browser: Chromium | None = None
        self._is_given_up = False

    async def render(self, page: Page, turn: Turn, may_request: Callable[[Url], bool]) -> RenderedPage | None:
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

    async def _run(self, run: PageRun, browser: Chromium) -> RenderedPage:
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
