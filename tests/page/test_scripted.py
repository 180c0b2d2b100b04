"""Which pages are empty without script."""

from __future__ import annotations

import pytest

from geocrawl.model import Page
from geocrawl.page.document import PageReader, is_empty_without_script
from tests.support.crawls import url

SHELL = (
    "<!doctype html><title>App</title><link rel=icon href=/i.png><link rel=canonical href=/home>"
    "<noscript>You need to enable JavaScript to run this app.</noscript>"
    "<div id=root></div><a href='#top'>Top</a><a href=/app>Reload</a>"
)
SCRIPT = "<script src=/static/js/main.3f2a.js></script>"
PROSE = "Roads of the county, measured and drawn. " * 20


def is_empty(html: str, status: int = 200, **fields: str) -> bool:
    headers = {
        "content-type": "text/html; charset=utf-8",
        **{name.replace("_", "-"): value for name, value in fields.items()},
    }
    address = url("http://a.example/app")
    page = Page(address, address, status, headers, html.encode(), 1.0, 0.0)
    return is_empty_without_script(page, PageReader(max_scripts=5).read(page, depth=0))


def test_the_shell_of_an_application_is_empty() -> None:
    assert is_empty(SHELL + SCRIPT)
    assert is_empty(SHELL + "<script>start()</script>")


@pytest.mark.parametrize(
    "html",
    [
        SHELL,
        SHELL + SCRIPT + "<a href=/imprint>Imprint</a>",
        SHELL + SCRIPT + "<iframe src=/map></iframe>",
        SHELL + SCRIPT + "<form action=/search><input name=q></form>",
        SHELL + SCRIPT + f"<p>{PROSE}</p>",
        SHELL + SCRIPT + "<meta name=robots content='noindex, nofollow'>",
    ],
)
def test_a_page_that_has_content_or_wants_to_be_left_alone_is_not(html: str) -> None:
    assert not is_empty(html)


def test_errors_other_types_and_a_header_that_forbids_are_not() -> None:
    assert not is_empty(SHELL + SCRIPT, status=404)
    assert not is_empty(SHELL + SCRIPT, content_type="application/json")
    assert not is_empty(SHELL + SCRIPT, x_robots_tag="nofollow")
