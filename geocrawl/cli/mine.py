"""`geocrawl mine`: find candidates for services and portals in files of web archives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.app.mine import ENGINES, Voice, mine_into_catalogue, mine_into_file
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.errors import UsageError
from geocrawl.mining.miner import MineReport
from geocrawl.mining.model import MinedFile, gather
from geocrawl.sanitize import plain
from geocrawl.wording import counted


def mine(
    overrides: opt.Overrides,
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files or folders: Parquet of an index, WAT, WARC.")
    ],
    engine: Annotated[
        str, typer.Option("--engine", metavar="duckdb|spark", help="What runs the SQL on an index.")
    ] = "duckdb",
    out: Annotated[
        Path | None,
        typer.Option(
            "--output", "--out", metavar="FILE", help="Write the candidates into this .csv, .jsonl or .parquet instead."
        ),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Find candidates for services and portals in files of web archives, such as Common Crawl's.

    Candidates are queued in the catalogue, where the next crawl probes them; portals become start pages. No request is
    sent: the files are on this machine (docs/archives.md tells how to get them). Stop it at any time: the same command
    resumes with the next file.

    Exit code 3 when a file could not be read; the others are mined.

    Examples:

        geocrawl mine cc-index/crawl=CC-MAIN-2026-43/subset=warc/

        geocrawl mine wat/ --output candidates.jsonl
    """
    if engine not in ENGINES:
        raise UsageError(f"--engine {engine!r}: expected {' or '.join(ENGINES)}")
    opt.refuse_catalogue(out, overrides)
    if out is not None and out.is_dir():
        raise UsageError(f"{out}: is a folder; name a file that ends in .csv, .jsonl or .parquet")
    sources = gather(paths)
    report = _mine(overrides, sources, engine, out, json=json)
    output.print_lines(_lines(report, out), json=json, value=report.as_json())
    if report.failed:
        raise typer.Exit(3)


def _mine(
    overrides: opt.Overrides, sources: Sequence[MinedFile], engine: str, out: Path | None, *, json: bool
) -> MineReport:
    """Mine into the catalogue, or into a file; progress goes to standard error."""
    settings = opt.settings_from(overrides)
    voice = Voice(_say, (lambda text: None) if settings.quiet else _say)
    if out is None:
        path = opt.new_database_path_from(settings, overrides)
        return mine_into_catalogue(settings, path, sources, engine=engine, voice=voice)
    catalogue = opt.database_path_from(settings)
    return mine_into_file(settings, out, sources, engine=engine, catalogue=catalogue, voice=voice)


def _say(text: str) -> None:
    output.say(plain(text, 600))


def _lines(report: MineReport, out: Path | None) -> Iterator[str]:
    """Yield the lines that say what was read and found."""
    read = [counted(report.files, "file")]
    if report.rows:
        read.append(f"{counted(report.rows, 'row')} of an index ({report.selected:,} selected)")
    if report.records:
        skipped = report.damaged + report.too_large
        read.append(counted(report.records, "record") + (f" ({skipped:,} skipped)" if skipped else ""))
    yield f"Mined: {', '.join(read)} in {report.seconds:.1f} s."
    if report.done_before:
        yield f"Mined before, and skipped: {counted(report.done_before, 'file')}."
    if report.failed:
        yield f"Could not be read: {counted(report.failed, 'file')}; the same command tries again."
    if report.refused:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(report.refused.items()))
        yield f"Left out: {reasons}."
    services, pages = counted(report.new_services, "service"), counted(report.new_pages, "page")
    if out is None:
        yield f"New: {services} to be probed, {pages} to begin with; `geocrawl crawl` visits them."
    elif report.files or report.done_before:
        yield f"{out}: {services} to be probed, {pages} to begin with."
