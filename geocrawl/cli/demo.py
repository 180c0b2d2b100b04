"""`geocrawl demo`: serve a small web on this machine, crawl it and print the catalogue."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.app.crawl import run_crawl
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.output import in_a_shell
from geocrawl.cli.progress import observe
from geocrawl.config import user_folder
from geocrawl.demo import DemoWeb
from geocrawl.errors import EnvironmentFault
from geocrawl.settings import Settings
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.store.upkeep.backup import remove_if_only_of
from geocrawl.urls import read_url
from geocrawl.urls.database import DatabaseUrl


def demo(
    json: opt.Json = False,
    serve: Annotated[
        bool, typer.Option("--serve", help="Do not crawl: keep the web running until Ctrl-C, for crawls by hand.")
    ] = False,
) -> None:
    """Serve a small web on this machine, crawl it and print the catalogue. No request leaves the machine.

    Examples:

        geocrawl demo

        geocrawl demo --serve        (prints the command that crawls it)
    """
    if serve:
        _serve()
        return
    _crawl(json=json)


def _serve() -> None:
    """Serve the web until Ctrl-C, which is the normal end."""
    # A shell that started us in the background had SIGINT ignored, and we would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with DemoWeb() as web:
            typer.echo(_served(web) + " Ctrl-C ends it.")
            typer.echo("Crawl it, and see what was found, from another terminal:\n")
            typer.echo(f"  {_crawl_line(web, Path('demo.db'))}")
            typer.echo(f"  {in_a_shell('status', '--db', 'demo.db')}")
            sys.stdout.flush()
            threading.Event().wait()
    except KeyboardInterrupt:
        return


def _served(web: DemoWeb) -> str:
    return f"Serving a web of {len(web.content.hosts)} hosts on this machine, through the proxy {web.proxy_url}."


def _crawl_line(web: DemoWeb, path: DatabaseUrl) -> str:
    return in_a_shell("crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0", "--db", str(path))


def _crawl(*, json: bool) -> None:
    with DemoWeb() as web:
        path = _fresh_database(web.content.hosts)
        seeds = [url for url in map(read_url, web.seeds) if url is not None]
        # The web is ours: it needs no delay between requests.
        settings = Settings(
            proxy=web.proxy_url, delay_s=0.0, contact="demo@localhost", quiet=json, database_patience_s=10
        )
        if not json:
            typer.echo(_served(web))
            typer.echo(f"$ {_crawl_line(web, path)}")
        with observe(settings, json=json, max_pages=settings.max_pages) as observer:
            report = run_crawl(settings, path, seeds, observer=observer)
    output.print_lines(report.lines(), json=json, value=report.as_json())
    if not json:
        _print_catalogue(path)


def _fresh_database(hosts: Iterable[str]) -> Path:
    """Return the path of the demo's catalogue in the user's cache folder, after deleting that of a former run.

    A catalogue that holds other hosts than the demo's stays: its owner crawled into it. Raises DatabaseFault then,
    EnvironmentFault while another process uses it.
    """
    path = user_folder("cache", os.environ) / "demo.db"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EnvironmentFault(f"{path}: {error.strerror or error}; the demo keeps its catalogue there") from None
    remove_if_only_of(path, {host.partition(":")[0] for host in hosts}, time.time())
    return path


def _print_catalogue(path: DatabaseUrl) -> None:
    with Catalogue(path) as catalogue:
        rows = list(catalogue.read_endpoints())
    rows.sort(key=lambda row: (row.status != "valid", row.reason, row.url))
    typer.echo("")
    output.print_table(
        ("verdict", "kind", "checked", "layers", "title or reason", "address"),
        [
            (
                row.status,
                row.kind,
                row.level,
                row.layers,
                row.title if row.status == "valid" else row.reason,
                row.url.removeprefix("http://"),
            )
            for row in rows
        ],
        least=("layers", "checked"),
    )
    typer.echo("\nCommands to try on it:")
    for command in ("status", "search 地图", "show 1", "export", "serve"):
        typer.echo(f"  {in_a_shell(*command.split(), '--db', str(path))}")
    typer.echo("To keep this web running, for crawls by hand, previews and QGIS:")
    typer.echo(f"  {in_a_shell('demo', '--serve')}")
    typer.echo("To watch your own part of the web for months, as a service (docs/operating.md):")
    typer.echo(f"  {in_a_shell('service', 'install', '--dry-run')}")
