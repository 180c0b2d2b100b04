"""Serve exactly the bytes that a test gives, on loopback, and record every request byte for byte."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Behaviour = Callable[[str, asyncio.StreamWriter], "bytes | Awaitable[None]"]
"""(target, writer) → the whole answer, or a coroutine that writes it; the connection then stays open."""


@dataclass
class Loopback:
    """What was asked: request lines, and the header fields of each request (lower-case names)."""

    port: int = 0
    scheme: str = "http"
    connections: int = 0
    lines: list[str] = field(default_factory=list)
    fields: list[dict[str, str]] = field(default_factory=list)

    @property
    def base(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def targets(self) -> list[str]:
        return [line.split(" ")[1] for line in self.lines]


def answer(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """A whole answer with Content-Length; `content_type="text/html"` becomes a field of that name."""
    named = {"Content-Type": "text/html", "Content-Length": str(len(body))}
    named |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def redirect(location: str, status: str = "302 Found", **headers: str) -> bytes:
    return answer(b"moved", status, location=location, **headers)


NOT_FOUND = answer(b"no", "404 Not Found")


def pages(answers: dict[str, bytes]) -> Behaviour:
    """A site of fixed answers; 404 for all else, robots.txt included."""
    return lambda target, writer: answers.get(target, NOT_FOUND)


@asynccontextmanager
async def serve(behaviour: Behaviour, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Loopback]:
    """A running server; all its connections end with it."""
    loopback = Loopback(scheme="https" if tls else "http")
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loopback.connections += 1
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await _converse(loopback, behaviour, reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    loopback.port = server.sockets[0].getsockname()[1]
    try:
        yield loopback
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _converse(
    loopback: Loopback, behaviour: Behaviour, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *fields = head.rstrip().split("\r\n")
        loopback.lines.append(line)
        loopback.fields.append({name.lower(): value.strip() for name, _, value in (f.partition(":") for f in fields)})
        result = behaviour(line.split(" ")[1], writer)
        if isinstance(result, bytes):
            writer.write(result)
        else:
            await result
        await writer.drain()
