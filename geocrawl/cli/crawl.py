"""`geocrawl crawl`: crawl from given pages, or resume the queue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt

if TYPE_CHECKING:
    from geocrawl.settings import Settings


def crawl(
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", help="Pages to start from.")] = None,
    seeds: Annotated[Path | None, typer.Option("--seeds", metavar="FILE", help="More start pages, one a line.")] = None,
    db: opt.Db = None,
    strategy: Annotated[
        str | None, typer.Option("--strategy", metavar="NAME", help="Order of visits: fusion, gws, bfs … [fusion].")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A constant of the strategy: gws.lambda=0.7.")
    ] = None,
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="NAME", help="What to look for (see geocrawl topics) [WMS].")
    ] = None,
    max_pages: Annotated[
        int | None, typer.Option("--max-pages", metavar="N", help="Pages answered in this run [1000].")
    ] = None,
    max_depth: Annotated[int | None, typer.Option("--max-depth", metavar="N", help="Links from a seed [5].")] = None,
    max_time: Annotated[
        str | None, typer.Option("--max-time", metavar="DURATION", help="Longest run: 90, 10m, 2h.")
    ] = None,
    workers: opt.Workers = None,
    delay: opt.Delay = None,
    proxy: opt.Proxy = None,
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="any|site|host", help="Pages visited, relative to the seeds [any].")
    ] = None,
    allow_private: opt.AllowPrivate = False,
    user_agent: opt.UserAgent = None,
    contact: opt.Contact = None,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="Append every answer to this WARC file (.warc.gz).")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Visit the given pages again if they were visited.")] = False,
    store_pages: Annotated[
        bool, typer.Option("--store-pages", help="Keep pages of the topic, compressed, in the database.")
    ] = False,
    no_maps: opt.NoMaps = False,
    json: opt.Json = False,
    quiet: opt.Quiet = False,
    log_json: opt.LogJson = False,
    log_visits: opt.LogVisits = False,
) -> None:
    """Crawl from the given pages; without any, go on with what waits.

    Stop it at any moment (Ctrl-C): nothing settled is lost, and the next `geocrawl crawl` goes on from there.

    Examples:

        geocrawl crawl https://www.example.org/geodata/

        geocrawl crawl --seeds portals.txt --max-pages 20000 --max-time 8h

        geocrawl crawl --topic environment/soil --strategy best-first

        geocrawl crawl        (goes on)
    """
    settings = opt.settings_from(
        db=db,
        strategy=strategy,
        topic=topic,
        set=opt.pairs(set_) if set_ else None,
        max_pages=max_pages,
        max_depth=max_depth,
        max_time=max_time,
        workers=workers,
        delay=delay,
        proxy=proxy,
        scope=scope,
        allow_private=allow_private,
        user_agent=user_agent,
        contact=contact,
        store_pages=store_pages,
        maps=opt.maps_unless(no_maps),
        quiet=quiet,
        log_json=log_json,
        log_visits=log_visits,
    )
    _run(settings, urls or _topic_seeds(topic, seeds), seeds, again=again, record=record, json=json)


def _topic_seeds(topic: str | None, seeds: Path | None) -> list[str]:
    """The start pages of a topic that was named, where no others are given."""
    if not topic or seeds is not None:
        return []
    from geocrawl.app.wiring import find_topic

    return list(find_topic(topic).seeds)


def _run(
    settings: Settings, urls: list[str], seeds: Path | None, *, again: bool, record: Path | None, json: bool
) -> None:
    from geocrawl.app.crawl import run_crawl
    from geocrawl.cli.addresses import gather_seeds
    from geocrawl.cli.progress import observe

    given = gather_seeds(urls, seeds)
    path = opt.database_path_from(settings)
    with observe(settings, json=json) as observer:
        outcome = run_crawl(settings, path, given, again=again, observer=observer, record=record)
    opt.tell(outcome, json=json)
    if outcome.no_seed_answered:
        raise typer.Exit(1)
