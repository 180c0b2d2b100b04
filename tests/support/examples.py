"""Read the documentation's command lines, and apply CONTRIBUTING.md's worked examples to a copy of the checkout."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.places import ROOT

PAGES = [*ROOT.glob("README*.md"), ROOT / "systemd/README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"^```\w*\n((?:(?!```).*\n)*)```|((?:^ {4}.*\n)+)", re.M)
_LINE = re.compile(r"^ *(?:\$ |- run: |- )?(?:\S*/)?geocrawl ([a-z].*)$", re.M)


def example_lines(page: Path) -> list[str]:
    """Return the command lines in a page's blocks of code, without `geocrawl`, pipes and remarks."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    blocks = ("".join(match.groups("")) for match in _BLOCK.finditer(text))
    return [re.split(r" +# | [|>] ", line)[0].strip() for block in blocks for line in _LINE.findall(block)]


def add_kind(root: Path) -> None:
    """Take the kind `sps` away, and add it as the text says: its file and its line in `Kind`."""
    kinds, line = root / "geocrawl/model/kinds.py", _line("## Add a kind of service", r'^    SPS = "sps".*$')
    (root / "geocrawl/probe/kinds/sps.py").unlink()
    _insert(kinds, f"{line}\n", "", instead=True)
    _write_files(root, "## Add a kind of service")
    _insert(kinds, "        return self\n\n", f"{line}\n")


def add_command(root: Path) -> None:
    """Add the command `providers`: its file, its line in the registry."""
    _write_files(root, "## Add a command")
    line = _line("## Add a command", r'^    "providers": .*,$')
    _insert(root / "geocrawl/cli/registry.py", "COMMANDS: Mapping[str, str] = {\n", f"{line}\n")


def _section(heading: str) -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return text[text.index(heading) :].split("\n## ")[0]


def _write_files(root: Path, heading: str) -> None:
    """Write each block of code to the file that is named before it."""
    section = _section(heading)
    for block in re.finditer(r"```python\n(\"\"\".*?)```", section, re.DOTALL):
        name = re.findall(r"`([\w/]+/\w+\.py)`", section[: block.start()])[-1]
        path = root / "geocrawl" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(block[1], encoding="utf-8")


def _line(heading: str, pattern: str) -> str:
    (line,) = re.findall(pattern, _section(heading), re.MULTILINE)
    return str(line)


def _insert(path: Path, behind: str, line: str, *, instead: bool = False) -> None:
    text = path.read_text(encoding="utf-8")
    assert behind in text, f"{path} has no line {behind!r}"
    path.write_text(text.replace(behind, line if instead else behind + line, 1), encoding="utf-8")
