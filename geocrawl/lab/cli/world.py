"""Implement `geocrawl world make` and `world check`: make a web from a seed, and check the folder of a recorded web."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output


def make(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What kind of web, see above.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new or empty folder.")],
    pages: Annotated[int, typer.Option("--pages", metavar="N", help="About so many pages.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Random seed; each gives a different web.")] = 0,
    vocabulary: Annotated[
        list[str] | None,
        typer.Option("--vocabulary", metavar="NAME", help="Only this theme (may be repeated) \\[some, by the seed]."),
    ] = None,
    troubled: Annotated[
        bool, typer.Option("--troubled", help="Add pages that answer 503 and 429, and links to a dead host.")
    ] = False,
    json: opt.Json = False,
) -> None:
    """Make a web of pages and services, the same for the same seed, for `geocrawl evaluate`.

    portal: a directory of map services. agency: many pages, few services. mixed: many sites in several languages.
    wiki: articles and their discussions. ckan: a catalogue of data sets and their files. blog: blogs and a forum.
    ministry: a ministry and its offices. geonetwork: metadata records. linklist: directories and rings of links.
    university: groups, people, courses. spa: applications of scripts and JSON. govsearch: a portal behind search forms.
    chinese: a family of Chinese sites.

    Example: geocrawl world make mixed --pages 5000 --seed 7 --out worlds/mixed-7
    """
    from geocrawl.lab.made_worlds.folder import make as make_world

    meta = make_world(kind, pages, seed, out, tuple(vocabulary or ()), troubled=troubled)
    if json:
        output.echo_json(meta)
        return
    counts = meta["counts"]
    typer.echo(
        f"{out}: {counts['pages']:,} pages on {counts['hosts']:,} hosts, {sum(counts['services'].values()):,} services"
    )
    typer.echo(f"WMS: {counts['wms_valid']:,} work, {counts['wms_valid_reachable']:,} of them can be reached")


def check(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders of recorded webs.")],
    json: opt.Json = False,
) -> None:
    """Check that all files of a recorded web exist, are complete and agree with each other.

    Example: geocrawl world check worlds/mixed-7
    """
    from geocrawl.lab.recorded_worlds.check import check as check_world

    reports = [check_world(folder) for folder in folders]
    if json:
        output.echo_json([report.as_json() for report in reports])
    else:
        for report in reports:
            typer.echo(report.line())
            for problem in report.problems:
                typer.echo(f"  {problem}")
    if any(report.problems for report in reports):
        raise typer.Exit(1)
