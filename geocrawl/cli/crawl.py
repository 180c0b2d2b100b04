"""`geocrawl crawl`: crawl from given pages, or resume the queue."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.app.crawl import run_crawl
from geocrawl.app.processes import Processes, read_task
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.addresses import gather_seeds
from geocrawl.cli.output import in_a_shell, mask_standard_streams
from geocrawl.cli.progress import ask_for_contact, log_of, logged_part, observe
from geocrawl.errors import GeocrawlError, UsageError
from geocrawl.filters import Filters, Sort
from geocrawl.priority.topics import find_topic, topics_folder
from geocrawl.sanitize import plain
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import counted


def crawl(
    overrides: opt.Overrides,
    urls: Annotated[list[str] | None, typer.Argument(metavar="[URL]...", help="Start pages.")] = None,
    seeds: Annotated[
        list[Path] | None, typer.Option("--seeds", metavar="FILE", help="More start pages, one a line (repeatable).")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Visit the given pages even if they were visited before.")
    ] = False,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="FILE", help="Append every answer to this WARC file (.warc.gz).")
    ] = None,
    json: opt.Json = False,
) -> None:
    """Crawl from the given pages; without URLs, resume the queue.

    Stop it at any time (Ctrl-C): no finished visit is lost, and the next `geocrawl crawl` resumes the queue.

    Examples:

        geocrawl crawl https://www.example.org/geodata/

        geocrawl crawl --seeds portals.txt --max-pages 20000 --max-time 8h

        geocrawl crawl --topic environment/soil --strategy best-first

        geocrawl crawl        (resumes)
    """
    opt.refuse_catalogue(record, overrides)
    urls, seeds = urls or [], seeds or []
    if not urls and not seeds:
        urls = _topic_seeds(overrides.get("topic"))
    _run(overrides, urls, seeds, again=again, record=record, json=json)


def _topic_seeds(topic: object) -> list[str]:
    """Return the start pages of a topic that was named as an option."""
    if not isinstance(topic, str) or not topic:
        return []
    return list(find_topic(topic, topics_folder()).seeds)


def _demand_catalogue(path: DatabaseUrl) -> None:
    """Raise UsageError when there is no catalogue whose queue could be resumed."""
    if not Store.exists(path):
        raise UsageError(
            f"no start page, and no catalogue at {path} to resume: give a page to start from, such as "
            "geocrawl crawl https://www.example.org/"
        )


def _run(
    overrides: opt.Overrides, urls: list[str], seeds: list[Path], *, again: bool, record: Path | None, json: bool
) -> None:
    notes: list[str] = []
    settings = opt.settings_of_run(overrides, notes.append)
    start_pages = gather_seeds(urls, *seeds)
    path = opt.new_database_path_from(settings, overrides)
    if not start_pages:
        _demand_catalogue(path)
    processes = _processes(settings, path, record) if settings.processes > 1 else None
    with (
        closing(processes) if processes else nullcontext(),
        observe(settings, json=json, max_pages=settings.max_pages, processes=processes) as observer,
    ):
        for note in notes:
            observer.noted(note)
        report = run_crawl(
            settings, path, start_pages, again=again, observer=observer, record=record, processes=processes
        )
    ask_for_contact(settings, log_of(settings))
    try:
        output.end_run(report, json=json, has_failed=report.no_seed_answered)
    finally:
        if report.services and sys.stdout.isatty() and not json:
            for line in last_lines(path, ("--db", str(path)) if "db" in overrides else ()):
                typer.echo(line)


def last_lines(path: DatabaseUrl, named: Sequence[str]) -> Iterator[str]:
    """Yield the five best services of a catalogue by name, and what to do next; `named`: the options that name it."""
    from geocrawl.store.catalogue.catalogue import Catalogue  # a tenth of a second, which a crawl does without

    with Catalogue(path) as catalogue:
        best = catalogue.find("", Filters(alive=True), sort=Sort.QUALITY, limit=5).hits
    yield ""
    for hit in best:
        yield f"  {plain(hit.title, 60)} ({hit.kind}, {counted(hit.layers, 'layer')})"
    yield f"Next: {in_a_shell('search', 'WORDS', *named)}"
    yield f"      {in_a_shell('serve', *named)}"


def _processes(settings: Settings, path: DatabaseUrl, record: Path | None) -> Processes:
    """Return the further processes of a crawl by several, which run `take_part`."""
    code = f"from geocrawl.resources import tune; tune(); from {__name__} import take_part; take_part()"
    return Processes(settings, path, record, (sys.executable, "-c", code))


def take_part() -> None:
    """Take part in a crawl that another process began; what this one does is logged, and counted by that one."""
    from geocrawl.app.crawl import take_part

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing to be settled yet
    task = read_task()
    mask_standard_streams()
    try:
        with logged_part(task.settings) as observer:
            take_part(task, observer)
    except GeocrawlError as error:
        sys.stderr.write(f"geocrawl: {error}\n")
        raise SystemExit(error.exit_code) from None
