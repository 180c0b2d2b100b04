"""Hold the parts that the answers are made with, read the service of a request, and make links and pages."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from geocrawl import __version__
from geocrawl.model.details import ServiceDetail
from geocrawl.model.kinds import short_name
from geocrawl.probe.registry import declared
from geocrawl.query.places import country_name
from geocrawl.web import charts
from geocrawl.web.answers import LazyResponse, Problem, wanted_language
from geocrawl.web.publishing import as_json, published, web_address
from geocrawl.web.reader import CatalogueReader, Finder
from geocrawl.web.texts import Words, sentence_of
from geocrawl.wording import Sentence, iso, spell_duration

if TYPE_CHECKING:
    from geocrawl.web.answers import Answers
    from geocrawl.web.options import Options
    from geocrawl.web.preview import Previews

STATIC = Path(__file__).parent / "static"
ITEMS = "/collections/services/items"
LAYERS = "/layers"
STATUS = "/status"


@dataclass(frozen=True, slots=True)
class Site:
    """What the answers are made with."""

    options: Options
    reader: CatalogueReader
    finder: Finder
    answers: Answers
    previews: Previews | None


def site_of(request: Request) -> Site:
    """Return the parts of the application that answers a request."""
    site: Site = request.app.state.site
    return site


def base_url(request: Request) -> str:
    """Return the address of the root of the pages as the public knows it, without a slash at the end."""
    public = site_of(request).options.public_url
    return public.rstrip("/") if public else str(request.base_url).rstrip("/")


# --------------------------------------------------------------------------- the service of a request

_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


def number_of(request: Request) -> int:
    """Return the number of the service in a request's path. Raises Problem 404 for other text."""
    text = str(request.path_params["number"])
    if not _NUMBER.fullmatch(text):
        raise unknown(text)
    return int(text)


async def renumbered(request: Request) -> str:
    """Return the address of a request under the number that its service has now; '' where the number is the same.
    A path begins with the number of its service nowhere but there: `…/items/25/badge.svg`."""
    text = str(request.path_params.get("number", ""))
    if not _NUMBER.fullmatch(text):
        return ""
    number = await site_of(request).reader.read(lambda catalogue: catalogue.number(int(text)))
    if number == int(text):
        return ""
    before, _, after = request.url.path.rpartition(f"/{text}")
    return str(request.url.replace(scheme="", netloc="", path=f"{before}/{number}{after}"))


async def detail_of(request: Request, number: int) -> ServiceDetail:
    """Return a service with its history. Raises Problem 404 for a number that no service has (any more)."""
    detail = await find_detail(request, number)
    if detail is None:
        raise unknown(str(number))
    return detail


async def find_detail(request: Request, number: int) -> ServiceDetail | None:
    """Return a service with its history; None for a number that no service has (any more)."""
    now = time.time()
    detail = await site_of(request).reader.read(lambda catalogue: catalogue.service(number, past_until=now))
    return detail if detail is not None and detail.service.id == number else None


def unknown(text: str) -> Problem:
    """Return the problem of an unknown service."""
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    said = Sentence("there is no service {number} in the catalogue; it may have been removed", number=shown)
    return Problem(404, said)


# --------------------------------------------------------------------------- links and pages


class Links:
    """Makes the addresses of pages for one request: in the language that the visitor chose, below the public root.

    Templates ask it also for what differs where no server is, in `static_site.pages.SiteLinks`."""

    has_server, has_feeds, title = True, True, "geocrawl"
    menu = (
        *((ITEMS, "search"), ("/providers", "providers"), ("/statistics", "statistics")),
        *(("/operations", "operations"), ("/api", "interfaces")),
    )
    """(path, name of its text) of what each page leads to."""

    def __init__(self, request: Request) -> None:
        self.base = base_url(request)
        self.root = "/" + self.base.split("://", 1)[-1].partition("/")[2] if "://" in self.base else ""
        self.root = self.root.rstrip("/")
        chosen = request.query_params.get("lang")
        self._fixed = {"lang": wanted_language(request)} if chosen else {}
        self.footer = (
            *((self("/feed.atom"), "Atom"), (self("/feed.json"), "JSON Feed")),
            (self("/collections/services", f="html"), "OGC API – Records"),
        )
        """(address, name) of what each page ends with."""

    def __call__(self, path: str, /, **parameters: object) -> str:
        """Return the path of a page with these parameters; those that are None or '' are left out."""
        given = {key.rstrip("_"): value for key, value in {**self._fixed, **parameters}.items()}
        query = urlencode({key: value for key, value in given.items() if value not in (None, "")}, doseq=True)
        return f"{self.root}{quote(path)}" + (f"?{query}" if query else "")

    def static(self, name: str) -> str:
        """Return the address of a shipped file, which changes with its content."""
        return f"{self.root}/static/{name}?v={digest_of(STATIC / name)}"

    def service(self, number: int, **parameters: object) -> str:
        """Return the path of a service's page."""
        return self(f"{ITEMS}/{number}", **parameters)

    def thumbnail(self, number: int) -> str:
        """Return the path of the picture that a content check kept of a service."""
        return self(f"{ITEMS}/{number}/thumbnail")

    def provider(self, name: str) -> str:
        """Return the path of what a provider offers."""
        return self("/providers", name=name)


