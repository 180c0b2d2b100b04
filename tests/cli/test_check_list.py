"""`geocrawl check-list` in a terminal, in CI and beside an earlier result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lxml import etree

from geocrawl.demo import DemoWeb
from geocrawl.demo.services import _GEOSERVER as GEOSERVER
from tests.support.commands import CommandResult, geocrawl

_LIST = f"""name,url,layer
Roads,{GEOSERVER}/wms,roads
"Gone | <b>",{GEOSERVER}/wms,roods
Tiles,http://tiles.example/{{z}}/{{x}}/{{y}}.png,
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.csv").write_text(_LIST, encoding="utf-8")

    def run(web: DemoWeb, *more: str, file: str = "list.csv") -> CommandResult:
        return geocrawl("check-list", file, "--proxy", web.proxy_url, "--delay", "0", *more)

    return run


def test_people_ci_and_trackers_each_get_their_format(run: object) -> None:
    assert callable(run)
    with DemoWeb() as web:
        table = run(web)
        assert table.code == 1
        assert "ok            Roads" in table.out and "nearest: roads" in table.out
        assert "1 ok, 1 layer-missing, 1 not-checked" in table.err

        suite = etree.fromstring(run(web, "--format", "junit").out.encode())
        assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
        assert suite.xpath("string(testcase/failure/@type)") == "layer-missing"

        markdown = run(web, "--format", "markdown").out.splitlines()
        assert len(markdown) == 5 and all(line.replace("\\|", "").count("|") == 5 for line in markdown)
        assert "<b>" not in markdown[3]

        found = json.loads(run(web, "--format", "sarif").out)["runs"][0]["results"]
        assert [(each["ruleId"], each["level"]) for each in found] == [
            ("layer-missing", "error"),
            ("not-checked", "note"),
        ]


def test_beside_an_earlier_result_only_what_changed_is_told(run: object, tmp_path: Path) -> None:
    assert callable(run)
    with DemoWeb() as web:
        result = run(web, "--format", "json")
        assert result.code == 1
        (tmp_path / "former.json").write_text(result.out, encoding="utf-8")
        same = run(web, "--changed-since", "former.json", "--format", "json")
        assert (same.code, json.loads(same.out)) == (0, [])
        rows = json.loads(result.out)
        rows[1]["state"] = "ok"
        (tmp_path / "former.json").write_text(json.dumps(rows), encoding="utf-8")
        changed = run(web, "--changed-since", "former.json", "--format", "json")
        assert changed.code == 1 and [row["name"] for row in json.loads(changed.out)] == ["Gone | <b>"]
        (tmp_path / "former.json").write_text('{"a": 1}', encoding="utf-8")
        wrong = run(web, "--changed-since", "former.json")
        assert wrong.code == 2 and "--format json" in wrong.err


def test_a_list_that_cannot_be_read_is_told_in_a_line(run: object) -> None:
    assert callable(run)
    with DemoWeb() as web:
        missing = run(web, file="missing.csv")
    assert missing.code == 2 and missing.err.count("\n") == 1 and "missing.csv" in missing.err


@pytest.mark.parametrize("form", ["table", "json", "junit", "markdown", "sarif"])
def test_a_list_of_unusual_characters_is_harmless_in_each_format(tmp_path: Path, form: str) -> None:
    odd = "\x1b]0;a\x07\x9b2J\u202e|\ud83d\ufffe"
    entries = [{"properties": {"name": odd, "url": f"http://127.0.0.1/{odd}?layers={odd}"}}]
    entries.append({"properties": {"name": odd, "url": odd}})
    file = tmp_path / "a\x01.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": entries}))
    done = geocrawl("check-list", str(file), "--format", form, "--db", str(tmp_path / "c.db"))
    assert done.code == 0 and done.out
    assert all(line.isprintable() for line in done.out.split("\n")), ascii(done.out[:500])
    if form == "junit":
        etree.fromstring(done.out.encode())
    elif form in ("json", "sarif"):
        json.loads(done.out)
