"""`geocrawl kinds`: list the kinds of service, how each is recognised and what proves it."""

from __future__ import annotations

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output


def kinds(json: opt.Json = False) -> None:
    """List the kinds of service: how an address is recognised, what proves it, whether content is requested.

    Each KIND is a value of `probe --kind`, `search --kind` and `export --kind`.
    """
    from geocrawl.detect.overview import overview
    from geocrawl.probe.registry import declarations, kinds_with_content

    rows = overview(declarations(), kinds_with_content())
    if json:
        output.echo_json([row.as_json() for row in rows])
        return
    for row in rows:
        typer.echo(f"{row.kind:<13}{row.name}")
        typer.echo(f"  recognised by  {'; '.join(row.recognised)}")
        typer.echo(f"  proved by      {row.proof}")
        content = "requested by crawls and `probe --maps`" if row.content else "not requested"
        typer.echo(f"  content        {content}")
