"""Request pages of records by POST from catalogues that refuse them by GET.

The page keeps the address of its GET, so its place in the queue, its slice and the page after it are the same either
way. What an endpoint takes is known after its first page; a new run, and each round of slices, finds out with one
request more.
"""

from __future__ import annotations

from dataclasses import replace

from geocrawl.model import Document, Failure, Page, Purpose, Url, Visit
from geocrawl.ports import Turn
from geocrawl.urls import records_page
from geocrawl.urls.posted import posted_records
from geocrawl.urls.slices import is_control

_REFUSALS = frozenset({"ok", "exception", "http-400", "http-404", "http-405", "http-406", "http-415", "http-501"})
"""Reasons of visits that brought no records though something answered: a report, an error, another document."""
_MOST_ENDPOINTS = 10_000


class PostedRecords:
    """Knows for one run which endpoints give records by POST, and requests them so."""

    def __init__(self) -> None:
        self._by_post: dict[str, bool] = {}
        """Endpoint → whether its records are requested by POST."""

    def is_wanted(self, url: Url) -> bool:
        """Return whether an address is a page of records that its endpoint gives by POST."""
        posted = posted_records(url)
        return posted is not None and self._by_post.get(posted.endpoint.identity, False)

    def may_help(self, url: Url, visit: Visit) -> bool:
        """Return whether a visit found no records by GET, and POST was not tried; note an endpoint that answers."""
        if (visit.portion is None and visit.reason not in _REFUSALS) or (posted := posted_records(url)) is None:
            return False
        if posted.endpoint.identity in self._by_post:
            return False
        if len(self._by_post) >= _MOST_ENDPOINTS:
            self._by_post.clear()
        self._by_post[posted.endpoint.identity] = False
        return visit.portion is None

    async def ask(self, url: Url, turn: Turn) -> Page | Failure:
        """Request a page of records by POST; the answer is that of the page's own address. No redirect is followed."""
        posted = posted_records(url)
        assert posted is not None, "only a page of records is requested so"
        answer = await turn.fetch(posted.endpoint, purpose=Purpose.PAGE, follow=lambda target: False, body=posted.body)
        return replace(answer, url=url) if isinstance(answer, Failure) else replace(answer, url=url, final=url)

    def note(self, url: Url, visit: Visit) -> bool:
        """Note whether a visit by POST brought records, and return it."""
        posted = posted_records(url)
        assert posted is not None, "only a page of records is requested so"
        self._by_post[posted.endpoint.identity] = visit.portion is not None
        return visit.portion is not None


def is_data(document: Document) -> bool:
    """Return whether a document is JSON or XML, as pages of records are, and not a page for people or a text."""
    return bool(document.json_keys) or document.xml_root.lower() not in ("", "html")


def is_exception(document: Document, *, is_harvest: bool = False) -> bool:
    """Return whether a document that was requested as a page of records reports an error instead, or holds records
    where a server that selects by date has none. `is_harvest`: whether any address is such a page."""
    if document.portion is not None:
        return bool(document.portion.matched or document.portion.ids) and is_control(document.url)
    if document.fault == "exception":
        return True
    if records_page(document.url) is None and not is_harvest:
        return False
    keys = document.json_keys
    return document.xml_root.lower().endswith("exceptionreport") or ("error" in keys and "results" not in keys)
