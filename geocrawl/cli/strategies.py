"""`geocrawl strategies`: list the strategies and their constants."""

from __future__ import annotations

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output


def strategies(json: opt.Json = False) -> None:
    """List the strategies, which order the visits, with the constants of each.

    Example: geocrawl strategies, then geocrawl crawl --strategy gws --set gws.lambda=0.5 URL
    """
    from geocrawl.priority.registry import strategies as known
    from geocrawl.priority.registry import strategy_options

    if json:
        output.echo_json([{"name": name, "about": line, "settings": _settings(name)} for name, line in known().items()])
        return
    output.print_table(("strategy", "order of visits"), known().items())
    typer.echo("")
    rows = [
        (f"{name}.{option}", _value(each.default), each.help)
        for name in known()
        for option, each in strategy_options(name).items()
    ]
    output.print_table(("setting (--set)", "default", "meaning"), rows)


def _settings(name: str) -> list[dict[str, object]]:
    from geocrawl.priority.registry import strategy_options

    return [
        {"name": f"{name}.{option}", "default": each.default, "help": each.help}
        for option, each in strategy_options(name).items()
    ]


def _value(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default) or "-"
