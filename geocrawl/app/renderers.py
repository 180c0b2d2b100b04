"""Make the browser of a session that runs the scripts of pages, if its settings want one (`--browser`)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from geocrawl import __version__

if TYPE_CHECKING:
    from geocrawl.app.session import Session
    from geocrawl.ports import Renderer


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
    from geocrawl.fetch.http import user_agent

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
    from geocrawl.browser.installation import find_chromium

    return find_chromium(session.settings.browser_path)
