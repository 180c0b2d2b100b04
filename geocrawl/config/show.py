"""Show settings: the rows of `geocrawl config show`, and an example configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from geocrawl.config import Configuration
from geocrawl.config.names import Setting, settings_by_name, site_settings_by_name
from geocrawl.settings import Settings


class SettingRow(NamedTuple):
    """A setting in force."""

    name: str
    value: object
    """Durations and sizes as people write them; secrets masked."""
    origin: str
    unit: str
    """What the value is: duration, size, pages, text …"""
    help: str


def rows(configuration: Configuration) -> list[SettingRow]:
    """Return all settings, then the constants of strategies and the settings of hosts that are configured."""
    settings, origins = configuration.settings, configuration.origins
    simple = [s for s in settings_by_name().values() if s.takes != "table"]
    return [
        *(_row(s, s.name, getattr(settings, s.field), origins.get(s.name, "default")) for s in simple),
        *_constant_rows(settings, origins),
        *_site_rows(settings, origins),
    ]


_EXAMPLE_HEAD = """\
# /etc/geocrawl/config.toml: the settings of geocrawl (a user's own are in ~/.config/geocrawl/config.toml, a folder's in
# ./geocrawl.toml; the environment and options win over all files). A line that is commented out shows the default.
# `geocrawl config check FILE` checks this file, `geocrawl config show` prints the settings in force.
"""


def example() -> str:
    """Return the text of the file, which stays valid when every `#name = value` line is uncommented."""
    lines = [_EXAMPLE_HEAD]
    for setting in settings_by_name().values():
        if setting.takes != "table":
            lines += _example_lines(setting)
    lines += [
        "# Constants of strategies (`geocrawl strategies` lists them), such as:",
        "#[set]",
        '#"gws.lambda" = 0.7',
        "",
    ]
    lines += ["# Settings of one host:", '#[sites."maps.example.org"]']
    for setting in site_settings_by_name().values():
        lines += _example_lines(setting)
    return "\n".join(lines)


def _example_lines(setting: Setting) -> Iterator[str]:
    takes = f" ({setting.takes})" if setting.takes not in ("text", "number", "true/false") else ""
    yield f"# {setting.described}{takes}"
    yield f"#{setting.name} = {_example_value(setting)}"
    yield ""


def _example_value(setting: Setting) -> str:
    common = settings_by_name().get(setting.name, setting)
    shown = setting.show(common.default if setting.default is None else setting.default)
    if isinstance(shown, bool):
        return str(shown).lower()
    if isinstance(shown, tuple):
        return str([*shown])
    return f'"{shown}"' if isinstance(shown, str) else str(shown)


def _constant_rows(settings: Settings, origins: Mapping[str, str]) -> Iterator[SettingRow]:
    for key, value in sorted(settings.set.items()):
        yield SettingRow(f"set.{key}", value, origins.get(f"set.{key}", "default"), "", "constant of a strategy")


def _site_rows(settings: Settings, origins: Mapping[str, str]) -> Iterator[SettingRow]:
    for host, site in sorted(settings.sites.items()):
        for setting in site_settings_by_name().values():
            name = f'sites."{host}".{setting.name}'
            if name in origins:
                yield _row(setting, name, getattr(site, setting.field), origins[name])


def _row(setting: Setting, name: str, value: object, origin: str) -> SettingRow:
    return SettingRow(name, setting.show(value), origin, setting.takes, setting.described)
