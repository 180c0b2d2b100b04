"""Extract validators from answers (RFC 9110, 8.8), and make the header fields of conditional requests.

To a conditional request a server answers 304 (Not Modified) instead of sending the same document again, which saves
nearly all bytes. A validator is kept only if it can be sent back unchanged and has a single meaning: printable ASCII of
a limited length, an entity tag in its quotes (a bare `*` would mean any document), and a date in the form that senders
must use.
"""

from __future__ import annotations

import re

from geocrawl.model import Page, Validators

MAX_ETAG_CHARS = 256
_OK = 200
_ETAG = re.compile(r'(?:W/)?"[\x20\x21\x23-\x7e]*"')  # RFC 9110, 8.8.3; a space within the quotes is tolerated
_DATE = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")  # 5.6.7


def validators_of(page: Page) -> Validators | None:
    """Return the validators of an answer that was read in full; None when it has none worth keeping."""
    if page.status != _OK or page.cut:
        return None
    etag, modified = (page.headers.get(name, "").strip() for name in ("etag", "last-modified"))
    if len(etag) > MAX_ETAG_CHARS or not _ETAG.fullmatch(etag):
        etag = ""
    if not _DATE.fullmatch(modified):
        modified = ""
    return Validators(page.final.address, etag, modified) if etag or modified else None


def conditions(validators: Validators) -> dict[str, str]:
    """Return the header fields of a conditional request (RFC 9110, 13.1.2 and 13.1.3).

    Both fields, where both validators are known: a server that knows entity tags ignores the date.
    """
    fields = {"If-None-Match": validators.etag, "If-Modified-Since": validators.modified}
    return {name: value for name, value in fields.items() if value}
