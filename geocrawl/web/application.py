"""Put the application together (routes, formats, what becomes of errors), and run it by uvicorn."""

from __future__ import annotations

import asyncio
import socket
import sys
import traceback
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from types import MappingProxyType
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.resources import allow_open_files, long_run
from geocrawl.sanitize import plain
from geocrawl.settings import Settings
from geocrawl.urls.hosts import in_url
from geocrawl.web import discovery
from geocrawl.web.answers import (
    CLIENT,
    Answers,
    Format,
    Make,
    Problem,
    Turns,
    Workers,
    problem_response,
    wanted_format,
    wanted_language,
)
from geocrawl.web.connections import MOST_CONNECTIONS, Connections
from geocrawl.web.downloads import FILES, download
from geocrawl.web.guard import Guard
from geocrawl.web.options import IDLE_S, Options
from geocrawl.web.pages import found_layers, months, overview, search, service, statistics, status
from geocrawl.web.pages.provider import provider_document, provider_page
from geocrawl.web.pages.qgis_layer import layer_file
from geocrawl.web.preview import Previews, info, legend, preview
from geocrawl.web.reader import SEARCHES, CatalogueReader, Finder
from geocrawl.web.records import documents, items, metadata, oai, openapi, sources
from geocrawl.web.site import ITEMS, LAYERS, STATIC, STATUS, Site, base_url, page, renumbered, site_of

_ITEM = f"{ITEMS}/{{number}}"
_RENDERERS = 2
"""Threads that make the bodies of answers."""
_LOCAL = ("localhost", "127.0.0.1", "[::1]")


def make_application(options: Options, settings: Settings) -> Starlette:
    """Return the application (ASGI). It opens the catalogue when it starts; no request writes to it but for the
    politeness of previews."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        turns = Turns()
        reader, finder = CatalogueReader(options.path, turns=turns), Finder(options.path, turns)
        renderers = Workers(_RENDERERS, "answers", turns)
        previews = Previews(settings, options.path, renderers) if options.preview else None
        app.state.site = Site(options, reader, finder, Answers(reader.generation, renderers), previews)
        warming = [asyncio.create_task(_warm(finder, client)) for client in range(SEARCHES)]
        try:
            yield
        finally:
            for warmed in warming:
                warmed.cancel()
            for each in (reader, finder, renderers):
                each.close()
            if previews is not None:
                await previews.close()

    return Starlette(
        routes=_routes(),
        lifespan=lifespan,
        middleware=[
            Middleware(
                Guard,
                requests_per_minute=options.requests_per_minute,
                hosts=hosts_of(options),
                images=_tiles_from(options),
            ),
        ],
        exception_handlers={Problem: _on_problem, HTTPException: _on_http_exception, Exception: _on_error},
    )


async def _warm(finder: Finder, client: int) -> None:
    """Let one of the threads that search read its facts before the first visitor waits for them."""
    CLIENT.set(client)
    with suppress(Problem):  # the first visitor is told, then
        await finder.whole()


def hosts_of(options: Options) -> list[str]:
    """Return the names by which the server may be asked; none, for any, where others than this machine reach it and
    the operator names no public address."""
    public = urlsplit(options.public_url).hostname or ""
    if options.host not in ("localhost", "127.0.0.1", "::1") and not public:
        return []
    return [*_LOCAL, in_url(options.host), *([public] if public else [])]


def _tiles_from(options: Options) -> str:
    """Return the origin of the tiles of the base map, from which pages may load pictures; '' for none."""
    parts = urlsplit(options.base_map)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""


# --------------------------------------------------------------------------- routes


def _routes() -> list[Route | Mount]:
    return [
        Route("/", _in_formats(html=overview.overview, json=documents.landing)),
        Route("/api", _in_formats(html=openapi.api_page, json=openapi.openapi)),
        *(Route(path, _in_formats(html=html, json=json)) for path, (html, json) in documents.DOCUMENTS.items()),
        Route(ITEMS, _in_formats(html=search.search, json=items.items, others=_of_a_search())),
        Route(
            _ITEM,
            _in_formats(html=service.service, json=items.item, others=dict.fromkeys(metadata.FORMS, metadata.one)),
        ),
        Route(f"{_ITEM}/layers", _kept(service.layers)),
        Route(f"{_ITEM}/layer.qlr", _kept(layer_file)),
        Route(f"{_ITEM}/health", _kept(items.health)),
        Route(f"{_ITEM}/history", _kept(items.history)),
        Route(f"{_ITEM}/changes", _kept(items.changes)),
        Route(
            f"{_ITEM}/months",
            _in_formats(html=months.months_page, json=months.months_document, others={"csv": months.months_file}),
        ),
        Route(f"{_ITEM}/badge.svg", _kept(items.badge)),
        Route(f"{_ITEM}/thumbnail", _kept(items.thumbnail)),
        Route(f"{_ITEM}/preview", preview),
        Route(f"{_ITEM}/legend", legend),
        Route(f"{_ITEM}/info", info),
        Route(
            LAYERS, _in_formats(html=search.layers, json=found_layers.layers_document, others=found_layers.LAYER_FILES)
        ),
        Route("/providers", _in_formats(html=provider_page, json=provider_document)),
        Route(STATUS, _in_formats(html=status.status_page, json=status.status_document)),
        Route("/operations", _kept(statistics.operations)),
        Route("/statistics", _kept(statistics.statistics)),
        Route(sources.PATH, _kept(sources.sources)),
        Route(oai.PATH, _kept(oai.oai)),
        Route("/feed.atom", _kept(discovery.atom)),
        Route("/feed.json", _kept(discovery.json_feed)),
        Route("/opensearch.xml", _kept(discovery.opensearch)),
        Route("/sitemap.xml", _kept(discovery.sitemap)),
        Route("/sitemap-{part}.xml", _kept(discovery.sitemap_part)),
        Route("/robots.txt", _kept(discovery.robots)),
        Mount("/static", _LastingFiles(directory=STATIC)),
    ]


def _of_a_search() -> Mapping[str, Make]:
    """Return the formats that only a search has besides HTML and JSON: files to take along, and records of others."""
    return {**dict.fromkeys(FILES, download), **dict.fromkeys(metadata.FORMS, metadata.found)}


def _in_formats(*, html: Make, json: Make, others: Mapping[str, Make] = MappingProxyType({})) -> Make:
    """Return an endpoint that answers in the format that the client wants; `others`: value of `f` → what makes it."""

    async def answer(request: Request) -> Response:
        if (named := metadata.wanted(request)) in others:
            return await _answer(request, others[named], named)
        wants_html = wanted_format(request) is Format.HTML
        return await _answer(request, html if wants_html else json, "html" if wants_html else "json")

    return answer


def _kept(make: Make) -> Make:
    """Return an endpoint whose answers are kept."""

    async def answer(request: Request) -> Response:
        return await _answer(request, make, "")

    return answer


async def _answer(request: Request, make: Make, format_: str) -> Response:
    part = request.headers.get("hx-request", "")
    key = "\n".join((format_, wanted_language(request), part, base_url(request), request.url.path, request.url.query))
    return await site_of(request).answers.answer(request, key, make)


class _LastingFiles(StaticFiles):
    """Serves the shipped files, whose addresses change with their content."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except HTTPException:
            raise Problem(404, "there is no such file") from None

    def file_response(self, *arguments: object, **named: object) -> Response:
        """Return a file that clients keep."""
        response = super().file_response(*arguments, **named)  # type: ignore[arg-type]  # passed on as they came
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


