"""`geocrawl strategies`: list the strategies, their constants, and the papers' constants (presets)."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output


def strategies(json: opt.Json = False) -> None:
    """List the strategies, which order the visits, with the constants of each, and the presets of the papers.

    A preset (gws:paper) is a strategy with the constants and rules that its paper prints; --set still changes them.

    Example: geocrawl strategies, then geocrawl crawl --strategy gws --set gws.lambda=0.5 URL
    """
    from geocrawl.priority.registry import presets, strategy_options
    from geocrawl.priority.registry import strategies as known

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


def _constants() -> Iterator[tuple[str, str, str, str, str]]:
    """Yield (preset.option, value, the strategy's default, the paper's equation or rule, what is ours)."""
    from geocrawl.priority.registry import presets, strategy_options

    for name, preset in presets().items():
        options = strategy_options(name)
        for option, (value, source, ours) in preset.constants.items():
            yield f"{name}.{option}", _value(value), _value(options[option].default), source, ours or "-"


def _settings(name: str) -> list[dict[str, object]]:
    from geocrawl.priority.registry import strategy_options

    return [
        {"name": f"{name}.{option}", "default": each.default, "help": each.help}
        for option, each in strategy_options(name).items()
    ]


def _presets(strategy: str) -> list[dict[str, object]]:
    from geocrawl.priority.presets import SEPARATOR
    from geocrawl.priority.registry import presets

    return [
        {
            "name": name,
            "about": preset.summary,
            "constants": [{"name": option, **each._asdict()} for option, each in preset.constants.items()],
            "differs": list(preset.differs),
        }
        for name, preset in presets().items()
        if name.partition(SEPARATOR)[0] == strategy
    ]


def _value(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default) or "-"
