"""Run the scripts of pages that are empty without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from geocrawl.model import Page, Rendered, Url
from geocrawl.ports.fetching import Turn


class Renderer(Protocol):
    """A browser that sends no request by itself; to be closed once."""

    async def render(self, page: Page, turn: Turn, may_request: Callable[[Url], bool]) -> Rendered | None:
        """Run the scripts of a page and return what they wrote and requested; None when no browser can do that.

        What the scripts request is requested in this turn if `may_request` permits it, within the limits of a page.
        Raises what `Turn.fetch`
        raises.
        """

    async def close(self) -> None:
        """End the browser, if it was started."""
