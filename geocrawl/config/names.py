"""The names of settings as people write them, and how the value of each is read and shown.

One name in every spelling: `max_time` in TOML, `GEOCRAWL_MAX_TIME` in the environment, `--max-time` as an option.
It is the field's name in `settings.py` without its unit: a duration or a size is written with the unit it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import lru_cache
from typing import Any

from geocrawl.config import values
from geocrawl.settings import Settings, SiteSettings

_AT_LEAST_ONE = {"workers", "max_attempts", "backoff_after", "max_segment_repeats", "max_ratio", "max_url_chars"}
_ABOVE_ZERO = {
    "connect_timeout_s",
    "read_timeout_s",
    "total_timeout_s",
    "lease_s",
    "page_body_bytes",
    "probe_body_bytes",
}
_CHOICES = {"scope": ("any", "site", "host")}
_READERS: Mapping[str, Callable[[object], object]] = {
    "proxy": values.read_proxy,
    "not_before": values.read_date,
    "not_after": values.read_date,
    "allow": values.read_addresses,
    "deny": values.read_addresses,
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting, as people know it."""

    name: str
    field: str
    """Name in `Settings` or `SiteSettings`."""
    takes: str
    """What it takes: text, number, true/false, duration, size, table …"""
    default: object
    """None: of a host, the common setting of that name."""
    help: str
    secret: bool
    of_site: bool = False
    """Of one host, so in `SiteSettings`."""

    def read(self, value: object) -> object:
        """The value as `Settings` holds it.

        Raises ValueError with what was expected.
        """
        result = _reader(self)(value)
        if isinstance(result, int | float) and not isinstance(result, bool):
            self._check_range(result)
        if self.field in _CHOICES and result not in _CHOICES[self.field]:
            raise ValueError("one of " + ", ".join(_CHOICES[self.field]))
        return result

    def _check_range(self, number: float) -> None:
        if self.field in _AT_LEAST_ONE and number < 1:
            raise ValueError(f"{self.takes}, at least 1")
        if self.field in _ABOVE_ZERO and number <= 0:
            raise ValueError(f"a {self.takes} above 0")
        if number < 0:
            raise ValueError(f"{self.takes}, 0 or more")

    def show(self, value: object) -> object:
        """The value as people write it; passwords, and the credentials in a proxy's address, are masked."""
        if isinstance(value, float) and self.takes == "duration":
            return values.spell_duration(value)
        if isinstance(value, int) and self.takes == "size":
            return values.spell_size(value)
        if self.secret and isinstance(value, str) and value:
            return values.without_credentials(value) if self.field == "proxy" else "***"
        return value


@lru_cache(maxsize=1)
def settings_by_name() -> Mapping[str, Setting]:
    """All settings in the order of `settings.py`."""
    return _described(fields(Settings), of_site=False)


@lru_cache(maxsize=1)
def site_settings_by_name() -> Mapping[str, Setting]:
    """The settings of one host."""
    return _described(fields(SiteSettings), of_site=True)


def nearest(name: str, known: Iterable[str]) -> str:
    """', did you mean …?' for a name that is near a known one, else ''."""
    import difflib

    found = difflib.get_close_matches(name.lower().replace("-", "_"), list(known), n=1)
    return f", did you mean {found[0]}?" if found else ""


def _described(all_fields: Iterable[Field[Any]], *, of_site: bool) -> Mapping[str, Setting]:
    described = (_describe(field, of_site=of_site) for field in all_fields)
    return {setting.name: setting for setting in described}


def _describe(field: Field[Any], *, of_site: bool) -> Setting:
    unit = field.metadata["unit"]
    name, takes = (
        field.name,
        unit or {"int": "number", "float": "number", "bool": "true/false"}.get(str(field.type), "text"),
    )
    if unit == "s":
        name, takes = field.name.removesuffix("_s"), "duration"
    elif unit == "bytes":
        name, takes = field.name.removesuffix("_bytes"), "size"
    elif field.name in ("set", "sites"):
        takes = "table"
    elif isinstance(field.default, tuple):
        takes = "list"
    default: object = {} if field.default is MISSING else field.default
    return Setting(name, field.name, takes, default, field.metadata["help"], field.metadata["secret"], of_site)


def _reader(setting: Setting) -> Callable[[object], object]:
    if setting.field == "proxy" and setting.of_site:
        return values.read_site_proxy
    if setting.field in _READERS:
        return _READERS[setting.field]
    if setting.takes in ("duration", "size"):
        return values.read_duration if setting.takes == "duration" else values.read_size
    if isinstance(setting.default, bool):
        return values.read_boolean
    if isinstance(setting.default, int):
        return values.read_integer
    return values.read_float if isinstance(setting.default, float) else values.read_text
