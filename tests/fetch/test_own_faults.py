"""Faults of this machine, each caused for real, are no server's failures, and a server's failures are not ours."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from geocrawl.errors import OwnFault
from geocrawl.fetch import own_faults
from geocrawl.fetch.failures import classify
from geocrawl.fetch.own_faults import OwnFaults, why_away
from geocrawl.fetch.proxy import Proxy
from geocrawl.model import Failure, FailureCode, Page
from geocrawl.resources import lack_of
from tests.support.http_server import Behaviour, answer, serve
from tests.support.open_files import NoMoreFiles
from tests.support.parts import NAMESPACES, lack

from .conftest import Kit, settings, url

pytestmark = pytest.mark.machine

MakeKit = Callable[..., Kit]
ADDRESSES = ("http://a.example/", "https://a.example/")
UNAUTHENTICATED = "407 Proxy Authentication Required"


@contextmanager
def closed_port() -> Iterator[str]:
    """The address of a port at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def say_nothing() -> None:
    await asyncio.sleep(30)


@pytest.mark.parametrize("address", ADDRESSES)
async def test_a_proxy_that_is_not_there_is_a_fault_of_ours(kit: MakeKit, address: str) -> None:
    with (
        closed_port() as proxy,
        pytest.raises(OwnFault, match=rf"The proxy {proxy} does not answer \(refused\)") as got,
    ):
        await kit(proxy=proxy).get(address)
    assert not await got.value.is_over()
    async with serve(lambda target, writer: answer(b"")) as server:
        assert await OwnFaults(settings())._away(Proxy(server.base, ""), "refused").is_over()


async def test_a_proxy_whose_name_is_unknown_is_a_fault_of_ours(kit: MakeKit) -> None:
    with pytest.raises(OwnFault, match=r"no-such-proxy.invalid:3128 does not answer .its name is not resolved"):
        await kit(proxy="http://no-such-proxy.invalid:3128").get("http://a.example/")


@pytest.mark.parametrize("address", ADDRESSES)
async def test_a_proxy_that_wants_a_password_is_a_fault_of_ours(kit: MakeKit, address: str) -> None:
    async with serve(lambda target, writer: answer(b"", UNAUTHENTICATED)) as server:
        with pytest.raises(OwnFault, match=r"wants a user name and a password .407.") as got:
            await kit(proxy=server.base).get(address)
        assert not await got.value.is_over()


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("behaviour", [lambda _, writer: hang_up(writer), lambda *_: say_nothing()])
async def test_a_proxy_that_resets_or_is_silent_is_a_fault_of_ours(
    kit: MakeKit, address: str, behaviour: Behaviour
) -> None:
    async with serve(behaviour) as server:
        with pytest.raises(OwnFault, match=r"The proxy .* does not answer"):
            await kit(proxy=server.base, read_timeout_s=0.5, connect_timeout_s=0.5).get(address)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("502 Bad Gateway", FailureCode.REFUSED),
        ("503 Service Unavailable", FailureCode.REFUSED),
        ("504 Gateway Timeout", FailureCode.TIMEOUT_CONNECT),
        ("403 Forbidden", FailureCode.REFUSED),
    ],
)
async def test_what_a_living_proxy_cannot_reach_is_the_servers_failure(
    kit: MakeKit, status: str, code: FailureCode
) -> None:
    async with serve(lambda target, writer: answer(b"", status)) as server:
        tunnel = await kit(proxy=server.base).get("https://a.example/")
        plain = await kit(proxy=server.base).get("http://a.example/")
    assert isinstance(tunnel, Failure) and tunnel.code is code
    assert tunnel.detail == f"{status} (through the proxy {server.base})"
    assert isinstance(plain, Page) and plain.status == int(status[:3])


async def test_a_tunnel_that_hangs_names_the_proxy_and_not_its_password(kit: MakeKit) -> None:
    def behave(target: str, writer: asyncio.StreamWriter) -> bytes | Awaitable[None]:
        return answer(b"") if target == "*" else say_nothing()

    async with serve(behave) as server:
        asking = kit(proxy=server.base.replace("//", "//me:secret@"), read_timeout_s=0.2, connect_timeout_s=5)
        got = await asking.get("https://a.example/")
    assert isinstance(got, Failure) and got.code.startswith("timeout-")
    assert f"(through the proxy {server.base})" in got.detail and "secret" not in got.detail


