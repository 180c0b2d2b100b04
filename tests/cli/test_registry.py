"""The table of commands: each can be imported, and each keeps the options that users know."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from geocrawl.cli import app
from geocrawl.cli.registry import COMMANDS, GROUPS
from tests.support.commands import geocrawl

RECORDED = Path(__file__).parents[1] / "expectations" / "command_options.json"
"""Command → its options and arguments with what they take, as of commit 2fc88b6 and of what was added since."""


def options_of_all_commands() -> dict[str, dict[str, str]]:
    """Return, for each command, its options and arguments with what they take."""
    return {name: dict(sorted(_options(command))) for name, command in _walk(typer.main.get_command(app), "")}


def _walk(group: Any, above: str) -> Iterator[tuple[str, Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from _walk(command, f"{above}{name} ")
        else:
            yield above + name, command


def _options(command: Any) -> Iterator[tuple[str, str]]:
    for each in command.params:
        if each.param_type_name == "argument":
            several = ", several" if each.nargs == -1 else ""
            yield each.metavar or each.name.upper(), f"argument{'' if each.required else ', optional'}{several}"
        else:
            takes = "flag" if each.is_flag else each.metavar or "value"
            several = (", several" if each.multiple else "") + (", required" if each.required else "")
            yield ", ".join([*each.opts, *each.secondary_opts]), takes + several


def test_every_command_has_the_options_that_users_know() -> None:
    recorded = json.loads(RECORDED.read_text("utf-8"))
    assert dict(sorted(options_of_all_commands().items())) == recorded


def test_every_group_has_commands_and_every_command_of_two_words_a_group() -> None:
    assert {name.partition(" ")[0] for name in COMMANDS if " " in name} == set(GROUPS)


@pytest.mark.parametrize("typed", ["serch", "crwal"])
def test_a_mistyped_command_gets_a_suggestion(typed: str) -> None:
    done = geocrawl(typed)
    assert done.code == 2
    assert "Did you mean" in done.err


def test_a_command_imports_no_other_command() -> None:
    code = (
        "import sys; sys.argv = ['geocrawl', 'status', '--help']\n"
        "from geocrawl.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*(name for name in sys.modules if name.startswith('geocrawl.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    modules = {target.partition(":")[0] for target in COMMANDS.values()}
    assert loaded & modules == {"geocrawl.cli.status"}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(dict(sorted(options_of_all_commands().items())), indent=1, ensure_ascii=False) + "\n")
