"""`geocrawl serve` and `mcp`: the catalogue as a web page, for other programs, and for assistants."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.export.properties import mail_of
from geocrawl.settings import Settings
from geocrawl.urls.database import file_of
from geocrawl.urls.hosts import in_url
from geocrawl.web.application import listen, make_application, run
from geocrawl.web.assistants.server import PATH, make_http_application, make_server
from geocrawl.web.csw.process import CswOptions, CswProcess, find_interpreter
from geocrawl.web.options import Options


def serve(
    overrides: opt.Overrides,
    host: opt.Host = "127.0.0.1",
    port: opt.Port = 8080,
    public_url: Annotated[
        str, typer.Option("--public-url", metavar="URL", help="Address of the pages behind a reverse proxy.")
    ] = "",
    rate: opt.Rate = 600,
    preview: Annotated[
        bool, typer.Option("--preview/--no-preview", help="Show layers live, by asking their services.")
    ] = True,
    csw: Annotated[bool, typer.Option("--csw", help="Serve CSW 2.0.2 and 3.0, too, by pycsw.")] = False,
    csw_port: Annotated[int, typer.Option("--csw-port", metavar="N", min=1, max=65535, help="Port of CSW.")] = 8081,
    csw_url: Annotated[
        str, typer.Option("--csw-url", metavar="URL", help="Address of CSW behind a reverse proxy.")
    ] = "",
) -> None:
    """Serve the catalogue, read-only: pages for people, OGC API – Records, CSW and feeds for programs.

    Examples:

        geocrawl serve

        geocrawl serve --port 9000 --public-url https://maps.example.org/catalogue

        geocrawl serve --csw
    """
    opt.check_address("--public-url", public_url)
    opt.check_address("--csw-url", csw_url)
    settings = opt.settings_from(overrides)
    with opt.reading(overrides) as catalogue:
        path = catalogue.place  # of one that is missing or not ours this tells before anything listens
    mail = mail_of({"email": settings.contact.removeprefix("mailto:")})
    own = (settings.trusted_proxies, settings.base_map, settings.base_map_credit)
    options = Options(path, host, port, public_url, rate, preview, mail, *own)
    shown = in_url(host)
    listening = listen(options)
    with _csw(settings, CswOptions(file_of(path, "CSW"), host, csw_port, csw_url, rate)) if csw else nullcontext():
        if csw:
            typer.echo(f"Serving CSW at http://{shown}:{csw_port}/", err=True)
        typer.echo(f"Serving {path} at http://{shown}:{port}/ (Ctrl-C ends it)", err=True)
        run(make_application(options, settings), options, listening)


def _csw(settings: Settings, options: CswOptions) -> CswProcess:
    return CswProcess(find_interpreter(settings.csw_python), options)


def mcp(
    overrides: opt.Overrides,
    http: Annotated[bool, typer.Option("--http", help="Serve HTTP instead of standard input and output.")] = False,
    host: opt.Host = "127.0.0.1",
    port: opt.Port = 8082,
    public_url: Annotated[
        str, typer.Option("--public-url", metavar="URL", help="Address behind a reverse proxy.")
    ] = "",
    rate: opt.Rate = 600,
) -> None:
    """Let assistants read the catalogue by the Model Context Protocol: search, services, layers, health, addresses.

    Needs pip install '.\\[mcp]' in geocrawl's folder. docs/assistants.md says how an assistant is told of it.

    Examples:

        geocrawl mcp

        geocrawl mcp --http --port 8082
    """
    opt.check_address("--public-url", public_url)
    settings = opt.settings_from(overrides)
    with opt.reading(overrides) as catalogue:
        path = catalogue.place
    options = Options(path, host, port, public_url, rate, preview=False, trusted_proxies=settings.trusted_proxies)
    if not http:
        make_server(options).run()
        return
    application = make_http_application(options)
    listening = listen(options)
    typer.echo(f"Serving {path} to assistants at http://{in_url(host)}:{port}{PATH} (Ctrl-C ends it)", err=True)
    run(application, options, listening)
