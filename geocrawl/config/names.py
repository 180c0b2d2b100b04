"""The names of settings as people write them, what each takes, and how a value is shown.

A setting has one name in every spelling: `max_time` in TOML, `GEOCRAWL_MAX_TIME` in the environment, `--max-time` as
an option. The name is that of the field in `settings.py` without its unit, since people write a unit with the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from functools import lru_cache
from typing import Any

from geocrawl.settings import Option, Settings, SiteSettings
from geocrawl.wording import spell_duration, spell_size

_CREDENTIALS = re.compile(r"\A([A-Za-z0-9+.-]*:?//)?.*@", re.DOTALL)  # a password may contain any character


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as people write it."""

    name: str
    field: str
    """Name in `Settings` or `SiteSettings`."""
    takes: str
    """What the value is: text, number, true/false, duration, size, list, table, or what is counted (pages …)."""
    default: object
    """None (settings of a host only): the common setting of the same name applies."""
    help: str
    empty: str
    """What 0, '' or an empty list means, where the help does not say so."""
    secret: bool
    option: Option | None
    """None: not on the command line."""
    unused: str = ""
    """The runs, 'crawl' and 'daemon', in which the setting has no effect."""
    fixed: bool = False
    """Whether a daemon under way keeps its value when it reads its configuration again."""

    @property
    def described(self) -> str:
        """Return the help, with the meaning of an empty value."""
        empty = {"text": "''", "list": "[]"}.get(self.takes, "0")
        return f"{self.help}; {empty}: {self.empty}" if self.empty else self.help

    @property
    def scope_note(self) -> str:
        """Return where the setting has no effect, and whether a reload changes it; '' for nothing to say."""
        runs = {"crawl": "crawls", "daemon": "the daemon"}
        notes = [f"no effect in {' and '.join(map(runs.__getitem__, self.unused.split()))}"] if self.unused else []
        return "; ".join([*notes, *(["a reload does not change it"] if self.fixed else [])])

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
    def option_name(self) -> str:
        """Return the setting's name on the command line, such as `--max-time`."""
        return self.option.name if self.option and self.option.name else "--" + self.name.replace("_", "-")

    @property
    def metavar(self) -> str:
        """Return the placeholder of the value in the option's help."""
        own = self.option.metavar if self.option else ""
        return own or {"duration": "DURATION", "size": "SIZE"}.get(self.takes, "N")

    def is_option_of(self, command: str) -> bool:
        """Return whether a command, such as 'seeds check', has the option."""
        return self.option is not None and (not self.option.commands or command in self.option.commands)

    def show(self, value: object) -> object:
        """Return a value as people write it; passwords, and credentials in a proxy's address, are masked."""
        if isinstance(value, float) and self.takes == "duration":
            return spell_duration(value)
        if isinstance(value, int) and self.takes == "size":
            return spell_size(value)
        if self.secret and isinstance(value, str) and value:
            return without_credentials(value) if self.field == "proxy" else "***"
        return value


@lru_cache(maxsize=1)
def settings_by_name() -> Mapping[str, Setting]:
    """Return all settings in the order of `settings.py`."""
    return {setting.name: setting for setting in map(_described, fields(Settings))}


def setting_name(field: str) -> str:
    """Return the name of the setting in a field of `Settings`."""
    return next(each.name for each in settings_by_name().values() if each.field == field)


@lru_cache(maxsize=1)
def site_settings_by_name() -> Mapping[str, Setting]:
    """Return the settings of one host."""
    return {setting.name: setting for setting in map(_described, fields(SiteSettings))}


def has_credentials(address: str) -> bool:
    """Return whether an address contains a user (and password)."""
    return _CREDENTIALS.search(address) is not None


def without_credentials(address: str) -> str:
    """Return an address with its user and password masked."""
    return _CREDENTIALS.sub(r"\1***@", address)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ', did you mean …?' for a name that is near a known one, else ''."""
    import difflib

    names = difflib.get_close_matches(name.lower().replace("-", "_"), list(known), n=1)
    return f", did you mean {names[0]}?" if names else ""


def _described(field: Field[Any]) -> Setting:
    default: object = {} if field.default is MISSING else field.default
    name, takes = field.name, "number" if isinstance(default, int | float) else "text"
    if name.endswith("_s"):
        name, takes = name.removesuffix("_s"), "duration"
    elif name.endswith("_bytes"):
        name, takes = name.removesuffix("_bytes"), "size"
    elif isinstance(default, bool | tuple | dict):
        takes = {bool: "true/false", tuple: "list", dict: "table"}[type(default)]
    keys = ("help", "empty", "secret", "option", "unused", "fixed")
    return Setting(name, field.name, field.metadata["unit"] or takes, default, *(field.metadata[key] for key in keys))
