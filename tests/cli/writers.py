"""Every command that writes files, and how it is told where: the rows of `trials`.

A parameter of a command that takes a path is named by a row of `WRITERS` or by `READ`; `unlisted_paths` returns those
that are not, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from geocrawl.cli.registry import COMMANDS

HARMLESS = frozenset({"another case", "a missing folder", "a pipe"})
"""Places at which a file may be written; commands refuse the others (`trials.PLACES`), or name them below."""
_FOLDER = HARMLESS | {"an empty folder"}
_CATALOGUE = HARMLESS | {"the catalogue", "a symbolic link", "another spelling", "a linked folder"}


@dataclass(frozen=True, slots=True)
class Writer:
    """A command that writes, and how it is told where."""

    command: str
    """As the registry names it."""
    parameter: str
    """The parameter that takes the path; '' when a setting or the user's folders tell."""
    arguments: Callable[[str], list[str]]
    """What follows the command's name, for a path."""
    allowed: frozenset[str] = HARMLESS
    """Places at which the command may succeed."""
    suffix: str = ""
    """What the name of a file must end in."""
    fixed: str = ""
    """The file that the command writes when nobody can name another: a symbolic link to the place is put there."""
    environ: Mapping[str, str] = field(default_factory=dict)
    """`{}` stands for the path."""
    goes_on: bool = False
    """A run that failed leaves what it found, for the next one to go on with."""
    note: str = ""
    dear: bool = False
    """Whether it works for seconds before it writes."""

    @property
    def name(self) -> str:
        """The command, with what tells this row from others of the same command."""
        return f"{self.command} {self.note}".rstrip()


def _out(*others: str) -> Callable[[str], list[str]]:
    return lambda path: [*others, "--out", path]


def _always(*arguments: str) -> Callable[[str], list[str]]:
    return lambda path: list(arguments)


_CONTEST = ("world", "--strategies", "bfs", "--budget", "3", "--processes", "1", "--quiet")

WRITERS = (
    Writer("backup", "file", lambda path: [path], HARMLESS - {"a pipe"} | {"a copy"}),
    Writer("restore", "", lambda path: ["kept.db", "--db", path], HARMLESS | {"another catalogue"}),
    Writer(
        "seeds add",
        "",
        lambda path: ["a.example", "--db", path],
        _CATALOGUE | {"another catalogue", "a copy"},
        note="--db",
    ),
    Writer("export", "out", _out("--format", "csv"), note="csv"),
    Writer("export", "out", _out("--format", "jsonl", "--secrets"), note="jsonl"),
    Writer("publish", "out", _out(), _FOLDER),
    Writer("snapshot", "out", _out(), _FOLDER),
    Writer("report", "out", _out("--month", "2026-10")),
    Writer("mine", "out", lambda path: ["index.parquet", "--output", path], suffix=".jsonl", goes_on=True),
    Writer("metrics", "out", _out()),
    Writer("pages export", "out", _out("--force"), note="warc"),
    Writer("pages export", "out", _out("--force", "--format", "text"), _FOLDER, note="text"),
    Writer("crawl", "record", lambda path: ["--max-pages", "1", "--max-time", "2s", "--record", path], note="--record"),
    Writer(
        "crawl",
        "",
        lambda path: ["--max-pages", "1", "--max-time", "2s", "--log-file", path],
        HARMLESS | {"a full device", "a full disk"},  # lines are lost there, and the crawl goes on
        note="--log-file",
    ),
    Writer("stats", "plot", lambda path: ["--survival", "--plot", path], suffix=".svg"),
    Writer("stats", "out", _out("--picture", "kinds"), suffix=".svg"),
    Writer("probe", "", _always("--file", "list.txt"), _FOLDER, environ={"XDG_CACHE_HOME": "{}"}, note="journal"),
    Writer("demo", "", _always("--json"), fixed="cache/geocrawl/demo.db", dear=True),
    Writer(
        "topics add",
        "",
        _always("environment/peat", "--text", "text.txt"),
        fixed="data/geocrawl/topics/environment/peat.toml",
    ),
    Writer("service install", "root", lambda path: ["--root", path], _FOLDER, note="--root"),
    Writer(
        "service install", "", _always("--root", "root"), fixed="root/etc/systemd/system/geocrawl.service", note="unit"
    ),
    Writer("world make", "out", _out("portal", "--pages", "200"), _FOLDER, dear=True),
    Writer("evaluate", "out", _out(*_CONTEST), _FOLDER, dear=True),
    Writer(
        "evaluate", "", _always(*_CONTEST, "--out", "contest"), fixed="contest/results.csv", note="table", dear=True
    ),
    Writer("train links", "out", _out("urls.csv"), dear=True),
    Writer("train topic", "out", _out("pages.jsonl.gz"), dear=True),
    Writer("train vectors", "out", _out("pages.jsonl.gz"), dear=True),
    Writer("train bayes", "out", _out("--urls", "urls.csv"), dear=True),
    Writer("train fusion", "out", _out("world", "--rounds", "1"), dear=True),
)

READ = frozenset(
    {
        *(
            ("crawl", "seeds"),
            ("seeds add", "file"),
            ("check-list", "changed_since"),
            ("check-list", "file"),
            ("probe", "file"),
            ("watch import", "file"),
            ("recognise", "file"),
            ("snapshot", "former"),
            ("mine", "paths"),
            ("topics add", "text"),
            ("topics add", "seeds"),
        ),
        *(
            ("restore", "file"),
            ("config check", "file"),
            ("evaluate", "worlds"),
            ("evaluate", "seeds"),
            ("evaluate", "judged"),
            ("world check", "folders"),
        ),
        *(("train topic", "pages"), ("train topic", "exclude"), ("train links", "urls"), ("train bayes", "pages")),
        *(("train bayes", "urls"), ("train bayes", "exclude"), ("train fusion", "worlds")),
        *(("train vectors", "pages"), ("train vectors", "exclude"), ("train vectors", "calibrate")),
    }
)
"""Parameters that take the path of what is read."""
REMOVED = frozenset({("service uninstall", "root")})
"""Parameters that take the path of what is removed, in which nothing is written."""


def unlisted_paths() -> set[tuple[str, str]]:
    """Return (command, parameter) of all that take a path and are named nowhere above."""
    listed = {(each.command, each.parameter) for each in WRITERS} | READ | REMOVED
    return {found for name in COMMANDS for found in _paths(name) if found not in listed}


def _paths(command: str) -> set[tuple[str, str]]:
    module, _, function = COMMANDS[command].partition(":")
    signature = inspect.signature(getattr(import_module(module), function), eval_str=True)
    return {(command, each.name) for each in signature.parameters.values() if Path.__name__ in str(each.annotation)}