async def test_a_server_that_hangs_up_or_says_407_behind_a_living_proxy_is_no_fault_of_ours(kit: MakeKit) -> None:
    def behave(target: str, writer: asyncio.StreamWriter) -> object:
        if target == "http://resets.example/":
            return hang_up(writer)
        if target == "http://forges.example/":
            return answer(b"", UNAUTHENTICATED)
        return answer(b"", "502 Bad Gateway")

    async with serve(behave) as server:  # type: ignore[arg-type]
        asking = kit(proxy=server.base)
        reset, forged = await asking.get("http://resets.example/"), await asking.get("http://forges.example/")
    assert isinstance(reset, Failure) and reset.code is FailureCode.RESET
    assert isinstance(forged, Failure) and forged.code is FailureCode.PROXY


async def test_a_proxy_of_another_kind_of_answer_lives() -> None:
    async with serve(lambda target, writer: answer(b"", "400 Bad Request")) as server:
        assert await why_away(Proxy(server.base, "Basic x"), 2.0) == ""
        assert server.lines == ["OPTIONS * HTTP/1.1"]
        assert server.fields[0]["proxy-authorization"] == "Basic x"


# --------------------------------------------------------------------------- names


class Resolver:
    """Stands in for the machine's resolver: every name is loopback, unless names are down or the name is dead."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.error: int | None = None
        self.dead: dict[str, int] = {}
        self._real = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self.getaddrinfo)

    def getaddrinfo(self, host: str | bytes | None, port: object, *rest: object, **more: object) -> object:
        name = host.decode() if isinstance(host, bytes) else host
        if not name or not name.endswith(".example"):
            return self._real(host, port, *rest, **more)  # type: ignore[arg-type]
        error = self.dead.get(name) or self.error
        if error is not None:
            raise socket.gaierror(error, "no name")
        return self._real("127.0.0.1", port, *rest, **more)  # type: ignore[arg-type]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Resolver:
    return Resolver(monkeypatch)


@pytest.mark.parametrize("number", [socket.EAI_AGAIN, socket.EAI_NONAME])
async def test_when_no_name_is_resolved_any_more_the_fault_is_ours(
    kit: MakeKit, resolver: Resolver, number: int
) -> None:
    async with serve(lambda target, writer: answer(b"hi")) as server:
        asking = kit()
        assert isinstance(await asking.get(f"http://a.example:{server.port}/"), Page)
        resolver.error = number
        with pytest.raises(OwnFault, match="No name can be resolved") as got:
            await asking.get(f"http://b.example:{server.port}/")
        assert not await got.value.is_over()
        resolver.error = None
        assert await got.value.is_over()


@pytest.mark.parametrize("number", [socket.EAI_AGAIN, socket.EAI_NONAME])
async def test_a_dead_name_among_living_ones_is_dns(kit: MakeKit, resolver: Resolver, number: int) -> None:
    resolver.dead["b.example"] = number
    async with serve(lambda target, writer: answer(b"hi")) as server:
        asking = kit()
        assert isinstance(await asking.get(f"http://a.example:{server.port}/"), Page)
        got = await asking.get(f"http://b.example:{server.port}/")
    assert isinstance(got, Failure) and got.code is FailureCode.DNS


async def test_the_first_name_is_believed_to_be_unknown_but_not_that_it_cannot_be_looked_up(
    kit: MakeKit, resolver: Resolver
) -> None:
    resolver.error = socket.EAI_NONAME
    got = await kit().get("http://a.example/")
    assert isinstance(got, Failure) and got.code is FailureCode.DNS
    resolver.error = socket.EAI_AGAIN
    with pytest.raises(OwnFault, match="No name can be resolved"):
        await kit().get("http://a.example/")


# --------------------------------------------------------------------------- the network


_IN_A_NAMESPACE = """
import asyncio, contextlib, fcntl, socket, struct, sys
from pathlib import Path
from geocrawl.errors import OwnFault
from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.http import HttpClient
from tests.support.politeness import MemoryPoliteness
from geocrawl.fetch.proxy import EnvironmentProxies
from geocrawl.model import Purpose
from geocrawl.settings import Settings
from geocrawl.urls import read_url
async def ask(*addresses, **settings):
    client = HttpClient(Settings(**settings), SystemClock(), EnvironmentProxies(), MemoryPoliteness(), user_agent="x")
    for address in addresses:
        try:
            print(await client.get(read_url(address), Purpose.PAGE))
        except OwnFault as fault:
            print(fault, await fault.is_over())
    await client.close()
