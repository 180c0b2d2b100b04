"""`geocrawl kinds`: what is recognised as a service, and what proves it."""

from __future__ import annotations

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output


def kinds(json: opt.Json = False) -> None:
    """Which kinds of service are found: how an address is recognised, what proves it, whether content is asked for.

    Every KIND here can be given to `probe --kind`, `search --kind` and `export --kind`.
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
        content = "content asked for (`probe --maps`, crawls)" if row.content else "no content asked for"
        typer.echo(f"  content        {content}")
