"""Print settings: the rows of `geocrawl config show`, an example file, and the page docs/settings.md."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from geocrawl.config import Configuration
from geocrawl.config.names import Setting, settings_by_name, site_settings_by_name
from geocrawl.settings import Settings


class Row(NamedTuple):
    """A setting in force."""

    name: str
    value: object
    """Durations and sizes as people write them; secrets masked."""
    origin: str
    unit: str
    """What the value is: duration, size, pages, text …"""
    help: str


_PAGE = """\
# Settings

This page is printed from `geocrawl/settings.py` (`python -m geocrawl.config.show > docs/settings.md`); do not edit it.

A setting has one name in three spellings: `--max-pages` on the command line (where the command has the option),
`GEOCRAWL_MAX_PAGES` in the environment, `max_pages` in a file. The first of these that names it wins:

1. the option
2. the environment
3. `./geocrawl.toml`
4. the user's file, `~/.config/geocrawl/config.toml` (under `$XDG_CONFIG_HOME` when that is set)
5. `/etc/geocrawl/config.toml`
6. the default

`geocrawl config show` prints every value and where it came from; `geocrawl config check FILE` lists the problems of
a file. Unknown names are errors. An empty variable counts as not set. A relative path in a file is relative to the
folder of that file.

- *duration*: seconds, or text with units: `90`, `500ms`, `10m`, `1h30m`, `2d`, `1w`
- *size*: bytes, or text with a unit: `500k` (1,000 each), `5MiB` (1,048,576 each)

```toml
max_pages = 20000
delay = "2s"
contact = "https://www.example.org/our-crawler"

[set]
"gws.lambda" = 0.7

[sites."maps.example.org"]
user = "reader"
password = "…"
max_body = "20MiB"
delay = "5s"

[sites."https://maps.example.org:8443"]
user = "admin"
password = "…"
```

In the environment the constants of strategies are one variable: `GEOCRAWL_SET="gws.lambda=0.7,gws.drop_zero=true"`.
Users and passwords, of a site or in a proxy's address, are read from the environment or a file, never from an option.

## All settings

| name | takes | default | meaning |
|---|---|---|---|
{settings}

## Settings of one host

In a file, under `[sites."HOST"]`. A user and password are sent to one origin (scheme, host and port): under
`[sites."maps.example.org"]` only to `https://maps.example.org`, under `[sites."https://maps.example.org:8443"]` to
that port, under `[sites."http://maps.example.org"]` without encryption. A redirect to another origin never receives
them. An origin has no other settings; delays and limits are those of its host.

| name | takes | default | meaning |
|---|---|---|---|
{sites}
"""


def rows(configuration: Configuration) -> list[Row]:
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


def markdown() -> str:
    """Return the text of docs/settings.md."""
    return _PAGE.format(
        settings="\n".join(_lines(settings_by_name().values())),
        sites="\n".join(_lines(site_settings_by_name().values())),
    )


def _constant_rows(settings: Settings, origins: Mapping[str, str]) -> Iterator[Row]:
    for key, value in sorted(settings.set.items()):
        yield Row(f"set.{key}", value, origins.get(f"set.{key}", "default"), "", "constant of a strategy")


def _site_rows(settings: Settings, origins: Mapping[str, str]) -> Iterator[Row]:
    for host, site in sorted(settings.sites.items()):
        for setting in site_settings_by_name().values():
            name = f'sites."{host}".{setting.name}'
            if name in origins:
                yield _row(setting, name, getattr(site, setting.field), origins[name])


def _row(setting: Setting, name: str, value: object, origin: str) -> Row:
    return Row(name, setting.show(value), origin, setting.takes, setting.described)


def _lines(settings: Iterable[Setting]) -> Iterator[str]:
    for setting in settings:
        default = "" if setting.default in ("", {}, (), None) else f"`{_spelled(setting)}`"
        text = setting.described.replace("|", "\\|").replace("<", "&lt;")
        yield f"| `{setting.name}` | {setting.takes} | {default} | {text} |"


def _spelled(setting: Setting) -> str:
    value = setting.show(setting.default)
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    sys.stdout.write(markdown())
