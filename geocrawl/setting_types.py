"""Convert values of settings as people write them, `10m` or `5MiB`, into values with a unit.

A validator raises ValueError with what was expected.
"""

from __future__ import annotations

import datetime
import re
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field

from geocrawl.wording import (
    LONGEST_S,
    read_contact,
    read_duration,
    read_hours,
    read_mail_server,
    read_networks,
    read_proxy,
    read_sender,
    read_size,
    read_text,
    read_tiles,
)

_MOST = 10**15
"""Databases store no integer above 2**63 − 1, and sums of settings have to fit, too."""
_MEDIA_TYPE = re.compile(r"[\w.+-]+/(?:[\w.+-]+|\*)")


def _read_day(value: object) -> str:
    """Return a day as YYYY-MM-DD; '' for none."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()
    text = read_text(value)
    try:
        return text and datetime.datetime.strptime(text, "%Y-%m-%d").date().isoformat()  # a day has no zone
    except ValueError:
        raise ValueError("a day such as 2024-05-31") from None


def _read_hours(value: object) -> str:
    text = read_text(value)
    read_hours(text)
    return text


def _read_site_proxy(value: object) -> str:
    return "direct" if value == "direct" else read_proxy(value)


def _read_media_types(value: object) -> tuple[str, ...]:
    """Return media types in lower case, such as text/html and text/*."""
    types = tuple(entry.lower() for entry in _read_entries(value))
    if not all(_MEDIA_TYPE.fullmatch(entry) for entry in types):
        raise ValueError('a list of media types such as ["text/html", "text/*"]')
    return types


def _read_entries(value: object) -> tuple[str, ...]:
    """Return the entries of a list, which text separates by commas."""
    entries = [part for part in value.split(",") if part.strip()] if isinstance(value, str) else value
    if not isinstance(entries, list | tuple) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError('a list such as ["one", "two"]')
    return tuple(entry.strip() for entry in entries)


def _refuse_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("a number")
    return value


Text: TypeAlias = Annotated[str, BeforeValidator(read_text)]
Integer: TypeAlias = Annotated[int, BeforeValidator(_refuse_boolean)]
Count: TypeAlias = Annotated[Integer, Field(ge=0, le=_MOST)]
AtLeastOne: TypeAlias = Annotated[Integer, Field(ge=1, le=_MOST)]
Number: TypeAlias = Annotated[float, BeforeValidator(_refuse_boolean), Field(ge=0, allow_inf_nan=False)]
Duration: TypeAlias = Annotated[float, BeforeValidator(read_duration), Field(le=LONGEST_S)]
"""Seconds."""
Size: TypeAlias = Annotated[int, BeforeValidator(read_size), Field(le=_MOST)]
"""Bytes."""
Entries: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_read_entries)]
MediaTypes: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_read_media_types)]
Day: TypeAlias = Annotated[str, BeforeValidator(_read_day)]
"""YYYY-MM-DD."""
Proxy: TypeAlias = Annotated[str, BeforeValidator(read_proxy)]
HoursOfDay: TypeAlias = Annotated[str, BeforeValidator(_read_hours)]
MailServer: TypeAlias = Annotated[str, BeforeValidator(lambda value: read_mail_server(read_text(value)))]
Sender: TypeAlias = Annotated[str, BeforeValidator(lambda value: read_sender(read_text(value)))]
Contact: TypeAlias = Annotated[str, BeforeValidator(lambda value: read_contact(read_text(value)))]
Tiles: TypeAlias = Annotated[str, BeforeValidator(lambda value: read_tiles(read_text(value)))]
Networks: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(lambda value: read_networks(_read_entries(value)))]
SiteProxy: TypeAlias = Annotated[str, BeforeValidator(_read_site_proxy)]