# --------------------------------------------------------------------------- errors


async def _on_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem), "registered for this class"
    if error.status == 404 and (address := await renumbered(request)):
        return RedirectResponse(address, 301)
    return _shown(request, error)


async def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException), "registered for this class"
    detail = "there is nothing at this address" if error.status_code == 404 else error.detail
    return _shown(request, Problem(error.status_code, detail, headers=error.headers))


async def _on_error(request: Request, error: Exception) -> Response:
    """Write an internal error to standard error; the client learns only that there was one."""
    sys.stderr.write(f"geocrawl: internal error at {request.url.path}\n{''.join(traceback.format_exception(error))}")
    return problem_response(Problem(500, "an internal error; the operator finds it in the log"))


def _shown(request: Request, problem: Problem) -> Response:
    """Return a problem as a page for people, as JSON for programs."""
    try:
        wants_html = wanted_format(request) is Format.HTML
    except Problem:
        wants_html = False
    if not wants_html:
        return problem_response(problem)
    response = page(request, "problem.html", {"problem": problem}, status=problem.status).finished()
    response.headers.update({**problem.headers, "Cache-Control": "no-store"})
    return response


# --------------------------------------------------------------------------- the server

_HEAD_BYTES = 32 * 1024


def config_of(application: ASGIApp, options: Options) -> uvicorn.Config:
    """Return how uvicorn serves an application."""
    return uvicorn.Config(
        application,
        host=options.host,
        port=options.port,
        http=Connections().protocol,  # type: ignore[arg-type]  # of h11, which bounds a head
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=5,
        limit_concurrency=MOST_CONNECTIONS,
        forwarded_allow_ips=list(options.trusted_proxies),
        h11_max_incomplete_event_size=_HEAD_BYTES,
    )


def listen(options: Options) -> socket.socket:
    """Return a socket that listens at the options' address. Raises EnvironmentFault when the address cannot be had,
    UsageError for an invalid host."""
    try:
        options.host.encode("idna")
        family = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.create_server((options.host, options.port), family=family)
    except UnicodeError:
        raise UsageError(f"--host = {plain(options.host)}: expected the address or the name of a host") from None
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]  # Python repeats the address there
        raise EnvironmentFault(
            f"{options.host}:{options.port}: the server could not start ({reason}); choose another --host or --port"
        ) from error
    # Connections inherit it. Otherwise a body waits for the client to confirm the head: 40 ms. asyncio sets it only on
    # sockets that name their protocol, which those of `create_server` do not.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def run(application: ASGIApp, options: Options, listening: socket.socket) -> None:
    """Serve on a listening socket until a signal comes. Raises EnvironmentFault when the application does not start."""
    allow_open_files(0)
    server = uvicorn.Server(config_of(application, options))
    with long_run():
        server.run(sockets=[listening])
    if not server.started:
        raise EnvironmentFault(f"{options.host}:{options.port}: the server could not start; the log says why")
