"""Files and folders that people name: a wrong one is reported by its own name, and before the work."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from geocrawl.cli import app
from geocrawl.errors import EnvironmentFault, GeocrawlError, PassingFault, UsageError
from geocrawl.lab.contest import contest
from tests.support.world import World


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    world = World(tmp_path / "c.db")
    world.seed(*(f"a.example/{number}" for number in range(3_000)))
    world.database.close()
    return tmp_path / "c.db"


def refused(*arguments: str) -> GeocrawlError:
    """Return the error with which a command ends."""
    error = CliRunner().invoke(app, list(arguments)).exception
    assert isinstance(error, GeocrawlError), error
    return error


@contextmanager
def no_files_above(size: int) -> Iterator[None]:
    """Let this process write no file beyond `size` bytes, as a full disk would."""
    former = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, former[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, former)


def test_a_backup_into_a_missing_folder_names_that_folder(tmp_path: Path, catalogue: Path) -> None:
    target = tmp_path / "mising" / "copy.db"
    error = refused("backup", str(target), "--db", str(catalogue))
    assert str(error) == f"{target}: the folder {target.parent} does not exist; create it, or name another file"


def test_a_backup_that_does_not_fit_blames_the_copy_and_not_the_catalogue(tmp_path: Path, catalogue: Path) -> None:
    with no_files_above(100_000):
        error = refused("backup", str(tmp_path / "copy.db"), "--db", str(catalogue))
    assert isinstance(error, PassingFault)
    assert str(error).startswith(f"{tmp_path / 'copy.db'}: ")
    assert not (tmp_path / "copy.db").exists()


def test_a_crawl_without_a_page_makes_no_catalogue(tmp_path: Path) -> None:
    error = refused("crawl", "--db", str(tmp_path / "new.db"))
    assert isinstance(error, UsageError)
    assert "give a page to start from" in str(error)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        ("crawl", "http://127.0.0.1:9/"),
        ("harvest", "http://127.0.0.1:9/csw"),
        ("probe", "http://127.0.0.1:9/wms", "--save"),
        ("seeds", "add", "http://127.0.0.1:9/"),
        ("daemon",),
    ],
    ids=lambda command: command[0],
)
def test_a_mistyped_folder_of_the_catalogue_is_not_made(tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "mising" / "c.db"
    error = refused(*command, "--db", str(path))
    assert isinstance(error, UsageError)
    assert str(error) == f"--db {path}: the folder {path.parent} does not exist; create it, or name another file"
    assert not path.parent.exists()


def test_the_folder_that_the_configuration_names_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lib" / "geocrawl.db"
    monkeypatch.setenv("GEOCRAWL_DB", str(path))
    CliRunner().invoke(app, ["seeds", "add", "http://a.example/"], catch_exceptions=False)
    assert path.exists()


def test_so_is_the_folder_that_a_named_file_of_settings_names(tmp_path: Path) -> None:
    path, config = tmp_path / "lib" / "geocrawl.db", tmp_path / "c.toml"
    config.write_text(f'db = "{path}"\n')
    for command in (("config", "check", str(config)), ("seeds", "add", "http://a.example/", "--config", str(config))):
        said = CliRunner().invoke(app, command, catch_exceptions=False)
        assert said.exit_code == 0, said.output
    assert path.exists()


def test_a_contest_refuses_a_folder_that_it_cannot_write_before_its_crawls(
    tmp_path: Path, catalogue: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contest, "run_contest", lambda *_: pytest.fail("the crawls began"))
    (tmp_path / "file").touch()
    assert isinstance(refused("evaluate", "world", "--out", str(tmp_path / "file" / "contest")), EnvironmentFault)
    (tmp_path / "contest").mkdir()
    (tmp_path / "contest" / "results.csv").symlink_to(catalogue)
    assert "is a database" in str(refused("evaluate", "world", "--out", str(tmp_path / "contest")))
