"""Receivers on loopback that note what arrives: a web server for webhooks, a mail server."""

from __future__ import annotations

import socketserver
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass
class Hook:
    """A web server. Its attributes decide how it answers."""

    port: int = 0
    status: int = 204
    location: str = ""
    answers: Event = field(default_factory=Event)
    """Set at first; while it is not, nobody gets an answer."""
    received: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    """Path, headers by name in lower case, body."""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?token=sesame"


@contextmanager
def webhook() -> Iterator[Hook]:
    hook = Hook()
    hook.answers.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.received.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            hook.answers.wait()
            self.send_response(hook.status)
            if hook.location:
                self.send_header("Location", hook.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as hook.port:
        yield hook
        hook.answers.set()


@dataclass
class MailServer:
    """A mail server (RFC 5321, STARTTLS of RFC 3207) that takes every mail, or answers DATA with `refusal`."""

    port: int = 0
    refusal: str = ""
    tls: ssl.SSLContext | None = None
    """None: the server does not offer STARTTLS."""
    commands: list[str] = field(default_factory=list)
    """First word of each line that clients sent, and whether the line was encrypted: `MAIL encrypted`, `EHLO plain`."""
    received: list[tuple[str, Message]] = field(default_factory=list)
    """Recipient of the envelope, and the mail."""

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


@contextmanager
def mail_server() -> Iterator[MailServer]:
    mails = MailServer()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            recipient = ""
            self.say("220 mail.example")
            while line := self.rfile.readline().decode().strip():
                verb = line.upper()
                encrypted = isinstance(self.connection, ssl.SSLSocket)
                mails.commands.append(f"{verb.split()[0]} {'encrypted' if encrypted else 'plain'}")
                if verb.startswith(("EHLO", "HELO")):
                    self.say("250-mail.example\r\n250 STARTTLS" if mails.tls and not encrypted else "250 mail.example")
                elif verb == "STARTTLS" and mails.tls:
                    self.say("220 go on")
                    self.encrypt(mails.tls)
                elif verb.startswith("RCPT TO:"):
                    recipient = line[8:].strip("<> ")
                    self.say("250 ok")
                elif verb == "DATA":
                    if mails.refusal:
                        self.say(mails.refusal)
                        continue
                    self.say("354 go on")
                    lines = iter(self.rfile.readline, b".\r\n")
                    mails.received.append((recipient, message_from_bytes(b"".join(lines))))
                    self.say("250 taken")
                elif verb == "QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 ok")

        def encrypt(self, tls: ssl.SSLContext) -> None:
            self.connection = tls.wrap_socket(self.connection, server_side=True)
            self.rfile = self.connection.makefile("rb")
            self.wfile = self.connection.makefile("wb", 0)

        def say(self, text: str) -> None:
            self.wfile.write(f"{text}\r\n".encode())

    with serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)) as mails.port:
        yield mails


@contextmanager
def serving(server: socketserver.TCPServer) -> Iterator[int]:
    """Run a server in a thread; its port."""
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
