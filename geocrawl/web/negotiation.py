"""Read what a client wants: HTML or JSON, which language."""

from __future__ import annotations

from enum import StrEnum

from starlette.requests import Request

from geocrawl.web.problems import Problem, bad_parameter


class Format(StrEnum):
    """The format of an answer."""

    HTML = "html"
    JSON = "json"


LANGUAGES = ("en", "zh")
_JSON_TYPES = ("application/json", "application/*")
_JSON_SUFFIX = "+json"
"""Ends the media types whose documents are JSON (RFC 6839), such as that of OpenAPI."""
_HTML_TYPES = ("text/html", "application/xhtml+xml", "text/*")


def preferences(header: str) -> list[tuple[str, float]]:
    """Return the values of an Accept header with their weights, the most wanted first (RFC 9110, 12.5.1)."""
    found = []
    for part in header.split(",")[:40]:
        value, *parameters = (each.strip() for each in part.split(";"))
        weight = 1.0
        for parameter in parameters:
            if parameter.lower().startswith("q="):
                try:
                    weight = min(max(float(parameter[2:]), 0.0), 1.0)
                except ValueError:
                    weight = 0.0
        if value and weight > 0:
            found.append((value.lower(), weight))
    return sorted(found, key=lambda each: -each[1])


def wanted_format(request: Request) -> Format:
    """Return the format that `f` or Accept names, JSON without either. Raises Problem 400 for another `f`, 406 when
    Accept names none that there is."""
    if (named := request.query_params.get("f")) is not None:
        try:
            return Format(named.lower())
        except ValueError:
            raise bad_parameter("f", named, "html or json") from None
    if request.headers.get("hx-request") == "true":  # htmx accepts anything, and means a part of the page
        return Format.HTML
    accepted = preferences(request.headers.get("accept", "*/*"))
    for value, _ in accepted:
        if value in _HTML_TYPES:
            return Format.HTML
        if value in _JSON_TYPES or value == "*/*" or value.endswith(_JSON_SUFFIX):
            return Format.JSON
    if not accepted:
        return Format.JSON
    raise Problem(406, "there is HTML (text/html) and JSON (application/json), and Accept names neither")


def wanted_language(request: Request) -> str:
    """Return the language that `lang` or Accept-Language names; English when it is neither of the two."""
    named = request.query_params.get("lang", "").lower()
    if named in LANGUAGES:
        return named
    for value, _ in preferences(request.headers.get("accept-language", "")):
        if value.partition("-")[0] in LANGUAGES:
            return value.partition("-")[0]
    return LANGUAGES[0]
