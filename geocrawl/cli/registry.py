"""Every command by its name, in the order of `geocrawl --help`, and the class that imports a command when it is used.

A new command is a function in a file of this room and a line in `COMMANDS`. The laboratory's commands are listed like
all others and left out where `geocrawl.lab` is not installed. The shell completes values of options: kinds, formats,
countries, strategies.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command
from typer.models import ParameterInfo

from geocrawl.cli.options import with_format, with_settings, with_wide
from geocrawl.cli.output import MaskedCommands

_QUERIES = re.compile("WORDS|QUERY")
"""Found in the names of arguments that are words of a query."""

COMMANDS: Mapping[str, str] = {
    "crawl": "geocrawl.cli.crawl:crawl",
    "retry": "geocrawl.cli.maintenance:retry",
    "demo": "geocrawl.cli.demo:demo",
    "probe": "geocrawl.cli.probe:probe",
    "check-list": "geocrawl.cli.check_list:check_list_",
    "harvest": "geocrawl.cli.probe:harvest",
    "mine": "geocrawl.cli.mine:mine",
    "recognise": "geocrawl.cli.recognise:recognise",
    "identify": "geocrawl.cli.recognise:identify",
    "kinds": "geocrawl.cli.probe:kinds",
    "signals": "geocrawl.cli.stats:signals",
    "merge": "geocrawl.cli.maintenance:merge",
    "split": "geocrawl.cli.maintenance:split",
    "daemon": "geocrawl.cli.daemon:daemon",
    "pause": "geocrawl.cli.daemon:pause",
    "resume": "geocrawl.cli.daemon:resume",
    "reload": "geocrawl.cli.daemon:reload",
    "stop": "geocrawl.cli.daemon:stop",
    "backup": "geocrawl.cli.maintenance:backup",
    "restore": "geocrawl.cli.maintenance:restore",
    "migrate": "geocrawl.cli.maintenance:migrate",
    "workers": "geocrawl.cli.daemon:workers",
    "check": "geocrawl.cli.status:check",
    "doctor": "geocrawl.cli.status:doctor",
    "metrics": "geocrawl.cli.status:metrics",
    "forget": "geocrawl.cli.maintenance:forget",
    "release": "geocrawl.cli.maintenance:release",
    "status": "geocrawl.cli.status:status",
    "search": "geocrawl.cli.search:search",
    "show": "geocrawl.cli.show:show",
    "serve": "geocrawl.cli.serve:serve",
    "export": "geocrawl.cli.export:export",
    "publish": "geocrawl.cli.publish:publish",
    "snapshot": "geocrawl.cli.snapshot:snapshot",
    "mcp": "geocrawl.cli.serve:mcp",
    "why": "geocrawl.cli.show:why",
    "history": "geocrawl.cli.show:history",
    "changes": "geocrawl.cli.show:changes",
    "stats": "geocrawl.cli.stats:stats",
    "report": "geocrawl.cli.stats:report",
    "watch add": "geocrawl.cli.watch:add",
    "watch list": "geocrawl.cli.watch:list_",
    "watch remove": "geocrawl.cli.watch:remove",
    "watch import": "geocrawl.cli.watch_import:import_",
    "watch send": "geocrawl.cli.watch:send",
    "watch downtime": "geocrawl.cli.downtime:downtime",
    "watch ack": "geocrawl.cli.downtime:ack",
    "strategies": "geocrawl.cli.strategies:strategies",
    "evaluate": "geocrawl.lab.cli.evaluate:evaluate",
    "service install": "geocrawl.cli.daemon:install",
    "service uninstall": "geocrawl.cli.daemon:uninstall",
    "seeds add": "geocrawl.cli.seeds:add",
    "seeds list": "geocrawl.cli.seeds:list_",
    "seeds check": "geocrawl.cli.seeds:check",
    "seeds remove": "geocrawl.cli.seeds:remove",
    "pages list": "geocrawl.cli.pages:list_",
    "pages show": "geocrawl.cli.pages:show",
    "pages export": "geocrawl.cli.pages:export",
    "config show": "geocrawl.cli.maintenance:show_config",
    "config check": "geocrawl.cli.maintenance:check_config",
    "topics list": "geocrawl.cli.strategies:list_topics",
    "topics show": "geocrawl.cli.strategies:show_topic",
    "topics add": "geocrawl.cli.strategies:add_topic",
    "train topic": "geocrawl.lab.cli.train:topic",
    "train links": "geocrawl.lab.cli.train:links",
    "train bayes": "geocrawl.lab.cli.train:bayes",
    "train fusion": "geocrawl.lab.cli.train:fusion",
    "train vectors": "geocrawl.lab.cli.train:vectors",
    "world make": "geocrawl.lab.cli.world:make",
    "world check": "geocrawl.lab.cli.world:check",
}
"""Command → module:function."""

TABLES = frozenset(
    {
        *("changes", "config show", "demo", "evaluate", "pages list", "search", "seeds check", "seeds list", "signals"),
        *("stats", "strategies", "topics list", "watch downtime", "watch import", "watch list", "workers"),
    }
)
"""Commands that print tables, which `--wide` prints uncut."""

PANELS: Mapping[str, tuple[str, ...]] = {
    "Find services": (
        *("crawl", "retry", "harvest", "mine", "probe", "check-list", "recognise", "identify", "seeds", "topics"),
        *("kinds", "strategies", "demo"),
    ),
    "Use the catalogue": (
        *("search", "show", "serve", "export", "publish", "snapshot", "mcp", "status", "history", "changes"),
        *("stats", "report", "watch", "why", "signals", "pages"),
    ),
    "Maintain the catalogue": (
        *("backup", "restore", "migrate", "merge", "split", "forget", "release", "check", "doctor"),
        *("metrics", "workers"),
    ),
    "Run as a service": ("daemon", "pause", "resume", "reload", "stop", "service", "config"),
    "Compare strategies": ("evaluate", "train", "world"),
}
"""Heading of `geocrawl --help` → the commands under it."""

GROUPS: Mapping[str, str] = {
    "service": "Install or remove the systemd service.",
    "seeds": "Manage the daemon's start pages.",
    "watch": "Tell people when services die, return, lose layers, or a search finds new ones.",
    "pages": "List, show and export the pages that `geocrawl crawl --store-pages` kept.",
    "config": "Show the settings in force and where each value comes from; check a configuration file.",
    "topics": "List, show and add topics for `geocrawl crawl --topic NAME`.",
    "train": "Train the models of the strategies.",
    "world": "Make and check recorded webs on which strategies are compared.",
}
"""First word of two-word commands → help."""


def installed_commands() -> Mapping[str, str]:
    """Return `COMMANDS` without those of the laboratory where `geocrawl.lab` is not installed."""
    if find_spec("geocrawl.lab"):
        return COMMANDS
    return {name: target for name, target in COMMANDS.items() if not target.startswith("geocrawl.lab.")}


class WithHelp:
    """What the help of commands and of groups has in common."""

    def get_params(self, ctx: Any) -> Any:
        """Return the options and arguments; a switch takes nothing, where Typer would show its type."""
        parameters = super().get_params(ctx)  # type: ignore[misc]  # Typer's
        for each in parameters:
            if getattr(each, "is_flag", False):
                each.metavar = ""
        return parameters

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help. That its reader has gone (`| head`) is no error."""
        try:
            super().format_help(ctx, formatter)  # type: ignore[misc]  # Typer's
        except SystemExit:  # Rich ends with 1 then
            raise SystemExit(0) from None


