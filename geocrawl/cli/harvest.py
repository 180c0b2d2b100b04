"""`geocrawl harvest`: read a catalogue's records and probe the services that they name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt

if TYPE_CHECKING:
    from geocrawl.settings import Settings

_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")


def harvest(
    url: Annotated[str, typer.Argument(metavar="URL", help="The catalogue: CSW, CKAN, STAC, ArcGIS, DCAT …")],
    db: opt.Db = None,
    since: Annotated[
        str,
        typer.Option("--since", metavar="DAY|last", help="Only what changed since YYYY-MM-DD or the last harvest."),
    ] = "",
    max_pages: Annotated[
        int | None, typer.Option("--max-pages", metavar="N", help="Pages of records of this catalogue [200].")
    ] = None,
    max_records: Annotated[
        int | None, typer.Option("--max-records", metavar="N", help="Records of this catalogue [no limit].")
    ] = None,
    max_time: Annotated[
        str | None, typer.Option("--max-time", metavar="DURATION", help="Longest run: 10m, 2h.")
    ] = None,
    workers: opt.Workers = None,
    delay: opt.Delay = None,
    proxy: opt.Proxy = None,
    allow_private: opt.AllowPrivate = False,
    no_maps: opt.NoMaps = False,
    user_agent: opt.UserAgent = None,
    contact: opt.Contact = None,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    log_json: opt.LogJson = False,
    log_visits: opt.LogVisits = False,
) -> None:
    """Read the records of a catalogue, page by page, and probe the services that they name.

    Known are CSW, CKAN, ArcGIS portals and folders, GeoNetwork, STAC, OGC API Records and DCAT in RDF or JSON. Only
    pages of records are visited. Stop it at any moment: the same command goes on where it was.

    Examples:

        geocrawl harvest https://www.example.org/geonetwork/srv/eng/csw

        geocrawl harvest https://data.example.org/api/3/action/package_search --since last
    """
    from geocrawl.errors import UsageError

    if since and since != "last" and not _DAY.fullmatch(since):
        raise UsageError(f"--since {since!r}: expected a day such as 2024-05-31, or last")
    settings = opt.settings_from(
        db=db,
        max_records_pages=max_pages,
        max_records=max_records,
        max_time=max_time,
        workers=workers,
        delay=delay,
        proxy=proxy,
        allow_private=allow_private,
        maps=opt.maps_unless(no_maps),
        user_agent=user_agent,
        contact=contact,
        quiet=quiet,
        log_json=log_json,
        log_visits=log_visits,
    )
    _run(settings, url, since=since, json=json)


def _run(settings: Settings, url: str, *, since: str, json: bool) -> None:
    """Harvest, print what came of it; exit code 1 when no page of records was read."""
    from geocrawl.app.harvest import run_harvest
    from geocrawl.cli.addresses import gather_seeds
    from geocrawl.cli.progress import observe

    (catalogue,) = gather_seeds([url], None)
    path = opt.database_path_from(settings)
    with observe(settings, json=json) as observer:
        outcome = run_harvest(settings, path, catalogue, since=since, observer=observer)
    opt.tell(outcome, json=json)
    if not outcome.summary.pages:
        raise typer.Exit(1)
