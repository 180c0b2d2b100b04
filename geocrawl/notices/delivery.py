"""Deliver messages to their recipients: web addresses, `mail:ADDRESS`, `file:PATH`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.files import SECRET, refuse_database
from geocrawl.model.watches import Delivery
from geocrawl.notices import mail, webhook
from geocrawl.notices.message import as_json, as_text, subject
from geocrawl.settings import Settings
from geocrawl.urls.database import Place

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
