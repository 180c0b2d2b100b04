"""Deliver messages to their recipients: web addresses, `mail:ADDRESS`, `file:PATH`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.model.watches import Delivery
from geocrawl.notices import journal, mail, webhook
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
        raise UsageError(f"--to {text}: {refused}; expected a web address, mail:ADDRESS or file:PATH")
    return text


async def deliver(delivery: Delivery, settings: Settings, database: Place, at: float) -> str:
    """Deliver one message; return '' when it arrived, else what went wrong."""
    recipient = delivery.watch.recipient
    if recipient.startswith(_MAIL):
        address = recipient.removeprefix(_MAIL)
        return await asyncio.to_thread(mail.send, address, subject(delivery), as_text(delivery, at), settings)
    if recipient.startswith(_FILE):
        path = Path(recipient.removeprefix(_FILE))
        return await asyncio.to_thread(journal.append, path, as_json(delivery, at), database)
    message, secret = as_json(delivery, at), delivery.watch.secret
    return await webhook.post(recipient, message, secret, allow_private=settings.allow_private)
