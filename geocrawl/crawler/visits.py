"""Share code between visits of pages and of endpoints: transient failures, retry times, 304, cut pages, a defect."""

from __future__ import annotations

import re
import traceback

from geocrawl.errors import OwnFault
from geocrawl.model import GUESS, FailureCode, HostState, Lease, Page, RankedLink, State, Visit
from geocrawl.resources import BACK, are_there, lack_of
from geocrawl.urls import RECORDS
from geocrawl.wording import LONGEST_S

NOT_MODIFIED = "not-modified"
"""Reason of a visit whose address answered that nothing was modified (304)."""

INTERNAL_ERROR = "internal-error"
"""Reason of a visit that an exception broke. The visit is tried again, because a later version may have no such defect.
"""

TRANSIENT = frozenset(
    {
        FailureCode.DNS,
        FailureCode.REFUSED,
        FailureCode.TIMEOUT_CONNECT,
        FailureCode.TIMEOUT_READ,
        FailureCode.TIMEOUT_TOTAL,
        FailureCode.RESET,
        FailureCode.TRUNCATED,
        FailureCode.BAD_HTTP,
        FailureCode.PROXY,
        FailureCode.MACHINE,
        FailureCode.READING_CRASH,
        "http-429",
        "http-500",
        "http-502",
        "http-503",
        "http-504",
    }
)
"""Reasons of failure that may pass until the next try. Any other failure is final until the address is due again."""


def retry_after_s(lease: Lease, first_s: float, asked_s: float | None = None) -> float:
    """Return how long to wait before the next try: `first_s`, doubled with each try so far, or longer if the server
    requested that.
    """
    return max(min(first_s * 2.0**lease.entry.attempts, LONGEST_S), asked_s or 0.0)


def page_retry_after_s(lease: Lease, first_s: float, page: Page) -> float:
    """Return how long to wait before a page that was refused is tried again: as long as a busy server requested (429,
    503), doubled with each try so far, else as `retry_after_s`. (Whether a service is alive is not decided in seconds.)
    """
    usual_s = retry_after_s(lease, first_s, page.retry_after_s)
    if page.retry_after_s is None or page.status not in (429, 503):
        return usual_s
    return min(max(page.retry_after_s, 1.0) * 2.0**lease.entry.attempts, usual_s)


def cut_off(visit: Visit, page: Page, first_s: float) -> Visit:
    """Return the visit of a page of records that ends in the middle: what it names is kept, and it is read again.

    A list goes on behind it only when it was read to its end, or when our own limit cut it. `first_s`: as in
    `retry_after_s`.
    """
    if page.cut and visit.portion is not None:
        return visit
    links = [each for each in visit.links if visit.portion is None or each.link.where != RECORDS]
    return visit._replace(
        state=State.FAILED,
        reason=str(FailureCode.TRUNCATED),
        links=tuple(links),
        portion=None,
        validators=None,
        retry_after_s=retry_after_s(visit.lease, first_s),
    )


def leads_on(visit: Visit, page: Page) -> bool:
    """Return whether a page of a harvest names records or services, or may be a portal's home, where they are
    guessed. A form for a password to which a redirect led does not: it stands in place of the page."""
    entry, own = visit.lease.entry, visit.lease.entry.url.address.partition("?")[0]
    is_listing = bool(visit.portion) or any(each.link.where != "redirect" for each in visit.links)
    if (entry.hops or page.hops) and not is_listing and _PASSWORD.search(page.body):
        return False
    is_named = any(  # a form without an action names its own page
        not each.evidence.signal.startswith(GUESS) and each.endpoint.url.address.partition("?")[0] != own
        for each, _ in visit.candidates
    )
    is_home = entry.depth == 0 and bool(visit.candidates)
    return is_listing or is_named or is_home


_PASSWORD = re.compile(rb"<input\b[^<>]{0,500}\btype\s*=\s*[\"']?password", re.I)


def moved(visit: Visit, link: RankedLink, *, is_harvest: bool) -> Visit:
    """Return the visit of a page that redirects to `link`. A harvest's page fails whose target is never visited, such
    as a login."""
    if is_harvest and link.refused:
        return visit._replace(state=State.FAILED, reason=link.refused)
    return visit._replace(links=(link,))


def not_modified(lease: Lease, page: Page, host: HostState, at: float) -> Visit:
    """Return the visit of a page or a service that answered "not modified" (304)."""
    return Visit(
        *(lease, State.VISITED, NOT_MODIFIED, host, at),
        final=page.final,
        http_status=page.status,
        elapsed_ms=page.elapsed_ms,
        not_modified=True,
    )


def broken(lease: Lease, error: Exception, host: HostState, at: float, first_s: float) -> Visit:
    """Return a failed visit instead of raising `error`: a defect of geocrawl, whatever the server sent.

    Raise OwnFault for an error that a lack of files, threads or disk caused. A lack of memory may come of the document.
    """
    if not isinstance(error, (MemoryError, OwnFault)) and (lack := lack_of(error)):
        raise OwnFault(lack, BACK, are_there) from error
    own = (lease, State.FAILED, INTERNAL_ERROR, host, at)
    fault = "".join(traceback.format_exception(error))
    return Visit(*own, retry_after_s=retry_after_s(lease, first_s), fault=fault)
