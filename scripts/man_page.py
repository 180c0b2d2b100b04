"""Write man/geocrawl.1 from the command line's own help: `make man`. The wheel installs it in share/man/man1."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from geocrawl import __version__
from geocrawl.cli import app
from geocrawl.cli.registry import PANELS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "man" / "geocrawl.1"
_MARKUP = re.compile(r"\[/?bold\]")

_ENVIRONMENT = (
    "Every setting is an option, an environment variable and a key of a TOML file under one name: --max-pages, "
    "GEOCRAWL_MAX_PAGES, max_pages. `geocrawl config show` prints all of them, with where each value comes from and "
    "the files that are read."
)
_DATE = "2026-11-24"
"""The day of the last change that people notice (man(7) demands one)."""
_COMPLETION = (
    "`geocrawl --install-completion` completes commands and options in bash, zsh and fish; "
    "--show-completion prints the script."
)


def page() -> str:
    """Return the page in the language of man(7)."""
    program = typer.main.get_command(app)
    lines = [
        '.\\" Made by `make man` from the help of the commands; edit that.',
        f'.TH GEOCRAWL 1 "{_DATE}" "geocrawl {__version__}" "User Commands"',
        ".SH NAME",
        "geocrawl \\- find geospatial web services, prove them, keep a catalogue of the live ones",
        ".SH SYNOPSIS",
        ".B geocrawl",
        "[\\-\\-version] [\\-\\-help] COMMAND [ARGUMENTS]",
        ".SH DESCRIPTION",
        *_text(program.help or ""),
        ".SH COMMANDS",
    ]
    for heading, names in PANELS.items():
        lines += [f".SS {_plain(heading)}"]
        for name in names:
            for full, command in _commands(program, name):
                lines += _command(full, command)
    lines += [".SH ENVIRONMENT AND FILES", *_text(_ENVIRONMENT)]
    lines += [".SH COMPLETION", *_text(_COMPLETION)]
    return "\n".join(lines) + "\n"


def _commands(group: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the full names and commands of a command, or of all commands of a group."""
    command = group.get_command(None, name)
    if not hasattr(command, "list_commands"):
        yield name, command
        return
    for inner in command.list_commands(None):
        for full, found in _commands(command, inner):
            yield f"{name} {full}", found


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    takes = " ".join(each.metavar or each.name.upper() for each in arguments)
    yield from (".TP", f".B geocrawl {_plain(name)}", *([_plain(f"[OPTIONS] {takes}")] if takes else ["[OPTIONS]"]))
    yield from (".RS", *_text(command.help or ""))
    for each in command.params:
        if each.param_type_name != "argument" and not getattr(each, "hidden", False):
            yield from _option(each)
    yield ".RE"


def _option(option: Any) -> Iterator[str]:
    names = ", ".join((*option.opts, *option.secondary_opts))
    value = f" \\fI{_plain(option.metavar or option.name.upper())}\\fR" if not option.is_flag else ""
    yield from (".TP", f"\\fB{_plain(names)}\\fR{value}", *_text(option.help or "", within=True))


def _text(text: str, *, within: bool = False) -> Iterator[str]:
    """Yield paragraphs; indented ones, which are examples, as they are."""
    for number, paragraph in enumerate(_MARKUP.sub("", text).replace("\\[", "[").split("\n\n")):
        if paragraph.startswith("    "):
            yield from (".PP", ".nf", _plain(paragraph.strip()), ".fi")
        else:
            yield from (() if number == 0 and within else (".PP",))
            yield _plain(" ".join(paragraph.split()))


def _plain(text: str) -> str:
    """Return text in which nothing is a request or an escape of roff."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