class Command(WithHelp, TyperCommand):
    """A command that says how a word of a query is written that looks like an option (`-historic`)."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read options and arguments."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            option = getattr(error, "option_name", "")
            if option[:1] == "-" != option[1:2] and any(_QUERIES.search(str(param.metavar)) for param in self.params):
                error.message += f". Write words that begin with - last, after --: {ctx.command_path} … -- -word"  # type: ignore[attr-defined]  # Typer's
            raise


class CommandGroup(WithHelp, MaskedCommands):
    """A group whose commands are those of `installed_commands` that begin with its `prefix`, each imported on use."""

    prefix = ""
    """'' for the program itself, 'seeds ' for the group `seeds`."""
    _imports_nothing = False

    @cached_property
    def _names(self) -> list[str]:
        names = (name.removeprefix(self.prefix) for name in installed_commands() if name.startswith(self.prefix))
        return list(dict.fromkeys(name.partition(" ")[0] for name in names))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of this group's commands, in the table's order."""
        return self._names

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the command, or return None when this group has none of that name."""
        if self._imports_nothing:
            return _outline(self.prefix + cmd_name)
        if cmd_name in self._names and cmd_name not in self.commands:
            self.add_command(_load(self.prefix + cmd_name), cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the group, which lists its commands."""
        with self._without_imports():
            super().format_help(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return what may complete a word, commands among them."""
        with self._without_imports():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _without_imports(self) -> Iterator[None]:
        """Have `get_command` return outlines: to import all commands takes a second."""
        self._imports_nothing = True
        try:
            yield
        finally:
            self._imports_nothing = False

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that `args` begin with."""
        if args and args[0] not in self._names:  # the base class suggests near names among those that are loaded
            for name in self._names:
                self.get_command(ctx, name)
        return super().resolve_command(ctx, args)


def _load(name: str) -> Any:
    """Return the command or the group of commands of that full name."""
    if name in GROUPS:
        group = CommandGroup(name=name, help=GROUPS[name], no_args_is_help=True, rich_markup_mode="rich")
        group.prefix = f"{name} "
        return group
    module, _, function_name = COMMANDS[name].partition(":")
    function: Callable[..., None] = getattr(import_module(module), function_name)
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    single.command(name.rpartition(" ")[2], cls=Command, help=help_of(function.__doc__))(
        with_values(with_settings(with_format(with_wide(function) if name in TABLES else function), name))
    )
    return get_command(single)


def _outline(name: str) -> TyperCommand:
    """Return a command with no more than its name and help, which is read from its source."""
    panel = next((title for title, names in PANELS.items() if name in names), None)
    help_ = GROUPS[name] if name in GROUPS else help_of(_docstring(*COMMANDS[name].split(":")))
    return TyperCommand(name=name.rpartition(" ")[2], help=help_, rich_markup_mode="rich", rich_help_panel=panel)


def _docstring(module: str, function: str) -> str | None:
    """Return the docstring of a function in a module that is not imported."""
    return next(
        ast.get_docstring(node)
        for node in _parsed(module).body
        if isinstance(node, ast.FunctionDef) and node.name == function
    )


@cache
def _parsed(module: str) -> ast.Module:
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None, f"{module} has a source"
    return ast.parse(Path(spec.origin).read_text("utf-8"))


def help_of(docstring: str | None) -> str:
    """Return the docstring of a command with each paragraph on one line: the terminal decides where lines break."""
    paragraphs = inspect.cleandoc(docstring or "").split("\n\n")
    return "\n\n".join(
        paragraph if paragraph.startswith(" ") else " ".join(paragraph.split()) for paragraph in paragraphs
    )


_CHOICES = re.compile(r"[a-z0-9%-]+(?:\|[a-z0-9%-]+)+")
"""A metavar that lists what may be given: table|json|jsonl."""


def with_values(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a command, whose options with known values complete them."""
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        for info in (parameter.default, *getattr(parameter.annotation, "__metadata__", ())):
            if not isinstance(info, ParameterInfo) or info.autocompletion is not None:
                continue
            if _CHOICES.fullmatch(metavar := info.metavar or ""):
                info.autocompletion = _completing(metavar.split("|"))
            elif name in _VALUES:
                info.autocompletion = _completing(_VALUES[name])
    return function


def _completing(values: Iterable[str] | Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return what completes the last of values with commas between them."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        known: Any = values() if callable(values) else values
        return [f"{before}{comma}{each}" for each in known if each.lower().startswith(last.lower())]

    return complete


def _kinds() -> Iterator[str]:
    from geocrawl.model import Kind

    yield from map(str, Kind)


def _levels() -> Iterable[str]:
    from geocrawl.model.catalogue import LEVELS

    return LEVELS


def _orders() -> Iterator[str]:
    from geocrawl.filters import Sort

    yield from map(str, Sort)


def _countries() -> Iterable[str]:
    from geocrawl.query.places import shipped_places

    return sorted(code for code, place in shipped_places().by_code.items() if place.is_country)


def _strategies() -> Iterable[str]:
    from geocrawl.priority.registry import STRATEGIES

    return STRATEGIES


_VALUES: Mapping[str, Callable[[], Iterable[str]]] = {
    "kind": _kinds,
    "level": _levels,
    "sort": _orders,
    "country": _countries,
    "strategy": _strategies,
}
"""Name of a parameter → its values, read when they are asked for."""
