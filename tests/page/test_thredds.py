"""Catalogues of THREDDS: services of data sets, samples of large folders, catalogues within."""

from __future__ import annotations

from pathlib import Path

from geocrawl.lab.recorded_worlds.replay import Response, error_page
from tests.app.recorded_web import Answers
from tests.app.test_families import harvest
from tests.app.test_records_in_crawls import asked
from tests.page.records import following, kinds, named
from tests.support.pages import read

ADDRESS = "http://t.example/thredds/catalog.xml"
HEAD = (
    '<catalog xmlns="http://www.unidata.ucar.edu/namespaces/thredds/InvCatalog/v1.0" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" name="Sea">'
    '<service name="all" serviceType="Compound" base="">'
    '<service name="odap" serviceType="OPENDAP" base="/thredds/dodsC/"/>'
    '<service name="wms" serviceType="WMS" base="/thredds/wms/"/>'
    '<service name="wcs" serviceType="WCS" base="/thredds/wcs/"/>'
    '</service><service name="files" serviceType="HTTPServer" base="/thredds/fileServer/"/>'
)


def catalogue(inside: str) -> str:
    return f"{HEAD}{inside}</catalog>"


def folder(name: str, count: int) -> str:
    sets = "".join(f'<dataset name="{name} {n}" urlPath="{name}/{n}.nc"/>' for n in range(count))
    return (
        f'<dataset name="{name}"><metadata inherited="true"><serviceName>all</serviceName></metadata>{sets}</dataset>'
    )


def test_a_data_set_has_the_services_that_are_handed_down_to_it() -> None:
    document = read(catalogue(folder("wind", 2)), "application/xml", ADDRESS)
    addresses = {(kind, f"http://t.example/thredds/{kind}/wind/{n}.nc") for kind in ("wms", "wcs") for n in (0, 1)}
    assert kinds(document) == addresses
    assert (named(document, "wms/wind/1").anchor, named(document, "wms").where) == ("wind 1 wind", "thredds")


def test_a_data_sets_own_service_and_its_accesses_count_before_inherited_ones() -> None:
    own = (
        '<dataset name="a" urlPath="a.nc" serviceName="files"/><dataset name="b" urlPath="b.nc"><serviceName>wms'
        '</serviceName></dataset><dataset name="c"><access serviceName="wcs" urlPath="c d.nc"/></dataset>'
    )
    inside = folder("x", 0).replace("</dataset>", f"{own}</dataset>")
    document = read(catalogue(inside), "application/xml", ADDRESS)
    assert kinds(document) == {
        ("wms", "http://t.example/thredds/wms/b.nc"), ("wcs", "http://t.example/thredds/wcs/c%20d.nc")
    }  # fmt: skip


def test_of_a_large_folder_a_sample_is_read_that_says_of_how_many() -> None:
    document = read(catalogue(folder("wind", 5_000) + folder("ice", 3)), "application/xml", ADDRESS)
    assert len(kinds(document)) == 2 * (50 + 3)
    assert named(document, "wms/wind/4900.nc").anchor == "wind 4900 wind 50 of 5,000 data sets"
    assert named(document, "wms/ice/0.nc").anchor == "ice 0 ice"


def test_catalogues_within_are_pages_of_records() -> None:
    inside = '<catalogRef xlink:href="runs/catalog.xml" xlink:title="Runs" name=""/><catalogRef xlink:href="/b.xml"/>'
    document = read(catalogue(inside), "text/xml", ADDRESS)
    assert following(document) == ["http://t.example/thredds/runs/catalog.xml", "http://t.example/b.xml"]


class Server(Answers):
    """Three catalogues in each other and one that fails at first, behind the page of the program."""

    failures = 1

    def respond(self, scheme: str, host: str, target: str) -> Response:
        if target == "/thredds/bad/catalog.xml" and self.failures:
            self.failures -= 1
            return error_page(500)
        return super().respond(scheme, host, target)


def test_a_server_is_read_from_its_page_to_its_innermost_catalogue(tmp_path: Path) -> None:
    refs = "".join(f'<catalogRef xlink:href="/thredds/{name}/catalog.xml"/>' for name in ("one", "bad", "two"))
    places = {"": refs, "one/": '<catalogRef xlink:href="in/catalog.xml"/>', "one/in/": folder("in", 1)}
    places |= {"two/": folder("two", 1), "bad/": folder("bad", 1)}
    web = Server(
        {
            "t.example/": ("text/html", b"<h1>THREDDS Data Server</h1>"),
            **{
                f"t.example/thredds/{place}catalog.xml": ("application/xml", catalogue(inside).encode())
                for place, inside in places.items()
            },
        }
    )
    harvest(web, tmp_path / "c.db", "http://t.example/")
    wms = {each.rpartition("/")[0].rpartition("/")[2] for each in asked(tmp_path / "c.db") if "/wms/" in each}
    assert wms == {"in", "two"}
    harvest(web, tmp_path / "c.db", "http://t.example/")
    assert "http://t.example/thredds/wms/bad/0.nc" in asked(tmp_path / "c.db")
