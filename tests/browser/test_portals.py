"""Single-page portals built with React, Vue and OpenLayers: what a crawl finds in them without and with a browser."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.portal_crawls import SETTINGS, crawl
from tests.support.portal_web import BACKEND, OPENLAYERS, REACT, SERVICES, VUE, PortalWeb

pytestmark = pytest.mark.usefixtures("chromium")


@pytest.mark.parametrize("portal", [REACT, VUE, OPENLAYERS])
def test_a_portal_gives_its_services_to_a_browser_alone(web: PortalWeb, tmp_path: Path, portal: str) -> None:
    _, without = crawl(tmp_path / "without.db", [web.address(portal)], browser=False)
    _, found = crawl(tmp_path / "with.db", [web.address(portal)])
    assert without == set()
    assert found == web.truth(portal)


def test_at_most_a_few_pages_of_a_host_are_read_in_the_browser(web: PortalWeb, tmp_path: Path) -> None:
    _, found = crawl(tmp_path / "c.db", [web.address(REACT)], browser_pages_per_host=1, max_depth=0)
    assert found == set()  # the list was read, and it names no service
    assert [request.target for request in web.log if request.host == REACT and "/api/" in request.target] == (
        ["/api/v1/datasets?page=1&size=50"] * 2  # by the page, then as an address that it led to
    )


def test_the_requests_of_pages_keep_the_delay_of_each_host(web: PortalWeb, tmp_path: Path) -> None:
    crawl(tmp_path / "c.db", [web.address(host) for host in (REACT, VUE, OPENLAYERS)])
    for host in (REACT, VUE, OPENLAYERS, BACKEND, SERVICES):
        times = [request.at for request in web.log if request.host == host]
        assert len(times) >= 3, host
        assert min(later - earlier for earlier, later in pairwise(times)) >= 0.95 * SETTINGS.delay_s, host
        assert next(request.target for request in web.log if request.host == host) == "/robots.txt"
