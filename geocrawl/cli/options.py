"""Options that several commands share: one name and one meaning each, and the settings they become."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import sqlite3

    from geocrawl.crawler.report import CrawlReport, HarvestReport
    from geocrawl.model import Kind
    from geocrawl.settings import Settings

Db = Annotated[str | None, typer.Option("--db", metavar="URL", help="Catalogue: a path or sqlite:///path.")]
Json = Annotated[bool, typer.Option("--json", help="Answer as JSON.")]
Secrets = Annotated[
    bool, typer.Option("--secrets", help="Keys, tokens and passwords in addresses in full; else *** stands for them.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Warnings and the result only.")]
LogJson = Annotated[bool, typer.Option("--log-json", help="Log lines as JSON.")]
LogVisits = Annotated[bool, typer.Option("--log-visits", help="Two log lines for each visit.")]
Proxy = Annotated[str | None, typer.Option("--proxy", metavar="URL", help="HTTP proxy for every request.")]
AllowPrivate = Annotated[
    bool, typer.Option("--allow-private", help="Also ask loopback, private and link-local addresses.")
]
NoMaps = Annotated[
    bool, typer.Option("--no-maps", help="Do not ask valid services for content (a map, a tile, a feature, a record).")
]
Delay = Annotated[
    str | None, typer.Option("--delay", metavar="DURATION", help="Between two requests to one host [1s].")
]
Workers = Annotated[int | None, typer.Option("--workers", metavar="N", help="Visits under way at once [5].")]
UserAgent = Annotated[str | None, typer.Option("--user-agent", metavar="TEXT", help="User-Agent header.")]
Contact = Annotated[
    str | None,
    typer.Option("--contact", metavar="TEXT", help="Where a site's owner can reach you: URL or mail address."),
]

Region = Annotated[
    str | None, typer.Option("--region", metavar="NAME", help="Africa, Americas, Asia, Europe, Oceania.")
]
Language = Annotated[str | None, typer.Option("--language", metavar="CODE", help="Of the country: de, fr, zh …")]


def settings_from(**options: Any) -> Settings:
    """The settings in force: given options first, then environment, files, defaults (`config.load`)."""
    from geocrawl.config import load

    given = {name: value for name, value in options.items() if value is not None and value is not False}
    return load(given, environ=os.environ, cwd=here()).settings


def here() -> Path:
    """The folder in which we were started. Raises EnvironmentFault when it is no more, or not for us to enter."""
    from geocrawl.errors import EnvironmentFault

    try:
        return Path.cwd()
    except OSError as error:
        raise EnvironmentFault(f"the current folder: {error.strerror}; change to another one (cd)") from None


def maps_unless(off: bool) -> bool | str | None:
    """The option `maps` of `settings_from`: switched off, or as configured."""
    return "false" if off else None


def database_path_from(settings: Settings) -> Path:
    """Where the catalogue lies."""
    from geocrawl.config import database_path

    return database_path(settings, os.environ)


@contextmanager
def reading(db: str | None) -> Iterator[sqlite3.Connection]:
    """A read-only connection to the catalogue; creates and changes nothing."""
    from geocrawl.store.engine.reading import open_readonly

    with open_readonly(database_path_from(settings_from(db=db))) as connection:
        yield connection


def kind_of(text: str) -> Kind:
    """The service kind that an option names, in any case; UsageError when there is none of that name."""
    from geocrawl.errors import UsageError
    from geocrawl.model import Kind

    try:
        return Kind(text.strip().lower())
    except ValueError:
        raise UsageError(f"--kind {text!r}: expected one of {', '.join(Kind)} (`geocrawl kinds`)") from None


def pairs(items: list[str]) -> dict[str, str]:
    """`--set KEY=VALUE` options as a mapping.

    Raises UsageError for one without '='.
    """
    from geocrawl.errors import UsageError

    out = {}
    for item in items:
        key, separator, value = item.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"--set {item!r}: expected KEY=VALUE, such as --set gws.lambda=0.7")
        out[key.strip()] = value.strip()
    return out


def tell(outcome: CrawlReport | HarvestReport, *, json: bool) -> None:
    """What a run did, as JSON or in a few lines."""
    if json:
        echo_json(outcome.as_json())
        return
    for line in outcome.lines():
        typer.echo(line)


def report(summary: Mapping[str, object], *, json: bool) -> None:
    """What was done, as JSON or a line each."""
    if json:
        echo_json(summary)
        return
    for key, value in summary.items():
        typer.echo(f"{key}: {value}")


def echo_json(value: object) -> None:
    """One JSON document or line on standard output, there at once also when it is a pipe."""
    import json

    typer.echo(json.dumps(value, ensure_ascii=False, default=str))
