"""The names of settings as people write them, and how the value of each is read and shown.

A setting has one name in every spelling: `max_time` in TOML, `GEOCRAWL_MAX_TIME` in the environment, `--max-time` as
an option. The name is that of the field in `settings.py` without its unit, since people write a unit with the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import lru_cache
from typing import Any

from geocrawl.config import values
from geocrawl.settings import Option, Settings, SiteSettings

_AT_LEAST_ONE = {
    "workers",
    "processes",
    "max_attempts",
    "backoff_after",
    "max_segment_repeats",
    "max_ratio",
    "max_url_chars",
}
_AT_MOST = {"workers": 1000, "processes": 64, "economy": 1, "max_depth": 1_000_000}
_ABOVE_ZERO = {
    "dns_timeout_s",
    "connect_timeout_s",
    "read_timeout_s",
    "total_timeout_s",
    "lease_s",
    "page_body_bytes",
    "probe_body_bytes",
}
_CHOICES = {"scope": ("any", "site", "host"), "mail_security": ("starttls", "tls", "none")}
_READERS: Mapping[str, Callable[[object], object]] = {
    "proxy": values.read_proxy,
    "not_before": values.read_date,
    "not_after": values.read_date,
    "types": values.read_media_types,
    "allow": values.read_addresses,
    "deny": values.read_addresses,
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as people write it."""

    name: str
    field: str
    """Name in `Settings` or `SiteSettings`."""
    takes: str
    """What the value is: text, number, true/false, duration, size, table …"""
    default: object
    """None (settings of a host only): the common setting of the same name applies."""
    help: str
    empty: str
    """What 0, '' or an empty list means, where the help does not say so."""
    secret: bool
    option: Option | None
    """None: not on the command line."""
    of_site: bool = False
    """Whether this is a setting of one host, so a field of `SiteSettings`."""

    @property
    def described(self) -> str:
        """Return the help, with the meaning of an empty value."""
        empty = {"text": "''", "list": "[]"}.get(self.takes, "0")
        return f"{self.help}; {empty}: {self.empty}" if self.empty else self.help

    @property
    def default_shown(self) -> str:
        """Return the default as help shows it: `1s`, `no limit`; '' when there is nothing to show."""
        if self.default in ("", 0, (), {}, None):
            return self.empty
        return str(self.show(self.default))

    @property
    def option_names(self) -> tuple[str, ...]:
        """Return the option's names, the short one last."""
        others = (self.option.alias, self.option.short) if self.option else ()
        return (self.option_name, *filter(None, others))

    @property
    def metavar(self) -> str:
        """Return the placeholder of the value in the option's help."""
        own = self.option.metavar if self.option else ""
        return own or {"duration": "DURATION", "size": "SIZE"}.get(self.takes, "N")

    @property
    def option_name(self) -> str:
        """Return the setting's name on the command line, such as `--max-time`."""
        return self.option.name if self.option and self.option.name else "--" + self.name.replace("_", "-")

    def is_option_of(self, command: str) -> bool:
        """Return whether a command, such as 'seeds check', has the option."""
        return self.option is not None and (not self.option.commands or command in self.option.commands)

    def read(self, value: object) -> object:
        """Return a value that was written by a person as `Settings` stores it.

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
            raise ValueError(f"{self._takes_one}, at least 1")
        if number > (most := _AT_MOST.get(self.field, number)):
            raise ValueError(f"{self._takes_one}, at most {most:,}")
        if self.field in _ABOVE_ZERO and number <= 0:
            raise ValueError(f"{self._takes_one} above 0")
        if number < 0:
            raise ValueError(f"{self._takes_one}, 0 or more")

    @property
    def _takes_one(self) -> str:
        """Return the value as messages name it: `a duration`, `a number of pages`."""
        return f"a number of {self.takes}" if self.takes.endswith("s") else f"a {self.takes}"

    def show(self, value: object) -> object:
        """Return a value as people write it; passwords, and credentials in a proxy's address, are masked."""
        if isinstance(value, float) and self.takes == "duration":
            return values.spell_duration(value)
        if isinstance(value, int) and self.takes == "size":
            return values.spell_size(value)
        if self.secret and isinstance(value, str) and value:
            return values.without_credentials(value) if self.field == "proxy" else "***"
        return value


@lru_cache(maxsize=1)
def settings_by_name() -> Mapping[str, Setting]:
    """Return all settings in the order of `settings.py`."""
    return _described(fields(Settings), of_site=False)


@lru_cache(maxsize=1)
def site_settings_by_name() -> Mapping[str, Setting]:
    """Return the settings of one host."""
    return _described(fields(SiteSettings), of_site=True)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ', did you mean …?' for a name that is near a known one, else ''."""
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
    help_, empty, secret, option = (field.metadata[key] for key in ("help", "empty", "secret", "option"))
    return Setting(name, field.name, takes, default, help_, empty, secret, option, of_site)


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
