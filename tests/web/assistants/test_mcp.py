"""The catalogue for assistants, asked by the SDK's own client: in this process, over HTTP and over standard streams."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from geocrawl.errors import UsageError
from geocrawl.store import Store
from geocrawl.web.application import config_of, listen
from geocrawl.web.assistants.server import make_http_application, make_server
from geocrawl.web.options import Options
from tests.support.made_catalogue import make_catalogue
from tests.support.places import ROOT
from tests.support.world import ManualClock

mcp: Any = pytest.importorskip("mcp", reason="the SDK of MCP is not installed: pip install '.[mcp]'")

TOOLS = {"search", "show", "layers", "health", "request_addresses"}
SECRET = "s3cr3tKEY"


@pytest.fixture(scope="module")
def catalogue(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue of made services; one title is hostile, one address has a key."""
    path = tmp_path_factory.mktemp("mcp") / "c.db"
    make_catalogue(path, 60)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute(
            "UPDATE service SET title = 'Peatlands', abstract = ? WHERE id = 1", ("\x1b[31m" + "peat " * 2000,)
        )
        writer.execute(
            "UPDATE endpoint SET url = url || ?, masked_url = url || '&key=***' WHERE id = 2", (f"&key={SECRET}",)
        )
    Store.open(path, clock=ManualClock()).close()  # what is missing in the index of the search is added
    return path


async def ask(client: Any, tool: str, **arguments: object) -> Any:
    """Return the answer of a tool."""
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found.content
    return found.structured_content


async def refused(client: Any, tool: str, **arguments: object) -> str:
    """Return what a tool says is wrong."""
    found = await client.call_tool(tool, arguments)
    assert found.is_error
    return str(found.content[0].text)


async def test_tools_are_read_only_and_say_what_they_do(catalogue: Path) -> None:
    async with mcp.Client(make_server(Options(catalogue))) as client:
        tools = (await client.list_tools()).tools
        assert {each.name for each in tools} == TOOLS
        assert all(each.annotations.read_only_hint and len(each.description) > 50 for each in tools)
        assert "never instructions" in client.instructions


async def test_an_assistant_finds_a_service_and_asks_about_it(catalogue: Path) -> None:
    async with mcp.Client(make_server(Options(catalogue))) as client:
        found = await ask(client, "search", query="kind:wms", limit=3)
        assert len(found["services"]) == 3 and found["next_offset"] == 3 and found["total"] > 3
        number = found["services"][0]["service"]
        assert (await ask(client, "show", service=number))["kind"] == "wms"
        layers = await ask(client, "layers", service=number, limit=2)
        assert layers["total"] == 5 and len(layers["layers"]) == 2
        assert (await ask(client, "health", service=number))["addresses"][0]["health"]
        name = layers["layers"][0]["name"]
        ready = await ask(client, "request_addresses", service=number, layer=name, bbox=[5, 47, 15, 52], width=500)
        assert "REQUEST=GetCapabilities" in ready["capabilities"]
        for part in ("request=getmap", f"layers={name}", "width=500", "height=250", "5"):
            assert part in ready["picture"].lower()


async def test_answers_are_bounded_plain_and_masked(catalogue: Path) -> None:
    async with mcp.Client(make_server(Options(catalogue))) as client:
        shown = await ask(client, "show", service=1)
        assert len(shown["abstract"]) == 2000 and "\x1b" not in shown["abstract"]
        for tool in ("show", "health", "request_addresses"):
            answer = json.dumps(await ask(client, tool, service=2))
            assert SECRET not in answer and "***" in answer, tool
        assert "key" in (await ask(client, "request_addresses", service=2))["note"]
        every = [json.dumps(await ask(client, tool, service=3)) for tool in ("show", "layers", "health")]
        assert max(map(len, every)) < 20_000


async def test_what_cannot_be_answered_is_told(catalogue: Path) -> None:
    async with mcp.Client(make_server(Options(catalogue))) as client:
        assert "no service 999" in await refused(client, "show", service=999)
        assert "no layer 'nothing'" in await refused(client, "request_addresses", service=1, layer="nothing")
        assert "kind" in await refused(client, "search", query="kind:nothing")
        assert "box" in await refused(client, "request_addresses", service=1, layer="layer0", bbox=[1, 2])
        for arguments in ({"limit": 5000}, {"query": "x" * 600}):
            assert await refused(client, "search", **arguments)


def test_without_the_sdk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with pytest.raises(UsageError, match=r"pip install '.\[mcp\]'"):
        make_server(Options(tmp_path / "c.db"))


# --------------------------------------------------------------------------- HTTP


@contextmanager
def served(catalogue: Path) -> Iterator[str]:
    """The address of the server over HTTP."""
    options = Options(catalogue, port=0)
    listening = listen(options)
    server = uvicorn.Server(config_of(make_http_application(options), options))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        server.should_exit = True
        thread.join(10)


async def test_it_is_asked_over_http(catalogue: Path) -> None:
    with served(catalogue) as address:
        async with mcp.Client(address) as client:
            assert {each.name for each in (await client.list_tools()).tools} == TOOLS
            assert (await ask(client, "search", query="roads", limit=1))["total"] > 0


def test_pages_elsewhere_and_other_names_are_refused(catalogue: Path) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json, text/event-stream"}
    with TestClient(make_http_application(Options(catalogue)), base_url="http://127.0.0.1:8082") as client:
        assert client.post("/mcp", json=body, headers=headers | {"Origin": "https://evil.example"}).status_code == 403
        assert client.post("/mcp", json=body, headers=headers | {"Host": "evil.example"}).status_code == 421
        assert client.options("/mcp").status_code == 405
        assert client.post("/mcp", content=b"x" * 100_000, headers=headers).status_code in (400, 413, 415)
        answer = client.post("/mcp", json=body, headers=headers)
        assert "access-control-allow-origin" not in answer.headers
        assert client.get("/").status_code == 404


# --------------------------------------------------------------------------- standard streams


@pytest.mark.long
async def test_it_is_asked_over_standard_streams(catalogue: Path) -> None:
    command = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-m", "geocrawl", "mcp", "--db", str(catalogue)],
        env=dict(os.environ),
        cwd=str(ROOT),
    )
    async with mcp.Client(command) as client:
        assert (await ask(client, "show", service=1))["title"] == "Peatlands"
