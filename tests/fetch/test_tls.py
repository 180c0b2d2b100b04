"""Servers whose TLS cannot be verified: what a probe passes over, and what is never sent to them."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from geocrawl.fetch.tls import tls_deviation
from geocrawl.model import Failure, FailureCode, Page, Purpose
from geocrawl.settings import Settings, SiteSettings
from tests.support.http_server import answer, redirect
from tests.support.parts import OLD_TLS, lack
from tests.support.tls_zoo import ANIMALS, Cage, housed, is_spoken

from .conftest import Kit, url

pytestmark = pytest.mark.machine

MakeKit = Callable[..., Kit]
Zoo = Callable[..., AbstractContextManager[Cage]]
AT_FAULT = sorted(name for name, animal in ANIMALS.items() if animal.deviation)
SITE = {"/wms": answer(b"<a/>"), "/map": answer(b"png"), "/page": answer(b"<html>")}


@pytest.fixture
def zoo(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> Zoo:
    """Serve a site with the TLS of one animal; its authority is trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "authority.pem"))

    def served(name: str, site: Mapping[str, bytes] = SITE) -> AbstractContextManager[Cage]:
        if not is_spoken(name, certificates):
            lack(OLD_TLS)
        return housed(name, certificates, site.get)

    return served


@pytest.mark.parametrize("name", AT_FAULT)
async def test_a_probe_goes_on_and_names_the_fault(kit: MakeKit, zoo: Zoo, name: str) -> None:
    with zoo(name) as server:
        async with kit().turn() as turn:
            got = await turn.fetch(url(server.base + "/wms"), purpose=Purpose.PROBE)
            assert isinstance(got, Page), got
            assert got.body == b"<a/>"
            assert [deviation.code for deviation in got.deviations] == [ANIMALS[name].deviation]
            assert all(deviation.detail for deviation in got.deviations)
            assert turn.host.asked == 2
    assert len(server.targets) == 1


async def test_a_verified_server_is_asked_once_and_has_no_deviation(kit: MakeKit, zoo: Zoo) -> None:
    with zoo("good") as server:
        async with kit().turn() as turn:
            for purpose in (Purpose.PROBE, Purpose.PAGE):
                got = await turn.fetch(url(server.base + "/wms"), purpose=purpose)
                assert isinstance(got, Page)
                assert got.deviations == ()
            assert turn.host.asked == 2


@pytest.mark.parametrize("name", AT_FAULT)
async def test_a_page_is_never_read_without_verification(kit: MakeKit, zoo: Zoo, name: str) -> None:
    with zoo(name) as server:
        got = await kit(ignore_robots=False).get(server.base + "/page")
    assert isinstance(got, Failure)
    assert got.code is FailureCode.TLS
    assert server.targets == []


@pytest.mark.parametrize("name", AT_FAULT)
async def test_strict_tls_refuses(kit: MakeKit, zoo: Zoo, name: str) -> None:
    with zoo(name) as server:
        async with kit(strict_tls=True).turn() as turn:
            got = await turn.fetch(url(server.base + "/wms"), purpose=Purpose.PROBE)
            assert isinstance(got, Failure)
            assert got.code is FailureCode.TLS
            assert turn.host.asked == 1
    assert server.targets == []


async def test_a_page_after_a_probe_is_verified_on_a_connection_of_its_own(kit: MakeKit, zoo: Zoo) -> None:
    with zoo("expired") as server:
        async with kit().turn() as turn:
            for purpose, of in ((Purpose.PROBE, Page), (Purpose.PAGE, Failure), (Purpose.MAP, Page)):
                assert isinstance(await turn.fetch(url(server.base + "/wms"), purpose=purpose), of)
    assert len(server.targets) == 2


async def test_the_failed_handshake_is_made_once_a_turn(kit: MakeKit, zoo: Zoo) -> None:
    with zoo("self-signed") as server:
        async with kit(ignore_robots=False).turn() as turn:
            for path, purpose in (("/wms", Purpose.PROBE), ("/map", Purpose.MAP)):
                got = await turn.fetch(url(server.base + path), purpose=purpose)
                assert isinstance(got, Page)
                assert [deviation.code for deviation in got.deviations] == ["tls-self-signed"]
            assert turn.host.asked == 4
    assert server.targets == ["/robots.txt", "/wms", "/map"]


async def test_robots_txt_of_such_a_server_is_obeyed(kit: MakeKit, zoo: Zoo) -> None:
    rules = answer(b"User-agent: *\nDisallow: /wms", content_type="text/plain")
    with zoo("expired", {"/robots.txt": rules}) as server:
        got = await kit(ignore_robots=False).get(server.base + "/wms", Purpose.PROBE)
    assert isinstance(got, Failure)
    assert got.code is FailureCode.ROBOTS
    assert server.targets == ["/robots.txt"]


async def test_a_server_to_which_a_password_belongs_is_refused(kit: MakeKit, zoo: Zoo) -> None:
    with zoo("expired") as server:
        sites = {server.base: SiteSettings(user="ada", password="secret")}
        got = await kit(sites=sites).get(server.base + "/wms", Purpose.PROBE)
    assert isinstance(got, Failure)
    assert got.code is FailureCode.TLS
    assert server.targets == []


async def test_no_cookie_is_sent_without_verification(kit: MakeKit, zoo: Zoo) -> None:
    site = {"/wms": redirect("/other", set_cookie="session=1"), "/other": answer(b"<a/>")}
    with zoo("wrong name", site) as server:
        got = await kit().get(server.base + "/wms", Purpose.PROBE)
    assert isinstance(got, Page)
    assert server.targets == ["/wms", "/other"]
    assert all("cookie" not in fields for fields in server.fields)


async def test_a_fault_that_is_passed_over_is_no_error_of_the_host(kit: MakeKit, zoo: Zoo) -> None:
    on_the_edge = Settings().backoff_after - 1
    with zoo("expired") as server:
        async with kit().turn(errors=on_the_edge) as turn:
            assert isinstance(await turn.fetch(url(server.base + "/wms"), purpose=Purpose.PROBE), Page)
            assert turn.host.errors == 0


def unnamed(text: str) -> ssl.SSLError:
    """Return an error whose reason this Python has no name for."""
    error = ssl.SSLError(1, f"[SSL] {text} (_ssl.c:992)")
    error.reason = None  # type: ignore[assignment]
    return error


def test_a_reason_that_python_has_no_name_for_is_read_from_its_text() -> None:
    found = tls_deviation(unnamed("legacy sigalg disallowed or unsupported"))
    assert found is not None
    assert (found.code, found.detail) == ("tls-protocol", "legacy sigalg disallowed or unsupported")
    assert tls_deviation(unnamed("internal error")) is None
