"""Tell people of changes: signed webhooks, mails (`mail:ADDRESS`), and lines in a file (`file:PATH`).

A message is JSON for programs, a subject and lines for people. A failure is a value: the text of what went wrong, ''
for a message that arrived. `store.upkeep.watches` decides what is told.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import os
import smtplib
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from geocrawl import __version__
from geocrawl.errors import UsageError
from geocrawl.fetch.failures import WEB_ERRORS, classify
from geocrawl.fetch.guard import AddressGuard
from geocrawl.fetch.names import NameCache
from geocrawl.fetch.transport import PooledTransport, request_for
from geocrawl.files import SECRET, refuse_database
from geocrawl.model import FailureCode
from geocrawl.model.kinds import short_name
from geocrawl.model.watches import Delivery, Notice, What
from geocrawl.sanitize import masked, plain
from geocrawl.settings import Settings
from geocrawl.urls import read_url
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import counted, is_mail_address, iso, moment

_MAIL, _FILE = "mail:", "file:"
_RECIPIENT_CHARS = 2_000
_DELIVERY_S = 30.0
"""Longest time of a delivery as a whole."""


def read_recipient(text: str, settings: Settings, database: DatabaseUrl) -> str:
    """Return a recipient as it is stored: of a file, the full path. Raises UsageError for one that cannot be told."""
    if text.startswith(_MAIL):
        refused = mail_refusal(text.removeprefix(_MAIL), settings)
    elif not text.isprintable() or len(text) > _RECIPIENT_CHARS:
        refused = f"has control characters, or more than {_RECIPIENT_CHARS:,} in all"
    elif text.startswith(_FILE):
        path = Path(text.removeprefix(_FILE)).expanduser().absolute()
        refused = _file_refusal(path, database)
        text = f"{_FILE}{path}"
    else:
        refused = webhook_refusal(text, allow_private=settings.allow_private)
    if refused:
        raise UsageError(f"--to {plain(text, _TITLE_CHARS)}: {refused}")
    return text


def _file_refusal(path: Path, database: DatabaseUrl) -> str:
    """Return why no lines can be kept in a file; '' when they can."""
    try:
        refuse_database(path, database)
        return "" if path.parent.is_dir() and not path.is_dir() else "is in no folder that exists, or is a folder"
    except (OSError, RuntimeError) as error:  # a name that is too long, links in a circle
        return f"cannot be a file: {getattr(error, 'strerror', None) or 'its links lead in a circle'}"


async def deliver(delivery: Delivery, settings: Settings, database: DatabaseUrl, at: float) -> str:
    """Deliver one message; return '' when it arrived, else what went wrong. Takes at most half a minute."""
    recipient = delivery.watch.recipient
    if recipient.startswith(_MAIL):
        address = recipient.removeprefix(_MAIL)
        text = subject(delivery), as_text(delivery, at)
        return await _in_time(recipient, partial(send_mail, address, *text, settings))
    if recipient.startswith(_FILE):
        path = Path(recipient.removeprefix(_FILE))
        return await _in_time(recipient, partial(_append, path, as_json(delivery, at), database))
    message, secret = as_json(delivery, at), delivery.watch.secret
    return await post_webhook(recipient, message, secret, allow_private=settings.allow_private)


async def _in_time(recipient: str, work: Callable[[], str]) -> str:
    """Return what a delivery that blocks returns, or that its time is over.

    A mail server may drip a byte now and then, and a disk may be away: no time-out of one read ends that. The thread is
    then left to itself, one for each recipient at most.
    """
    name = f"notices to {recipient}"
    if any(thread.name == name for thread in threading.enumerate()):
        return "still hangs in the attempt before this one"
    try:
        outcome = asyncio.get_running_loop().run_in_executor(_DaemonThread(name), work)
        return await asyncio.wait_for(outcome, _DELIVERY_S)
    except TimeoutError:
        return f"did not take the message within {_DELIVERY_S:g} s"
    except Exception as error:  # whatever it is, the other recipients are told
        return f"{type(error).__name__}: {error}"


class _DaemonThread(Executor):
    """Runs a call in a thread for which the end of the process does not wait."""

    def __init__(self, name: str) -> None:
        self._name = name

    def submit(self, work: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        """Start the thread; return its result to come."""
        future = Future[Any]()
        future.set_running_or_notify_cancel()  # it cannot be cancelled from now on

        def run() -> None:
            try:
                result = work(*args, **named)
            except BaseException as error:
                thread.name = "notices"  # it hangs no more
                future.set_exception(error)
            else:
                thread.name = "notices"
                future.set_result(result)

        thread = threading.Thread(target=run, name=self._name, daemon=True)
        thread.start()
        return future


def _append(path: Path, message: Mapping[str, object], database: DatabaseUrl) -> str:
    """Append a line; return '' when it is on disk, else what went wrong. `database` is never written to."""
    line = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    try:
        refuse_database(path, database)
        if path.is_fifo():
            return "cannot be written: it is a pipe, which keeps nothing; name a file"
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, SECRET)
        try:
            written = os.write(descriptor, line)
            if written < len(line):
                os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
                return "cannot be written: the disk is full"
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except (OSError, UsageError) as error:
        return f"cannot be written: {getattr(error, 'strerror', None) or error}"
    return ""


_WORDS = {
    What.DIED: "no longer answers",
    What.RETURNED: "answers again",
    What.SLOW: "answers more slowly than usual",
    What.USUAL: "answers as fast as usual again",
    What.MOVED: "has moved",
    What.LAYERS_REMOVED: "lost layers",
    What.NEW: "is new",
}
_TITLE_CHARS = 200


def as_json(delivery: Delivery, at: float) -> dict[str, object]:
    """Return the message for programs. A notice that arrives twice, after a broken connection, has the same id."""
    watch = delivery.watch
    watched = {"service": watch.service_id} if watch.service_id is not None else {"query": watch.query}
    return {
        "sent_at": iso(at),
        "watch": {"id": watch.id, **watched},
        "notices": [_notice(notice) for notice in delivery.notices],
        "waiting": max(0, watch.unsent - len(delivery.notices)),
    }


def _notice(notice: Notice) -> dict[str, object]:
    layers = {"layers": list(map(plain, notice.layers)), "more_layers": notice.more_layers} if notice.layers else {}
    return {
        "id": notice.id,
        "at": iso(notice.at),
        "what": str(notice.what),
        "service": {"id": notice.service_id, "kind": notice.kind, "title": _title(notice), "url": masked(notice.url)},
        **layers,
        **({"moved_to": masked(notice.moved_to)} if notice.moved_to else {}),
        **({"more_services": notice.more_services} if notice.more_services else {}),
        **({"is_last": True} if notice.is_last else {}),
    }


def subject(delivery: Delivery) -> str:
    """Return the subject of a mail: one line."""
    (first, *others) = delivery.notices
    more = f", and {counted(len(others), 'more notice')}" if others else ""
    return plain(f"geocrawl: {_title(first)} {_WORDS[first.what]}{more}", _TITLE_CHARS)


def as_text(delivery: Delivery, at: float) -> str:
    """Return the message for people."""
    return "\n".join(_lines(delivery, at)) + "\n"


def _lines(delivery: Delivery, at: float) -> Iterator[str]:
    watch = delivery.watch
    for notice in delivery.notices:
        yield f"{_title(notice)} ({short_name(notice.kind)}, number {notice.service_id}) {_WORDS[notice.what]}"
        yield f"  {masked(plain(notice.url))}"
        if notice.moved_to:
            yield f"  moved to {masked(plain(notice.moved_to))}"
        if notice.layers:
            more = f" and {notice.more_layers} more" if notice.more_layers else ""
            yield f"  layers: {', '.join(plain(name, 80) for name in notice.layers)}{more}"
        if notice.more_services:
            yield f"  {counted(notice.more_services, 'further service')} are new as well: `geocrawl search` lists them."
        if notice.is_last:
            yield "  It changes often: nothing more is told of it until it was quiet for a week."
        yield ""
    waiting = watch.unsent - len(delivery.notices)
    if waiting > 0:
        yield f"{counted(waiting, 'further notice')} will follow."
        yield ""
    yield f"Watch {watch.id}: {plain(watch.subject, 300)}. Sent {moment(at)} UTC."
    yield f"To end it: geocrawl watch remove {watch.id}"


def _title(notice: Notice) -> str:
    return plain(notice.title, _TITLE_CHARS) or f"service {notice.service_id}"


# --------------------------------------------------------------------------- mails
# Send a message as a mail, through the operator's mail server (settings `mail_…`).


_TIMEOUT_S = 30.0
_PORTS = {"starttls": 587, "tls": 465, "none": 25}


def mail_refusal(address: str, settings: Settings) -> str:
    """Return why no mail can be sent to an address; '' when one can be tried."""
    if not is_mail_address(address):
        return "is no mail address"
    if not settings.mail_server:
        missing = "cannot get mail: the setting mail_server names no server"
        return f"{missing}; set it in the configuration file or by GEOCRAWL_MAIL_SERVER"
    return ""


def send_mail(address: str, subject: str, text: str, settings: Settings) -> str:
    """Send a mail; return '' when the server took it, else what went wrong. Blocks for at most half a minute a step."""
    if refused := mail_refusal(address, settings):
        return refused
    message = EmailMessage()
    message["From"] = settings.mail_from or address
    message["To"] = address
    message["Subject"] = subject
    message["Date"] = formatdate()
    message["Message-ID"] = make_msgid(domain="geocrawl.invalid")
    message["Auto-Submitted"] = "auto-generated"  # RFC 3834: no automatic answers
    message.set_content(text)
    try:
        with _connected(settings) as server:
            if settings.mail_user:
                server.login(settings.mail_user, settings.mail_password)
            server.send_message(message)
    except (smtplib.SMTPException, OSError) as error:
        return f"the mail server {settings.mail_server} did not take the mail: {_said(error)}"
    return ""


def _connected(settings: Settings) -> smtplib.SMTP:
    """Return a connection to the mail server, encrypted unless `mail_security` is none."""
    security = settings.mail_security
    host, _, port = settings.mail_server.partition(":")
    number = int(port) if port.isdecimal() else _PORTS[security]
    if security == "tls":
        return smtplib.SMTP_SSL(host, number, timeout=_TIMEOUT_S, context=ssl.create_default_context())
    server = smtplib.SMTP(host, number, timeout=_TIMEOUT_S)
    if security == "starttls":
        try:
            server.starttls(context=ssl.create_default_context())
        except BaseException:
            server.close()
            raise
    return server


def _said(error: Exception) -> str:
    """Return what a server or the system said, in one line."""
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        return f"{error.smtp_code} {said.decode('utf-8', 'replace') if isinstance(said, bytes) else said}"
    return " ".join(str(error).split()) or type(error).__name__


# --------------------------------------------------------------------------- webhooks
# Post a message to a web address, signed, and never to a private network unless the operator allows that.
#
# The address is checked when the connection is made, so a name cannot pass the check and resolve to something else
# later. Redirects are not followed, and nothing of the answer but its status is read.


SIGNATURE = "Geocrawl-Signature"
"""Header: `sha256=` and the HMAC-SHA256 of the body with the watch's secret, in hexadecimal."""
_WEBHOOK_TIMEOUT_S = 15.0
_REFUSED = "is in a private network; allow_private = true in the configuration permits that"


