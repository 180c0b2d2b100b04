"""Validators (RFC 9110, 8.8): what of an answer is kept to ask by later, and the fields that ask by it. Pure.

A server that is asked by them says 304 (Not Modified) in the place of a document that it would give once more, which
costs it and us a few hundred bytes. Kept is only what can be sent back as it came and cannot mean anything else:
printable ASCII, of a bounded length, an entity tag in its quotes (a bare `*` would mean "whatever there is") and a date
in the form that senders must use.
"""

from __future__ import annotations

import re

from geocrawl.model import Page, Validators

MAX_ETAG_CHARS = 256
_OK = 200
_ETAG = re.compile(r'(?:W/)?"[\x20\x21\x23-\x7e]*"')  # RFC 9110, 8.8.3; a space within the quotes is tolerated
_DATE = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")  # 5.6.7


def validators_of(page: Page) -> Validators | None:
    """Those of an answer that was read whole; None when it has none worth keeping."""
    if page.status != _OK or page.cut:
        return None
    etag, modified = (page.headers.get(name, "").strip() for name in ("etag", "last-modified"))
    if len(etag) > MAX_ETAG_CHARS or not _ETAG.fullmatch(etag):
        etag = ""
    if not _DATE.fullmatch(modified):
        modified = ""
    return Validators(page.final.address, etag, modified) if etag or modified else None


def conditions(validators: Validators) -> dict[str, str]:
    """The fields of a request for the answer, if it is another one than before (RFC 9110, 13.1.2 and 13.1.3).

    Both, where both are known: a server that knows entity tags passes the date by.
    """
    fields = {"If-None-Match": validators.etag, "If-Modified-Since": validators.modified}
    return {name: value for name, value in fields.items() if value}
