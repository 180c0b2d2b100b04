"""`geocrawl harvest`: read the records of a catalogue and probe the services that they name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output

if TYPE_CHECKING:
    from geocrawl.settings import Settings

_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")


def harvest(
    overrides: opt.Overrides,
    url: Annotated[str, typer.Argument(metavar="URL", help="The catalogue: CSW, CKAN, STAC, ArcGIS, DCAT …")],
    since: Annotated[
        str,
        typer.Option(
            "--since", metavar="DAY|last", help="Only records changed since YYYY-MM-DD or since the last harvest."
        ),
    ] = "",
    json: opt.Json = False,
) -> None:
    """Read the records of a catalogue, page by page, and probe the services that they name.

    Supported are CSW, CKAN, ArcGIS portals and folders, GeoNetwork, STAC, OGC API Records and DCAT in RDF or JSON. Only
    pages of records are visited. Stop it at any time: the same command resumes.

    Examples:

        geocrawl harvest https://www.example.org/geonetwork/srv/eng/csw

        geocrawl harvest https://data.example.org/api/3/action/package_search --since last
    """
    from geocrawl.errors import UsageError

    if since and since != "last" and not _DAY.fullmatch(since):
        raise UsageError(f"--since {since!r}: expected a day such as 2024-05-31, or last")
    _run(opt.settings_from(overrides), url, since=since, json=json)


def _run(settings: Settings, url: str, *, since: str, json: bool) -> None:
    """Harvest and print the report; exit with 1 when no page of records was read."""
    from geocrawl.app.harvest import run_harvest
    from geocrawl.cli.addresses import gather_seeds
    from geocrawl.cli.ends import end_interrupted
    from geocrawl.cli.progress import observe

    (catalogue,) = gather_seeds([url])
    path = opt.new_database_path_from(settings)
    with observe(settings, json=json) as observer:
        report = run_harvest(settings, path, catalogue, since=since, observer=observer)
    output.print_report(report, json=json)
    end_interrupted(report.summary.interrupted)
    if report.summary.stopped == "outage":
        raise typer.Exit(3)
    if not report.summary.records:
        raise typer.Exit(1)