"""
_WITHOUT_ROUTE = 'asyncio.run(ask("http://8.8.8.8/", "http://[2606:4700::1111]/"))'
_WITHOUT_PORTS = """
with socket.socket() as held:  # brings the loopback interface up
    fcntl.ioctl(held, 0x8914, struct.pack("16sh", b"lo", 1))
Path("/proc/sys/net/ipv4/ip_local_port_range").write_text("40000 40003")
with contextlib.ExitStack() as stack:
    server = stack.enter_context(socket.create_server(("127.0.0.1", 8080)))
    for _ in range(4):
        stack.enter_context(socket.create_connection(("127.0.0.1", 8080)))
    asyncio.run(ask("http://127.0.0.1:8080/", allow_private=True))
"""


def _in_a_namespace(script: str) -> list[str]:
    """The lines that a script prints in a network of its own, in which nothing is up."""
    alone = ["unshare", "--map-root-user", "--net"]
    try:
        subprocess.run([*alone, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        lack(NAMESPACES)
    command = [*alone, sys.executable, "-c", _IN_A_NAMESPACE + script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_without_any_route_the_fault_is_ours() -> None:
    assert _in_a_namespace(_WITHOUT_ROUTE) == ["The network is down (no route) False"] * 2


def test_without_a_free_port_the_fault_is_ours() -> None:
    (line,) = _in_a_namespace(_WITHOUT_PORTS)
    assert line.startswith("All local ports are in use (EADDRNOTAVAIL)") and line.endswith(" False")


# --------------------------------------------------------------------------- resources


@pytest.mark.parametrize("named", [False, True])
async def test_too_many_open_files_are_a_fault_of_ours(kit: MakeKit, resolver: Resolver, named: bool) -> None:
    async with serve(lambda target, writer: answer(b"hi")) as server:
        address = f"http://a.example:{server.port}/" if named else f"{server.base}/"
        asking = kit()
        with NoMoreFiles(), pytest.raises(OwnFault, match="LimitNOFILE") as got:
            await asking.get(address)
        with NoMoreFiles():
            assert not await got.value.is_over()
        assert await got.value.is_over()
        assert isinstance(await asking.get(address), Page)


@pytest.mark.parametrize(
    "error",
    [
        *(OSError(number, os.strerror(number)) for number in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)),
        *(OSError(number, os.strerror(number)) for number in (errno.ENOSPC, errno.EDQUOT, errno.EROFS)),
        MemoryError(),
        RuntimeError("can't start new thread"),
        socket.gaierror(socket.EAI_MEMORY, "Memory allocation failure"),
    ],
    ids=repr,
)
def test_a_missing_resource_is_a_fault_of_ours(error: Exception) -> None:
    assert lack_of(error)
    outer = ConnectionError("outer")
    outer.__cause__ = error
    assert classify(outer)[0] is FailureCode.MACHINE


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EADDRNOTAVAIL, "no address of that family, while ports are left"),
        OSError(errno.ECONNREFUSED, "Connection refused"),
        RuntimeError("Session is closed"),
        socket.gaierror(socket.EAI_NONAME, "unknown"),
    ],
    ids=repr,
)
def test_other_errors_name_no_resource(error: Exception) -> None:
    assert lack_of(error) == ""


async def test_an_error_of_a_server_is_judged_without_a_test() -> None:
    judge = OwnFaults(settings())
    error = ConnectionResetError(errno.ECONNRESET, "reset")
    assert await judge.fault_of(error, FailureCode.RESET, url("http://a.example/"), None) is None


def test_a_process_may_open_as_many_files_as_it_may_at_all_and_says_when_they_do_not_do() -> None:
    script = (
        "import resource; from geocrawl.resources import allow_open_files as allow\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 1000))\n"
        "print(allow(50), resource.getrlimit(resource.RLIMIT_NOFILE), allow(500), sep='|')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    enough, limits, few = done.stdout.strip().split("|")
    assert (enough, limits) == ("", "(1000, 1000)") and few.startswith(
        "500 workers may need 1,628 open files, 1,000 are"
    )


async def test_a_way_of_one_family_is_a_way(monkeypatch: pytest.MonkeyPatch) -> None:
    here, nowhere = (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "no address")
    monkeypatch.setattr(own_faults, "_ROUTES", (nowhere, here))
    assert await own_faults.has_route()
    monkeypatch.setattr(own_faults, "_ROUTES", (nowhere,))
    assert not await own_faults.has_route()
