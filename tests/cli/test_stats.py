"""`geocrawl stats --picture` draws every statistic, as bars and into files."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree
from shapely import box
from typer.testing import CliRunner, Result

from geocrawl.cli import app
from geocrawl.cli.stats import PICTURES
from geocrawl.errors import UsageError
from geocrawl.model import Kind, Layer, Service
from tests.support.world import World, candidate, verdict


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("catalogue") / "c.db"
    world = World(path)
    layer = Layer("rivers", "Rivers", box=box(9, 47, 12, 50))
    for days in (0, 1):
        world.record(
            candidate("a.example/geoserver/wms?service=WMS"),
            verdict("ok", Service(Kind.WMS, version="1.3.0", title="Rivers", layers=(layer,))),
            world.clock.now() + 86_400.0 * days,
        )
    world.database.close()
    return path


def stats(catalogue: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["stats", *arguments, "--db", str(catalogue)])


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_svg_and_bars(catalogue: Path, tmp_path: Path, name: str) -> None:
    if name != "map":
        shown = stats(catalogue, "--picture", name)
        assert shown.exit_code == 0 and len(shown.stdout.splitlines()) > 2
    done = stats(catalogue, "--picture", name, "--out", str(tmp_path / "a.svg"))
    assert (done.exit_code, done.stdout) == (0, "")
    assert etree.parse(tmp_path / "a.svg").getroot().get("width")


def test_pictures_show_what_is_in_the_catalogue(catalogue: Path, tmp_path: Path) -> None:
    assert f"WMS {36 * '█'} 1" in stats(catalogue, "--picture", "kinds").stdout
    assert "GeoServer" in stats(catalogue, "--picture", "software").stdout
    assert "GeoServer" in stats(catalogue, "--picture", "software-over-time").stdout
    assert stats(catalogue, "--picture", "map", "--out", str(tmp_path / "m.svg")).exit_code == 0
    assert "Extents of 1 service" in (tmp_path / "m.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--picture", "planets"], "expected one of kinds, countries"),
        (["--out", "a.svg"], "name what to draw"),
        (["--picture", "kinds", "--out", "a.gif"], "--out a.gif: the name must end in .svg"),
        (["--picture", "kinds", "--out", "a.png"], "PNG is no longer written; name it a.svg"),
        (["--picture", "map"], "--picture map: a map is drawn into a file: add --out map.svg"),
        (["--survival", "--plot", "a.gif"], "--plot a.gif: the name must end in .svg"),
        (["--picture", "kinds", "--json"], "--picture draws"),
    ],
)
def test_what_cannot_be_drawn_is_said(catalogue: Path, arguments: list[str], said: str) -> None:
    fault = stats(catalogue, *arguments).exception
    assert isinstance(fault, UsageError) and said in str(fault)


def test_an_empty_catalogue_has_pictures_too(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    World(path).database.close()
    for name in PICTURES:
        assert stats(path, "--picture", name, "--out", str(tmp_path / "p.svg")).exit_code == 0, name
    assert "nothing yet" in stats(path, "--picture", "deviations").stdout


def test_the_survival_is_plotted_without_matplotlib(catalogue: Path, tmp_path: Path) -> None:
    done = stats(catalogue, "--survival", "--plot", str(tmp_path / "s.svg"))
    assert done.stdout.startswith("Observed for an hour or more since they were valid: 1 endpoint")
    assert done.stderr == f"Drawn into {tmp_path / 's.svg'}\n"
    assert "Share still alive of 1 endpoint" in (tmp_path / "s.svg").read_text("utf-8")
