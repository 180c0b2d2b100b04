"""Classify answers to requests for content, for the content checks of all kinds."""

from __future__ import annotations

from geocrawl.model import NOT_PERMITTED, Attempt, ContentOutcome, Failure, FailureCode, Page, Url
from geocrawl.probe.content.exceptions import exception_of
from geocrawl.probe.content.images import Picture, is_image, read_picture

_TIMEOUTS = frozenset({FailureCode.TIMEOUT_CONNECT, FailureCode.TIMEOUT_READ, FailureCode.TIMEOUT_TOTAL})
_REFUSED = NOT_PERMITTED | {FailureCode.ROBOTS, FailureCode.BUDGET}
_DETAIL_CHARS = 300


def refusal(answer: Page | Failure) -> tuple[ContentOutcome, str] | None:
    """Return (outcome, detail) of an answer without any content: no answer, an error status, an exception.

    None for any other answer. Never raises, whatever the body.
    """
    if isinstance(answer, Failure):
        if answer.code in _REFUSED:
            return ContentOutcome.REFUSED, answer.detail
        return (ContentOutcome.TIMEOUT if answer.code in _TIMEOUTS else ContentOutcome.HTTP_ERROR), answer.detail
    if answer.location is not None:
        return ContentOutcome.HTTP_ERROR, f"redirected to {answer.location.address}"
    if exception := exception_of(answer):
        return ContentOutcome.EXCEPTION, exception.line
    if not 200 <= answer.status < 300:
        return ContentOutcome.HTTP_ERROR, f"HTTP {answer.status}"
    return None


def picture_of(page: Page) -> Picture | str:
    """Return the image in a page; else a line that describes what came instead."""
    if is_image(page.body):
        return read_picture(page.body)
    named = page.content_type or "no Content-Type"
    if not page.body:
        return f"no bytes ({named})"
    first = page.body[:120].decode("utf-8", "replace")
    return f"{named}: {' '.join(''.join(c if c.isprintable() else ' ' for c in first).split())}"[:_DETAIL_CHARS]


def attempt(
    layer: str,
    crs: str,
    outcome: ContentOutcome,
    answer: Page | Failure,
    detail: str,
    url: Url,
    zoom: int | None = None,
) -> Attempt:
    """Return an entry of the content report."""
    return Attempt(layer, crs, outcome, answer.elapsed_ms, detail[:_DETAIL_CHARS], url.address, zoom)


def cors_of(answer: Page | Failure) -> str:
    """Return the header that a server sends to viewers of another origin (CORS); '' for none."""
    return answer.headers.get("access-control-allow-origin", "")[:200] if isinstance(answer, Page) else ""
