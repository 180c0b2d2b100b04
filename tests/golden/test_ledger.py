"""Expected texts change by `accept` and its reason alone, and a difference is shown line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import __main__ as command
from tests.golden import ledger, parts


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of expected texts, and one run, `help/one`."""
    monkeypatch.setattr(ledger, "FOLDER", tmp_path)
    monkeypatch.setattr(parts, "PARTS", {"help": lambda wanted, whole: iter([("help/one", "first\nsecond\n")])})
    return tmp_path


def test_every_expected_text_is_as_it_was_accepted() -> None:
    files = {str(path.relative_to(ledger.FOLDER))[: -len(".txt")]: path for path in ledger.FOLDER.rglob("*.txt")}
    lines = {line.name: line for line in ledger.ledger()}
    assert set(files) == set(lines)
    changed = [name for name, path in files.items() if ledger.hash_of(path.read_text("utf-8")) != lines[name].sha256]
    assert changed == [], "accept a change with a reason: python -m tests.golden accept NAME --reason ..."
    assert [name for name, line in lines.items() if not line.reason or not line.day] == []


def test_a_text_is_accepted_with_a_reason_that_is_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["accept", "help", "--reason", "the first run"]) == 0
    assert (folder / "help" / "one.txt").read_text() == "first\nsecond\n"
    [line] = ledger.ledger()
    assert (line.name, line.reason) == ("help/one", "the first run") and len(line.day) == len("2025-01-01")
    assert command.main(["diff"]) == 0


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "a\ttab"])
def test_nothing_is_accepted_without_a_reason_in_one_line(folder: Path, reason: str) -> None:
    assert command.main(["accept", "help", "--reason", reason]) == 2
    assert list(folder.iterdir()) == []


def test_no_reason_at_all_is_wrong_usage(folder: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["accept", "help"])
    assert ended.value.code == 2 and list(folder.iterdir()) == []


def test_a_difference_is_shown_line_by_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger.accept({"help/one": "first\nformer\n", "help/two": "gone\n"}, "as it was")
    assert command.main(["diff", "help/one"]) == 1
    shown = capsys.readouterr().out.split("\n")
    assert "-former" in shown and "+second" in shown and " first" in shown
    assert command.main(["diff"]) == 1
    assert "-gone" in capsys.readouterr().out.split("\n"), "a run that is no longer made differs, too"
    assert command.main(["accept", "help", "--reason", "the second is the right one"]) == 0
    assert [line.name for line in ledger.ledger()] == ["help/one"] and not (folder / "help" / "two.txt").exists()


def test_an_unknown_name_is_wrong_usage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["diff", "nothing/of/it"]) == 2
    assert "unknown: nothing/of/it" in capsys.readouterr().err


def test_a_failure_says_how_it_is_seen_and_accepted(folder: Path) -> None:
    ledger.accept({"help/one": "first\n"}, "as it was")
    with pytest.raises(AssertionError, match=r"(?s)\+second.*python -m tests.golden diff help/one") as failed:
        ledger.demand("help/one", "first\nsecond\n")
    assert "accept help/one --reason" in str(failed.value)
