"""`geocrawl check-list`: check each entry of a list of layers as a client would, for people, CI and issue trackers."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from lxml import etree

from geocrawl import __version__
from geocrawl.app.list_check import EntryResult, EntryState, check_list
from geocrawl.app.list_entries import read_entries
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.crawler.report import RunSummary
from geocrawl.errors import UsageError
from geocrawl.files import MOST_TEXT_BYTES, read_whole
from geocrawl.sanitize import json_text, plain
from geocrawl.wording import counted

PROGRESS_S = 30.0
"""Time between two lines about the progress of a list."""


class ListFormat(StrEnum):
    """The formats of the result."""

    TABLE = "table"
    JSON = "json"
    JUNIT = "junit"
    MARKDOWN = "markdown"
    SARIF = "sarif"


def check_list_(
    overrides: opt.Overrides,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The list.")],
    format_: Annotated[ListFormat, typer.Option("--format", help="Output format.")] = ListFormat.TABLE,
    changed_since: Annotated[
        Path | None,
        typer.Option(
            "--changed-since", metavar="FILE", help="Only entries whose state is not that of this JSON result."
        ),
    ] = None,
) -> None:
    """Check each entry of a list as a client would: that layer, in its reference system, with a picture or a feature.

    FILE is CSV with the columns url and layer, an imagery index of editors (ELI as GeoJSON, JOSM as XML), an OGC
    context, a QGIS project or layer file, or a TerriaJS catalogue. A service is asked once for what its entries share.
    No catalogue is needed; if one exists, its politeness is shared.

    Exit code 0 when every entry works, 1 when one does not: its layer or reference system is missing, no content
    comes, it moved or is no service. What could not be asked (robots.txt, a template of tiles) is told and does not
    count.

    Examples:

        geocrawl check-list layers.csv

        geocrawl check-list imagery.geojson --format junit > report.xml

        geocrawl check-list imagery.geojson --format markdown --changed-since last-week.json
    """
    entries = read_entries(file)
    former = _former(changed_since)
    settings = opt.settings_from(overrides)
    output.show_in_full(settings.export_secrets)
    results, summary = check_list(
        settings,
        entries,
        share_with=opt.catalogue_if_any(settings),
        say=lambda text: None if settings.quiet else output.say(text),
        settled=_Progress() if not settings.quiet else lambda done, total: None,
    )
    shown = [result for result in results if former.get(_key(result.as_json())) != result.state]
    for line in _WRITERS[format_](shown, file):
        typer.echo(line)
    if not settings.quiet:
        counts = Counter(result.state for result in results)
        output.say(", ".join(f"{counts[state]:,} {state}" for state in EntryState if counts[state]))
    _end(summary, has_failed=any(result.has_failed for result in shown))


def _end(summary: RunSummary | None, *, has_failed: bool) -> None:
    """Exit with the code that fits the run, if there was one, and what is shown of its entries."""
    if summary is not None:
        output.end_interrupted(summary.interrupted)
        if summary.stopped == "outage":
            output.say("this machine could send no requests")
            raise typer.Exit(3)
    if has_failed:
        raise typer.Exit(1)


class _Progress:
    """Prints now and then how many services are done."""

    def __init__(self) -> None:
        self._said_at = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._said_at >= PROGRESS_S:
            self._said_at = now
            output.say(f"{done:,} of {counted(total, 'service')} done")


def _key(row: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what tells an entry from others in two results."""
    return row.get("name"), row.get("url"), tuple(row.get("layers") or ())


def _former(file: Path | None) -> dict[tuple[object, ...], str]:
    """Return entry → state of an earlier result. Raises UsageError for another file."""
    if file is None:
        return {}
    try:
        return {_key(row): row["state"] for row in json.loads(read_whole(file, MOST_TEXT_BYTES))}
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UsageError(f"{file}: not a result of `geocrawl check-list --format json`") from None


# --------------------------------------------------------------------------- formats


def _advice(result: EntryResult) -> str:
    """Return in a sentence what came of an entry, and what would mend it."""
    words = [plain(result.detail, 300) or result.reason]
    if result.nearest:
        words.append(f"nearest: {plain(result.nearest, 200)}")
    if result.moved_to:
        words.append(f"moved to {result.moved_to}")
    return "; ".join(filter(None, words))


def _table(results: Sequence[EntryResult], file: Path) -> Iterator[str]:
    for result in results:
        yield f"{result.state:<14}{plain(result.name, 80)}"
        named = f"  {plain(','.join(result.layers), 80)}" if result.layers else ""
        yield f"              {plain(output.as_shown(result.url))}{named}"
        if result.state is not EntryState.OK:
            yield f"              {plain(output.as_shown(_advice(result)))}"


def _json(results: Sequence[EntryResult], file: Path) -> Iterator[str]:
    yield output.as_shown(json_text([result.as_json() for result in results], indent=1))


def _junit(results: Sequence[EntryResult], file: Path) -> Iterator[str]:
    """Yield JUnit's XML, as CI servers read it."""
    suite = etree.Element(
        "testsuite",
        name=f"geocrawl check-list {plain(file.name)}",
        tests=str(len(results)),
        failures=str(sum(result.has_failed for result in results)),
        skipped=str(sum(result.state is EntryState.NOT_CHECKED for result in results)),
    )
    for result in results:
        label = f"{result.name} {','.join(result.layers)}".strip()
        case = etree.SubElement(suite, "testcase", name=plain(label), classname=plain(output.as_shown(result.url)))
        if result.state is not EntryState.OK:
            tag = "failure" if result.has_failed else "skipped"
            told = etree.SubElement(case, tag, message=plain(output.as_shown(_advice(result))))
            if result.has_failed:
                told.set("type", result.state)
    yield etree.tostring(suite, encoding="unicode", pretty_print=True)


def _markdown(results: Sequence[EntryResult], file: Path) -> Iterator[str]:
    def cell(text: str) -> str:
        return output.as_shown(plain(text, 300)).replace("|", "\\|").replace("<", "&lt;")

    yield "| state | entry | layers | what is wrong |"
    yield "|---|---|---|---|"
    for result in results:
        wrong = "" if result.state is EntryState.OK else _advice(result)
        layers = ", ".join(result.layers)
        yield f"| {result.state} | {cell(result.name)} | {cell(layers)} | {cell(wrong)} |"


def _sarif(results: Sequence[EntryResult], file: Path) -> Iterator[str]:
    """Yield SARIF 2.1.0, with the list's file as the place."""
    found = [result for result in results if result.state is not EntryState.OK]
    value = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "geocrawl",
                        "version": __version__,
                        "rules": [{"id": str(state)} for state in EntryState if state is not EntryState.OK],
                    }
                },
                "results": [
                    {
                        "ruleId": str(result.state),
                        "level": "error" if result.has_failed else "note",
                        "message": {"text": f"{result.name}: {_advice(result)}"},
                        "locations": [{"physicalLocation": {"artifactLocation": {"uri": file.as_posix()}}}],
                    }
                    for result in found
                ],
            }
        ],
    }
    yield output.as_shown(json_text(value, indent=1))


_WRITERS: Mapping[ListFormat, Callable[[Sequence[EntryResult], Path], Iterator[str]]] = {
    ListFormat.TABLE: _table,
    ListFormat.JSON: _json,
    ListFormat.JUNIT: _junit,
    ListFormat.MARKDOWN: _markdown,
    ListFormat.SARIF: _sarif,
}
