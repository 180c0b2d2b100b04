"""Tell a client what is wrong with its request, or why it is not answered now: problem details (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

from geocrawl.web.publishing import as_json

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):
    """A request that gets no answer: its status and a sentence for people."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        """`detail` says what is wrong and what to do, and is shown to the client."""
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})

    @property
    def title(self) -> str:
        """Return the name of the status, such as Not Found."""
        return HTTPStatus(self.status).phrase


def bad_parameter(name: str, value: str, expected: str) -> Problem:
    """Return the problem of a parameter whose value cannot be read."""
    shown = value if len(value) <= 80 else f"{value[:79]}…"
    return Problem(400, f"{name}={shown}: expected {expected}")


def problem_response(problem: Problem) -> Response:
    """Return a problem as a JSON document."""
    body = {"type": "about:blank", "title": problem.title, "status": problem.status, "detail": problem.detail}
    return Response(
        as_json(body), problem.status, {**problem.headers, "Cache-Control": "no-store"}, media_type=MEDIA_TYPE
    )
