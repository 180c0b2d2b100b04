"""A folder looked over: what is wrong with it is said, a line each."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from geocrawl.errors import UsageError
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.recorded_worlds.check import check


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make("mixed", 200, 2, tmp_path / "web")
    return tmp_path / "web"


def test_a_complete_folder_has_no_problems(folder: Path) -> None:
    report = check(folder)
    assert report.problems == ()
    assert "complete" in report.line() and report.as_json()["problems"] == []


def test_a_missing_file_is_said_in_one_line(folder: Path) -> None:
    (folder / "truth.csv").unlink()
    with pytest.raises(UsageError, match=r"is no recorded web: it has no truth\.csv"):
        check(folder)


def test_pages_that_are_cut_off_are_said_in_one_line(folder: Path) -> None:
    path = folder / "pages.warc.gz"
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(UsageError, match=r"cut off|incomplete"):
        check(folder)


def test_documents_that_are_gone_or_changed_are_named(folder: Path) -> None:
    first, second, *_ = sorted((folder / "documents").iterdir())
    first.unlink()
    second.write_bytes(gzip.compress(b"something else"))
    problems = "\n".join(check(folder).problems)
    assert f"documents/{first.name} of " in problems and "cannot be read: No such file" in problems
    assert f"documents/{second.name} of " in problems and "SHA-1" in problems


def test_a_page_or_seed_that_is_not_recorded_is_named(folder: Path) -> None:
    meta = json.loads((folder / "world.json").read_text("utf-8"))
    meta["seeds"].append("http://nowhere.example/")
    (folder / "world.json").write_text(json.dumps(meta), "utf-8")
    lines = (folder / "services.jsonl").read_text("utf-8").splitlines()
    row = json.loads(lines[0])
    row["exposures"] = [{"page": "http://nowhere.example/maps", "how": "text"}]
    (folder / "services.jsonl").write_text("\n".join([json.dumps(row), *lines[1:], lines[1]]) + "\n", "utf-8")
    problems = check(folder).problems
    assert "world.json: the seed http://nowhere.example/ is not recorded" in problems
    assert f"services.jsonl: {row['id']} is named at http://nowhere.example/maps, which is not recorded" in problems
    assert any(problem.endswith("occurs twice") for problem in problems)
