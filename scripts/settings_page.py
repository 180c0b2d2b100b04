"""Write docs/settings.md from the settings that geocrawl declares: `python -m scripts.settings_page`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from geocrawl.config.names import Setting, settings_by_name, site_settings_by_name

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"

_TEXT = """\
# Settings

<!-- This page is made from `geocrawl/settings.py` by `python -m scripts.settings_page`; do not edit it. -->

A setting has one name in three spellings: `--max-pages` on the command line (where the command has the option),
`GEOCRAWL_MAX_PAGES` in the environment, `max_pages` in a file. The first of these that names it wins:

1. the option
2. the environment
3. `./geocrawl.toml`
4. the user's file, `~/.config/geocrawl/config.toml` (under `$XDG_CONFIG_HOME` when that is set)
5. `/etc/geocrawl/config.toml`
6. the default

`geocrawl config show` prints every value and where it came from; `geocrawl config check FILE` lists the problems of
a file, also a strategy, topic, program or folder that is not there: whatever a start would refuse. Unknown names are
errors. An empty variable counts as not set. A relative path in a file is relative to the folder of that file.

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


def page() -> str:
    """Return the text of docs/settings.md."""
    return _TEXT.format(
        settings="\n".join(_lines(settings_by_name().values())),
        sites="\n".join(_lines(site_settings_by_name().values())),
    )


def _lines(settings: Iterable[Setting]) -> Iterator[str]:
    for setting in settings:
        default = "" if setting.default in ("", {}, (), None) else f"`{_spelled(setting)}`"
        described = "; ".join(filter(None, (setting.described, setting.scope_note)))
        text = described.replace("|", "\\|").replace("<", "&lt;")
        yield f"| `{setting.name}` | {setting.takes} | {default} | {text} |"


def _spelled(setting: Setting) -> str:
    value = setting.show(setting.default)
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
