"""Write messages, and deliver them to their recipients: web addresses, `mail:ADDRESS`, `file:PATH`.

A message is JSON for programs, a subject and lines for people.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.files import SECRET, refuse_database
from geocrawl.model.kinds import short_name
from geocrawl.model.watches import Delivery, Notice, What
from geocrawl.notices import mail, webhook
from geocrawl.sanitize import masked, plain
from geocrawl.settings import Settings
from geocrawl.urls.database import Place
from geocrawl.wording import counted, iso, moment

_MAIL, _FILE = "mail:", "file:"


def read_recipient(text: str, settings: Settings, database: Place) -> str:
    """Return a recipient as it is stored: of a file, the full path. Raises UsageError for one that cannot be told."""
    from geocrawl.files import refuse_database

    if text.startswith(_MAIL):
        refused = mail.refusal_of(text.removeprefix(_MAIL), settings)
    elif text.startswith(_FILE):
        path = Path(text.removeprefix(_FILE)).expanduser().absolute()
        refuse_database(path, database)
        refused = "" if path.parent.is_dir() and not path.is_dir() else "is in no folder that exists, or is a folder"
        text = f"{_FILE}{path}"
    else:
        refused = webhook.refusal_of(text, allow_private=settings.allow_private)
    if refused:
        raise UsageError(f"--to {text}: {refused}")
    return text


async def deliver(delivery: Delivery, settings: Settings, database: Place, at: float) -> str:
    """Deliver one message; return '' when it arrived, else what went wrong."""
    recipient = delivery.watch.recipient
    if recipient.startswith(_MAIL):
        address = recipient.removeprefix(_MAIL)
        return await asyncio.to_thread(mail.send, address, subject(delivery), as_text(delivery, at), settings)
    if recipient.startswith(_FILE):
        path = Path(recipient.removeprefix(_FILE))
        return await asyncio.to_thread(_append, path, as_json(delivery, at), database)
    message, secret = as_json(delivery, at), delivery.watch.secret
    return await webhook.post(recipient, message, secret, allow_private=settings.allow_private)


def _append(path: Path, message: Mapping[str, object], database: Place) -> str:
    """Append a line; return '' when it is on disk, else what went wrong. `database` is never written to."""
    line = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    try:
        refuse_database(path, database)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, SECRET)
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
        "notices": [_notice(each) for each in delivery.notices],
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
