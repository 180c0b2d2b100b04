"""`geocrawl world`: what people see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from geocrawl.cli import app, main


def test_a_web_is_made_and_looked_over(tmp_path: Path) -> None:
    runner, out = CliRunner(), str(tmp_path / "web")
    done = runner.invoke(app, ["world", "make", "agency", "--pages", "200", "--seed", "3", "--out", out])
    assert done.exit_code == 0 and " pages on " in done.output and "can be reached" in done.output
    checked = runner.invoke(app, ["world", "check", out, "--json"])
    assert checked.exit_code == 0
    assert json.loads(checked.output)[0]["problems"] == []


def test_a_folder_with_problems_ends_in_one(tmp_path: Path) -> None:
    runner, out = CliRunner(), tmp_path / "web"
    runner.invoke(app, ["world", "make", "portal", "--pages", "200", "--out", str(out)])
    next((out / "documents").iterdir()).unlink()
    done = runner.invoke(app, ["world", "check", str(out)])
    assert done.exit_code == 1 and "cannot be read" in done.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "{empty}"], "is no recorded web: it has no world.json and no pages.warc.gz"),
        (["make", "mixed", "--pages", "300", "--out", "{empty}/web", "--vocabulary", "poetry"], "no vocabulary"),
        (["make", "city", "--out", "{empty}/web"], "no kind of web 'city'"),
    ],
)
def test_wrong_use_is_one_line(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [argument.format(empty=tmp_path) for argument in arguments]
    monkeypatch.setattr("sys.argv", ["geocrawl", "world", *given])
    with pytest.raises(SystemExit) as ended:
        main()
    error = capsys.readouterr().err
    assert ended.value.code == 2 and said in error and error.count("\n") == 1