@cache
def digest_of(file: Path) -> str:
    """Return what tells the content of a shipped file from another."""
    return blake2b(file.read_bytes(), digest_size=6).hexdigest()


def _finalized(value: Any) -> Any:
    """Return what a template shows of a value: no text of the web reaches a page with a secret or a control in it."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return published_text(value) if len(value) <= _SHORT_CHARS else published(value)


_SHORT_CHARS = 80


@lru_cache(maxsize=20_000)
def published_text(text: str) -> str:
    """Return a published text; short ones, and values of facets, stand on many pages."""
    shown: str = published(text)
    return shown


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("geocrawl.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["web_address"] = web_address
    environment.filters["json"] = _json_in_html
    environment.filters["iso"] = lambda at: at if isinstance(at, str) else iso(at)
    environment.filters["country"] = _country
    environment.filters["duration"] = spell_duration
    environment.filters["kind_name"] = _kind_name
    environment.filters["short_name"] = short_name
    environment.filters["code"] = _code
    environment.globals["charts"] = charts
    environment.globals["version"] = __version__
    environment.globals["sentence_of"] = sentence_of
    return environment


@pass_context
def _country(context: Context, code: str) -> str:
    """Return the name of a country in the language of the page."""
    return country_name(code, context["t"].language)


def _kind_name(kind: str) -> str:
    """Return the name of a kind of service for people."""
    return declared(kind).name


def rendered(template: str, context: Mapping[str, Any]) -> str:
    """Return a page made of a template, with every text in it masked and plain."""
    return _environment().get_template(template).render(context)


def _code(text: str) -> Markup:
    """Return lines to copy as they are typed in, each of them masked and plain behind its indentation."""
    lines = text.split("\n")
    kept = (line[: len(line) - len(line.lstrip(" "))] + published(line) for line in lines)
    return Markup("\n").join(kept)  # escapes them


def _json_in_html(value: Any) -> Markup:
    """Return JSON that may stand in a script element that holds data: no `<`, `>` or `&` is in it."""
    text = as_json(value).decode()
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704  # escaped above


def page(request: Request, template: str, values: Mapping[str, Any], *, status: int = 200) -> LazyResponse:
    """Return an HTML page in the visitor's language, to be finished."""
    language = wanted_language(request)
    context = {
        "t": Words(language),
        "link": Links(request),
        "lang": language,
        "now": time.time(),
        "path": request.url.path,
        "items_path": ITEMS,
        "layers_path": LAYERS,
        "base_map": site_of(request).options.base_map,
        "base_map_credit": site_of(request).options.base_map_credit,
        "parameters": dict(request.query_params),
        "canonical": "",
        **values,
    }

    def render() -> str:
        return rendered(template, context)

    return LazyResponse(render, status, {"Content-Language": language}, "text/html; charset=utf-8")


def attachment(body: bytes | str, name: str, media_type: str) -> Response:
    """Return a file that a browser saves under a name."""
    return Response(body, headers={"Content-Disposition": f'attachment; filename="{name}"'}, media_type=media_type)


def document(value: Any, media_type: str = "application/json", *, status: int = 200) -> LazyResponse:
    """Return a JSON document, masked and plain, to be finished; `value`: the content, or a function that returns it."""
    return LazyResponse(lambda: as_json(value() if callable(value) else value), status, {}, media_type)
