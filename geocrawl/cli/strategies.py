"""`geocrawl strategies` and `topics`: in which order pages are visited, and what a crawl looks for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.addresses import read_url_file
from geocrawl.config.names import setting_name
from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.files import MOST_TEXT_BYTES, read_whole
from geocrawl.priority.options import SEPARATOR
from geocrawl.priority.registry import presets, strategy_options
from geocrawl.priority.registry import strategies as known
from geocrawl.priority.topics import DEFAULT_TOPIC, MAX_SEEDS, Topic, all_topics, find_topic, topics_folder, write_topic
from geocrawl.sanitize import plain
from geocrawl.wording import counted


def strategies(
    show: Annotated[list[str] | None, typer.Argument(metavar="[show NAME]", help="Show only this one.")] = None,
    json: opt.Json = False,
) -> None:
    """List the strategies, which order the visits, with the constants of each, and the presets of the papers.

    A preset (gws:paper) is a strategy with the constants and rules that its paper prints, and with the settings of
    the paper's own crawls: depth, workers, signs of services, pages. Options and --set still change them.

    Example: geocrawl strategies show gws:paper, then geocrawl crawl --strategy gws:paper URL
    """
    if show:
        _show(show, json=json)
        return
    if json:
        about = {name: {"name": name, "about": line, "settings": _settings(name)} for name, line in known().items()}
        output.echo_json([{**each, "presets": _presets(name)} for name, each in about.items()])
        return
    output.print_table(("strategy", "order of visits"), known().items())
    typer.echo("")
    rows = [
        (f"{name}.{option}", _value(each.default), each.help)
        for name in known()
        for option, each in strategy_options(name).items()
    ]
    output.print_table(("setting (--set)", "default", "meaning"), rows)
    typer.echo("")
    output.print_table(("preset", "what it is"), [(name, preset.summary) for name, preset in presets().items()])
    typer.echo("")
    output.print_table(("constant of a preset", "value", "default", "in the paper", "ours"), _constants())
    typer.echo("")
    differs = [(name, sentence) for name, preset in presets().items() for sentence in preset.differs]
    output.print_table(("preset", "how it still differs from the paper"), differs)


def _show(words: list[str], *, json: bool) -> None:
    """Print one strategy or preset. Raises UsageError for an unknown name."""
    if len(words) != 2 or words[0] != "show":
        raise UsageError("expected: geocrawl strategies show NAME, such as gws:paper")
    name = words[1]
    options = strategy_options(name)  # raises for an unknown name
    strategy, preset = name.partition(SEPARATOR)[0], presets().get(name)
    if json:
        found = next((each for each in _presets(strategy) if each["name"] == name), None)
        output.echo_json(found or {"name": name, "about": known()[name], "settings": _settings(name)})
        return
    typer.echo(f"{name}: {known()[name] if preset is None else preset.summary}\n")
    if preset is None:
        rows = [(f"{name}.{option}", _value(each.default), each.help) for option, each in options.items()]
        output.print_table(("setting (--set)", "default", "meaning"), rows)
        return
    setup = [(setting_name(field), _value(value), source) for field, (value, source, _) in preset.setup.items()]
    output.print_table(("setting of its crawls", "value", "in the paper"), setup)
    typer.echo("")
    constants = [row for row in _constants() if row[0].startswith(f"{name}.")]
    output.print_table(("constant of a preset", "value", "default", "in the paper", "ours"), constants)
    typer.echo("")
    output.print_table(("how it still differs from the paper",), [(sentence,) for sentence in preset.differs])


def _constants() -> Iterator[tuple[str, str, str, str, str]]:
    """Yield (preset.option, value, the strategy's default, the paper's equation or rule, what is ours)."""
    for name, preset in presets().items():
        options = strategy_options(name)
        for option, (value, source, ours) in preset.constants.items():
            yield f"{name}.{option}", _value(value), _value(options[option].default), source, ours or "-"


def _settings(name: str) -> list[dict[str, object]]:
    return [
        {"name": f"{name}.{option}", "default": each.default, "help": each.help}
        for option, each in strategy_options(name).items()
    ]


def _presets(strategy: str) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "about": preset.summary,
            "constants": [{"name": option, **each._asdict()} for option, each in preset.constants.items()],
            "setup": [{"name": setting_name(field), **each._asdict()} for field, each in preset.setup.items()],
            "differs": list(preset.differs),
        }
        for name, preset in presets().items()
        if name.partition(SEPARATOR)[0] == strategy
    ]


def _value(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default) or "-"


def list_topics(json: opt.Json = False) -> None:
    """List the topics that are shipped with geocrawl and your own.

    Example: geocrawl topics list
    """
    topics = all_topics(topics_folder()).values()
    if json:
        keys = ("name", "title", "seeds", "own", "default")
        values = ((t.name, t.title, len(t.seeds), t.own, t.name == DEFAULT_TOPIC) for t in topics)
        output.echo_json([dict(zip(keys, row, strict=True)) for row in values])
        return
    rows = [(t.name, t.title, len(t.seeds), "yours" if t.own else "") for t in topics]
    output.print_table(("topic", "title", "start pages", ""), rows)


def show_topic(
    name: Annotated[str, typer.Argument(help="A topic, such as environment/soil.")],
    json: opt.Json = False,
) -> None:
    """Show a topic: its sample texts, its start pages and their source.

    Example: geocrawl topics show environment/soil
    """
    topic = find_topic(name, topics_folder())
    if json:
        output.echo_json(asdict(topic))
        return
    typer.echo(f"{topic.name}: {plain(topic.title)}{' (yours)' if topic.own else ''}\n")
    for text in topic.texts:
        typer.echo("\n".join(plain(line) for line in text.splitlines()) + "\n")
    if topic.seeds:
        source = f", from {plain(topic.seeds_source)}" if topic.seeds_source else ""
        typer.echo(f"{counted(len(topic.seeds), 'start page')}{source}:")
        for seed in topic.seeds:
            typer.echo(f"  {plain(seed)}")


def add_topic(
    name: Annotated[str, typer.Argument(help="GROUP/NAME in lower case, such as environment/peat.")],
    text: Annotated[
        list[Path],
        typer.Option("--text", metavar="FILE", help="Plain text about the topic; more files make it better."),
    ],
    seeds: Annotated[Path | None, typer.Option("--seeds", metavar="FILE", help="Start pages, one a line.")] = None,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Title \\[NAME].")] = "",
) -> None:
    """Add a topic that is learnt from sample texts; replace one of the same name.

    Example: geocrawl topics add environment/peat --text peat.txt --text moor.txt --seeds peat-portals.txt
    """
    folder = topics_folder()
    if folder is None:
        raise EnvironmentFault("this user has no home folder for topics: set HOME or XDG_DATA_HOME")
    found = [url.address for url in read_url_file(seeds)] if seeds else []
    if len(found) > MAX_SEEDS:
        typer.echo(f"geocrawl: only the first {MAX_SEEDS} of {len(found)} start pages are kept", err=True)
    texts = tuple(_read(path) for path in text)
    topic = Topic(name, title or name.rpartition("/")[2], texts, tuple(found[:MAX_SEEDS]), own=True)
    typer.echo(f"{name}: {write_topic(topic, folder)}")


def _read(path: Path) -> str:
    try:
        return read_whole(path, MOST_TEXT_BYTES).decode("utf-8-sig", "replace")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
