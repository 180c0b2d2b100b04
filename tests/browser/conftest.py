"""Fixtures of tests that need Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from geocrawl.browser.renderer import find_chromium
from geocrawl.errors import GeocrawlError
from tests.browser.portal_web import PortalWeb, portals
from tests.support.parts import CHROMIUM, lack


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of Chromium; a test skips without it or Playwright, in CI it fails."""
    try:
        return find_chromium("")
    except GeocrawlError:
        lack(CHROMIUM)


@pytest.fixture
def web() -> Iterator[PortalWeb]:
    with portals() as running:
        yield running
