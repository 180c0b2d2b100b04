"""`geocrawl mcp`: the catalogue for assistants, by the Model Context Protocol."""

from __future__ import annotations

from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.store import Store
from geocrawl.urls.hosts import in_url
from geocrawl.web.application import listen, run
from geocrawl.web.assistants.server import PATH, make_http_application, make_server
from geocrawl.web.options import Options


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
    path = opt.database_path_from(settings)
    with Store.open_readonly(path):
        pass  # a catalogue that is missing or not ours is told here
    options = Options(path, host, port, public_url, rate, preview=False, trusted_proxies=settings.trusted_proxies)
    if not http:
        make_server(options).run()
        return
    application = make_http_application(options)
    listening = listen(options)
    typer.echo(f"Serving {path} to assistants at http://{in_url(host)}:{port}{PATH} (Ctrl-C ends it)", err=True)
    run(application, options, listening)
