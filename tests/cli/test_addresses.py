"""Addresses as people type them, in arguments and in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.cli.addresses import gather_seeds
from geocrawl.errors import UsageError
from geocrawl.filters import read_system


def test_a_bare_host_means_the_same_in_a_file_and_as_an_argument(tmp_path: Path) -> None:
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text("a.example\nb.example/maps?x=1\nno. address\nrubbish\n")
    second.write_text("https://c.example/\na.example\n")
    found = [url.address for url in gather_seeds(["d.example"], first, second, None)]
    assert found == ["https://d.example/", "https://a.example/", "https://b.example/maps?x=1", "https://c.example/"]


def test_a_scheme_that_was_guessed_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    gather_seeds(["a.example/maps", "http://b.example/"])
    assert (
        capsys.readouterr().err
        == "geocrawl: a.example/maps: read as https://a.example/maps; write http:// for the other\n"
    )


def test_an_existing_file_is_no_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "seeds.txt").write_text("https://a.example/\n")
    with pytest.raises(UsageError, match="--seeds FILE"):
        gather_seeds(["seeds.txt"])


def test_credentials_in_an_address_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    (url,) = gather_seeds(["http://user:pw@a.example/x"])
    said = capsys.readouterr().err
    assert url.address == "http://a.example/x"
    assert '[sites."http://a.example"]' in said
    assert "pw@" not in said


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("4326", "EPSG:4326"),
        ("EPSG:4326", "EPSG:4326"),
        ("urn:ogc:def:crs:EPSG::3857", "EPSG:3857"),
        ("CRS:84", "CRS:84"),
    ],
)
def test_a_reference_system_may_be_written_in_several_ways(typed: str, meant: str) -> None:
    assert read_system(typed) == meant


@pytest.mark.parametrize("typed", ["xyz", "EPSG 4326", "EPSG:"])
def test_an_unknown_reference_system_is_a_usage_error(typed: str) -> None:
    with pytest.raises(UsageError, match="such as EPSG:4326"):
        read_system(typed)
