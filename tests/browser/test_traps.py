"""Pages that try to lead the browser past the crawler's rules, or to keep it busy without end."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from geocrawl.browser.renderer import Chromium, descendants
from geocrawl.model import SCRIPT_SRC
from tests.browser.runs import left, running
from tests.browser.traps import ALL, FORBIDDEN, Traps, traps

pytestmark = pytest.mark.usefixtures("chromium")


@pytest.fixture
def own() -> Iterator[Traps]:
    with traps() as found:
        yield found


async def test_nothing_reaches_a_host_that_the_deny_list_names(own: Traps) -> None:
    async with running(allow_private=True, deny=(FORBIDDEN,), browser_requests=99) as run:
        rendered = await run.page(own.page(ALL))
    assert own.sprung == []
    assert "/done/fetch" in own.asked, "the scripts ran"
    assert not [target for target in own.asked if target.startswith("/private/")], "robots.txt forbids these"
    named = {link.url.address.removeprefix(own.trap) for link in rendered.links}
    assert {"/fetch", "/worker", "/image.png", "/location", "/srcdoc"} <= named, "what was wanted is known"


async def test_nothing_reaches_a_private_address(own: Traps) -> None:
    async with running() as run:
        await run.given("http://portal.example/", own.html(ALL))
    assert own.sprung == []
    assert own.asked == []


async def test_webrtc_has_no_way_out_even_where_pages_keep_it(own: Traps, chromium: str) -> None:
    browser = await Chromium.start(chromium, memory_bytes=1 << 30)
    try:
        tab = await (await browser._browser.new_context()).new_page()
        await tab.set_content(own.html("webrtc"))
        assert await tab.evaluate("typeof RTCPeerConnection") == "function"
        await tab.wait_for_timeout(1_500)
    finally:
        await browser.close()
    assert own.sprung == []


@pytest.mark.long
async def test_pages_without_end_end(own: Traps) -> None:
    before = descendants(os.getpid())
    async with running(allow_private=True, browser_memory_bytes=700 << 20) as run:
        for name in ("endless loop", "same fetch", "memory", "tampering"):
            run.set_time(1.0)
            rendered = await run.page(own.page(name))
            assert len(rendered.page.body) < 10_000
        run.set_time(60.0)
        after = await run.page(own.page("fetch"))  # the next page is read as if nothing had been
        assert f"{own.own}/done/fetch" in {link.url.address for link in after.links}
    assert left(before, within_s=300.0) == 0


async def test_a_huge_document_is_cut_before_its_scripts_go_on(own: Traps) -> None:
    async with running(allow_private=True, page_body_bytes=100_000) as run:
        rendered = await run.page(own.page("long text"))
    lengths = [int(target.rpartition("/")[2]) for target in own.asked if target.startswith("/done/")]
    assert len(lengths) == 2 and 90_000 < min(lengths) <= max(lengths) <= 125_000
    assert 90_000 < len(rendered.page.body) <= 100_000 + len(b"\xef\xbb\xbf")


async def test_a_page_makes_no_more_requests_than_it_may(own: Traps) -> None:
    async with running(allow_private=True, browser_requests=4) as run:
        rendered = await run.page(own.page("endless fetches"))
    assert [target for target in own.asked if target.startswith("/data/")] == [f"/data/{n}" for n in range(4)]
    assert [link.where for link in rendered.links][:4] == [SCRIPT_SRC] * 4
