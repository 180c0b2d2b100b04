"""Every file and module that documentation, comments or docstrings name exists.

Decisions (`docs/decisions/`) speak of the day on which they were made and are left out.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

import geocrawl
from scripts import docs_hooks, man_page, strategies_page
from tests.support.places import ROOT

PROSE = [
    "README.md",
    "README.zh.md",
    "CONTRIBUTING.md",
    "Makefile",
    ".ci/run",
    "systemd/README.md",
    *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
]
CODE = [
    str(path.relative_to(ROOT))
    for folder in ("geocrawl", "tests", "benchmarks", "docs")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path != Path(__file__)
]
_FILE = re.compile(r"[\w/-]*\w\.py\b(?![*…])")
_QUOTED = re.compile(r"`([^`\n]+)`")
_DOTTED = re.compile(r"(?<![\w./-])[a-z_]+(?:\.[A-Za-z_]\w*)+\b(?!\()")
_SUFFIXES = frozenset(
    ["conf", "csv", "db", "gz", "html", "json", "md", "prom", "py", "rdf", "service", "sql", "sysusers", "toml", "txt"]
)
"""Last parts of file names, which are no attributes of modules."""
_IN_EXAMPLES = re.compile(r"by_finds|sps\.py|^content\.py$|providers")
"""What CONTRIBUTING's worked examples let the reader make (`tests/test_contributing.py` does so)."""


def texts_of(name: str) -> str:
    """Return the prose of a file; of Python its comments and docstrings."""
    text = (ROOT / name).read_text("utf-8")
    if not name.endswith(".py"):
        return text
    comments = [
        each.string for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type == tokenize.COMMENT
    ]
    strings = [
        node.value.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    return "\n".join([*comments, *strings])


def missing_files(name: str, text: str) -> Iterator[str]:
    """Yield the Python files that a text names and that are nowhere: in the checkout, in `geocrawl`, or near `name`."""
    near = (ROOT / name).parent
    places = [ROOT, ROOT / "geocrawl", near, near.parent]
    for found in set(_FILE.findall(text)):
        is_in_example = name == "CONTRIBUTING.md" and _IN_EXAMPLES.search(found)
        if not is_in_example and not any((place / found).is_file() for place in places):
            yield found


def missing_modules(text: str) -> Iterator[str]:
    """Yield the dotted names within backticks that begin with a room of geocrawl and lead nowhere."""
    for dotted in {name for quoted in _QUOTED.findall(text) for name in _DOTTED.findall(quoted)}:
        parts = dotted.removeprefix("geocrawl.").split(".")
        is_ours = parts[0] in _rooms() or dotted.startswith("geocrawl.")
        if is_ours and parts[-1] not in _SUFFIXES and not _leads_somewhere(tuple(parts)):
            yield dotted


@cache
def _rooms() -> frozenset[str]:
    found = {
        path.stem for path in (ROOT / "geocrawl").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    return frozenset(found - {"__init__", "__main__"})


@cache
def _leads_somewhere(parts: tuple[str, ...]) -> bool:
    """Whether the parts name a module of geocrawl, or a name that stands in one."""
    place = ROOT / "geocrawl"
    for index, part in enumerate(parts):
        if (place / part / "__init__.py").is_file():
            place /= part
            continue
        file = place / f"{part}.py"
        rest = parts[index + 1 :] if file.is_file() else parts[index:]
        source = file if file.is_file() else place / "__init__.py"
        return not rest or re.search(rf"\b{rest[0]}\b", source.read_text("utf-8")) is not None
    return True


@pytest.mark.parametrize("name", PROSE)
def test_files_and_modules_that_documentation_names_exist(name: str) -> None:
    text = texts_of(name)
    assert [*missing_files(name, text), *missing_modules(text)] == []


def test_files_and_modules_that_comments_and_docstrings_name_exist() -> None:
    missing = {}
    for name in CODE:
        text = texts_of(name)
        if found := [*missing_files(name, text), *missing_modules(text)]:
            missing[name] = found
    assert missing == {}


def test_a_name_of_former_days_is_seen() -> None:
    assert list(missing_files("docs/glossary.md", "see `survey.py` and geocrawl/settings.py")) == ["survey.py"]
    assert list(missing_modules("`fetch.http.Transported`, `store.nowhere`, `fetch.http`, `page_visit.x`")) != []
    assert list(missing_modules("`fetch.http`, `settings.Settings`, `file.name`")) == []


def test_the_page_of_strategies_is_current() -> None:
    assert strategies_page.PAGE.read_text("utf-8") == strategies_page.page(), "make strategies"


def test_the_man_page_is_current() -> None:
    assert man_page.PAGE.read_text("utf-8") == man_page.page(), "make man"


def test_the_man_page_has_every_command_and_option() -> None:
    shown = man_page.page().replace("\\-", "-")
    expected = json.loads((ROOT / "tests/expectations/command_options.json").read_text("utf-8"))
    for command, options in expected.items():
        _, _, rest = shown.partition(f"\n.B geocrawl {command}\n")
        section = rest.partition("\n.B geocrawl ")[0]
        assert [name for name in options if name.startswith("--") and name not in section] == [], command


def test_every_word_has_its_meaning_in_english_and_chinese() -> None:
    rows = re.findall(r"^\| \*\*(.+?)\*\*.*", (ROOT / "docs/glossary.md").read_text("utf-8"), re.MULTILINE)
    whole = r"^\| \*\*(.+?)\*\*[^|]* \| [^|]+ \| [^|\s][^|]* \| [^|\s][^|]* \|$"
    assert len(rows) > 70
    assert re.findall(whole, (ROOT / "docs/glossary.md").read_text("utf-8"), re.MULTILINE) == rows


def test_every_page_has_a_place_in_the_site() -> None:
    site = (ROOT / "mkdocs.yml").read_text("utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} | set(docs_hooks.OUTSIDE.values())
    assert [name for name in sorted(pages) if f" {name}\n" not in site] == []


@pytest.mark.parametrize("name", [name for name in PROSE if name.endswith(".md")])
def test_every_link_to_a_file_leads_to_one(name: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / name).read_text("utf-8"))
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []


def test_pictures_are_small_and_shown() -> None:
    texts = "".join(path.read_text("utf-8") for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")))
    for path in (ROOT / "docs" / "pictures").iterdir():
        assert path.stat().st_size < 150_000 and f"pictures/{path.name})" in texts, path.name


def test_the_table_of_the_tutorial_is_what_a_terminal_of_80_columns_shows() -> None:
    shown = (ROOT / "tests/golden/expected/usages/terminal-80.txt").read_text("utf-8").partition("-- standard error")[0]
    printed = [line[4:] for line in shown.splitlines()[1:]]
    table = (ROOT / "docs/tutorial.md").read_text("utf-8").partition("    id  kind ")[2].partition("\n\n")[0]
    assert [line[8:] for line in f"    id  kind {table}".splitlines()] == printed


def test_citation_and_package_state_one_version() -> None:
    stated = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert stated["version"] == geocrawl.__version__
    assert {"cff-version", "message", "title", "authors"} <= stated.keys()  # what the format demands (1.2.0)
