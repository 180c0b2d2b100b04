"""Options and arguments arrive with their types, whether Typer converted them or had nothing to convert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from geocrawl.cli.registry import Command

Received = dict[str, object]


def received(*typed: str) -> tuple[Received, str]:
    """Return what a command receives for these words, and what Typer says of wrong ones."""
    seen: Received = {}
    app = typer.Typer(add_completion=False)

    @app.command(cls=Command)
    def command(
        urls: Annotated[list[str] | None, typer.Argument()] = None,
        text: str | None = None,
        depth: int | None = None,
        limit: Annotated[int, typer.Option(min=1, max=50)] = 20,
        share: float = 0.5,
        file: Path | None = None,
        files: Annotated[list[Path] | None, typer.Option()] = None,
        switch: Annotated[bool, typer.Option("--switch")] = False,
    ) -> None:
        seen.update(locals())

    done = CliRunner().invoke(app, typed, env={"COLUMNS": "300"})
    seen.pop("seen", None)  # the closure itself
    return seen, done.output


DEFAULTS: Received = {
    **{"urls": None, "text": None, "depth": None, "limit": 20, "share": 0.5, "file": None, "files": None},
    "switch": False,
}


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        ([], {}),
        (["http://a.example/", "b"], {"urls": ["http://a.example/", "b"]}),
        (["--text", "12", "--depth", "12", "--limit", "12"], {"text": "12", "depth": 12, "limit": 12}),
        (["--depth", "-3", "--share", "1"], {"depth": -3, "share": 1.0}),
        (
            ["--file", "a.toml", "--files", "b", "--files", "c"],
            {"file": Path("a.toml"), "files": [Path("b"), Path("c")]},
        ),
        (["--switch"], {"switch": True}),
    ],
)
def test_values_arrive_with_the_types_of_the_command(typed: list[str], given: Received) -> None:
    seen, _ = received(*typed)
    assert seen == DEFAULTS | given
    assert {name: type(value) for name, value in seen.items()} == {
        name: type(value) for name, value in (DEFAULTS | given).items()
    }


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--depth", "deep"], "--depth"),
        (["--depth", "\u00b2"], "--depth"),
        (["--limit", "0"], "--limit"),
        (["--limit", "51"], "--limit"),
        (["--share", "half"], "--share"),
    ],
)
def test_wrong_values_are_reported_with_their_option(typed: list[str], said: str) -> None:
    seen, output = received(*typed)
    assert seen == {}
    assert f"Invalid value for '{said}'" in output
