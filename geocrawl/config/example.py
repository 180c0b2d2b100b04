"""Write an example configuration: every setting with its meaning, unit and default, commented out."""

from __future__ import annotations

from collections.abc import Iterator

from geocrawl.config.names import Setting, settings_by_name, site_settings_by_name

_HEAD = """\
# /etc/geocrawl/config.toml: the settings of geocrawl (a user's own are in ~/.config/geocrawl/config.toml, a folder's in
# ./geocrawl.toml; the environment and options win over all files). A line that is commented out shows the default.
# `geocrawl config check FILE` checks this file, `geocrawl config show` prints the settings in force.
"""


def example() -> str:
    """Return the text of the file, which stays valid when every `#name = value` line is uncommented."""
    lines = [_HEAD]
    for setting in settings_by_name().values():
        if setting.takes != "table":
            lines += _lines(setting)
    lines += [
        "# Constants of strategies (`geocrawl strategies` lists them), such as:",
        "#[set]",
        '#"gws.lambda" = 0.7',
        "",
    ]
    lines += ["# Settings of one host:", '#[sites."maps.example.org"]']
    for setting in site_settings_by_name().values():
        lines += _lines(setting)
    return "\n".join(lines)


def _lines(setting: Setting) -> Iterator[str]:
    takes = f" ({setting.takes})" if setting.takes not in ("text", "number", "true/false") else ""
    yield f"# {setting.described}{takes}"
    yield f"#{setting.name} = {_value(setting)}"
    yield ""


def _value(setting: Setting) -> str:
    common = settings_by_name().get(setting.name, setting)
    shown = setting.show(common.default if setting.default is None else setting.default)
    if isinstance(shown, bool):
        return str(shown).lower()
    if isinstance(shown, tuple):
        return str([*shown])
    return f'"{shown}"' if isinstance(shown, str) else str(shown)
