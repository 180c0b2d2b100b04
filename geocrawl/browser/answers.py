"""Make of our fetcher's answers what a browser may get of them."""

from __future__ import annotations

from geocrawl.model import Page, Url

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