def signature(secret: str, body: bytes) -> str:
    """Return the value of the header `SIGNATURE`."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def webhook_refusal(address: str, *, allow_private: bool) -> str:
    """Return why an address cannot be a recipient, judged by its text; '' when it can."""
    url = read_url(address)
    if url is None or not address.lower().startswith(("http://", "https://")):
        return "is no web address; expected a web address, mail:ADDRESS or file:PATH"
    return "" if AddressGuard(allow_private=allow_private).lets_pass(url.host) else _REFUSED


async def post_webhook(address: str, message: Mapping[str, object], secret: str, *, allow_private: bool) -> str:
    """Post a message as JSON; return '' when the server took it (status 2xx), else what went wrong."""
    if refused := webhook_refusal(address, allow_private=allow_private):
        return refused
    body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"geocrawl/{__version__}",
        SIGNATURE: signature(secret, body),
    }
    request = request_for(address, [(name.encode(), value.encode()) for name, value in headers.items()], body=body)
    transport = PooledTransport(Settings(), AddressGuard(allow_private=allow_private), NameCache(_WEBHOOK_TIMEOUT_S))
    try:
        async with (
            asyncio.timeout(_WEBHOOK_TIMEOUT_S),
            httpx.AsyncClient(transport=transport, trust_env=False) as client,
        ):
            answer = await client.send(request, stream=True)
            await answer.aclose()
    except WEB_ERRORS as error:
        return _webhook_failure(error)
    gone = " (the recipient gave the address up)" if answer.status_code == httpx.codes.GONE else ""
    return "" if answer.is_success else f"answered with status {answer.status_code}{gone}"


def _webhook_failure(error: Exception) -> str:
    code, detail = classify(error)
    if code is FailureCode.GUARD:
        return _REFUSED
    if isinstance(error, TimeoutError):
        return f"did not answer within {_WEBHOOK_TIMEOUT_S:g} s"
    return f"cannot be reached: {detail}"
