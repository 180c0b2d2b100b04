"""The folders that `world make` writes: the format, and the same bytes for the same seed."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from geocrawl.errors import UsageError
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.made_worlds.mixture import draw
from geocrawl.lab.made_worlds.plans.registry import KINDS
from geocrawl.lab.made_worlds.vocabulary import vocabularies
from geocrawl.lab.recorded_worlds.check import check
from geocrawl.lab.recorded_worlds.world import World
from tests.lab.made_worlds.conftest import PAGES, SEED


def _digest(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_same_seed_gives_the_same_bytes(kind: str, made: dict[str, Path], tmp_path: Path) -> None:
    make(kind, PAGES, SEED, tmp_path / "again")
    assert _digest(tmp_path / "again") == _digest(made[kind])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_another_seed_gives_another_web(kind: str, made: dict[str, Path], tmp_path: Path) -> None:
    make(kind, PAGES, SEED + 1, tmp_path / "other")
    documents = {name for name in _digest(made[kind]) if name.startswith("documents")}
    assert documents and documents.isdisjoint(_digest(tmp_path / "other"))


def test_seeds_differ_in_themes_designs_and_ways_of_naming_services() -> None:
    drawn = [draw(seed, "mixed", ()) for seed in range(12)]
    assert len({tuple(theme.name for theme in mixture.vocabularies) for mixture in drawn}) > 8
    assert len({mixture.designs for mixture in drawn}) > 8
    assert len({max(mixture.ways.values()) for mixture in drawn}) == 12
    assert len({tuple(mixture.languages) for mixture in drawn}) > 4


def test_a_made_web_is_complete_and_has_about_as_many_pages_as_asked_for(folder: Path) -> None:
    report = check(folder)
    assert report.problems == ()
    assert abs(report.pages - PAGES) <= PAGES * 0.05
    assert report.pages == json.loads((folder / "world.json").read_text("utf-8"))["counts"]["pages"]
    assert 0 < report.reachable <= report.valid < report.services


def test_every_record_is_a_gzip_member_of_its_own(folder: Path) -> None:
    world = World(folder)
    data = world.warc.path.read_bytes()
    for record in world.warc.records.values():
        member = gzip.decompress(data[record.offset : record.offset + record.length])
        assert member.startswith(b"WARC/1.1\r\nWARC-Type: response\r\n")


def test_only_the_vocabulary_asked_for_is_used(tmp_path: Path) -> None:
    meta = make("mixed", 300, 9, tmp_path / "soil", ("soil",))
    assert meta["description"].endswith("about soils, erosion and farm land.")
    assert meta["generator"]["script"] == "geocrawl world make mixed --pages 300 --seed 9 --vocabulary soil"


@pytest.mark.parametrize("name", sorted(vocabularies()))
def test_every_vocabulary_makes_a_web(name: str, tmp_path: Path) -> None:
    make("agency", 200, 1, tmp_path / name, (name,))
    assert check(tmp_path / name).problems == ()


@pytest.mark.parametrize(
    ("kind", "pages", "vocabulary", "said"),
    [
        ("planet", 500, (), "no kind of web 'planet': use one of portal, agency, mixed"),
        ("mixed", 20, (), "too small"),
        ("mixed", 500, ("poetry",), "no vocabulary 'poetry': use one of biodiversity, climate"),
    ],
)
def test_wrong_use_is_said_and_nothing_is_written(
    kind: str, pages: int, vocabulary: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        make(kind, pages, 1, tmp_path / "web", vocabulary)
    assert not (tmp_path / "web").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("three years", "utf-8")
    with pytest.raises(UsageError, match="not an empty folder"):
        make("mixed", 300, 1, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
