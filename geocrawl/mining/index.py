"""Make the statement of SQL that selects rows of an archive's index, the same for DuckDB and Spark.

The index is Common Crawl's columnar one (commoncrawl/cc-index-table) or any Parquet with a column `url`. Crawls of some
years lack columns, so only `url` is needed.

The predicate selects the addresses which `Detector` or `portal_of` may recognise. It is made of the same declared
signs, so a new kind of service needs no second list. It is a superset: whatever the two recognise is selected
(`tests/mining/test_predicate.py`), and what is selected in vain, the two dismiss. As in `Detector`, a pattern is tried
only where a short text of its form occurs.

An archive has addresses as they were requested, which `read_url` normalises and `Detector` decodes before they look at
them. SQL that repeats those steps would be slow and would differ between engines. Where a step may change what a sign
sees, the address is selected unseen instead: an escaped letter in a query, dot segments, a backslash, a character that
an address has to escape. Such addresses are rare in an archive.

The patterns use what RE2 (DuckDB) and Java (Spark) have in common."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from geocrawl.detect.software import all_software
from geocrawl.errors import EnvironmentFault
from geocrawl.mining.model import ArchiveRecord, MinedFile
from geocrawl.model.kinds import HostForm, KindDeclaration, PathForm

_ESCAPED = "(?:2d|2e|3[0-9]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])"
"""The digits in the escape of a letter, a figure or one of `-._~`, which need none (RFC 3986, 2.3), in lower case."""
_DOTS = r"/(?:\.|%2e){1,2}(?:[/?#]|$)"
_ODD = (
    ("", r"[^\x21\x23-\x3b\x3d\x3f-\x7e]"),  # is escaped, and tabs and line ends are removed
    ("", r"\\"),  # is read as a slash; Spark reads no text that ends in one backslash
    ("/.", _DOTS),  # dot segments are removed
    ("/%2e", _DOTS),
    ("%", "^https?:/*[^/?#]*%"),  # a host that is decoded
    ("%", rf"\?[^#]*%{_ESCAPED}"),
    ("%3d", "(?:service|request)%3d"),  # a query that was escaped as a whole
)
"""Spellings that `read_url` and `Detector` rewrite before they look for signs: for each, a text that the address has
then, and the pattern that finds the spelling."""
_DECODED = (("%3a", ":"), ("%2f", "/"), ("%3f", "?"), ("%3d", "="), ("%26", "&"))
"""Escapes that an address within a query has in the place of what separates its own parts."""
_WITHIN = r"\?[^#]*=https?(?::|%3a)"
_ODD_WITHIN = (
    "%5c",
    "%[01][0-9a-f]",
    rf"%25(?:3d|{_ESCAPED})",
    _DOTS,
    "=https?:/*[^/?#&]*%",
)
_CLASS_OR_ESCAPE = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$|\^|\(\?P<\w+>")

_GOES_ON = re.compile(r"(?:\[\^[^\]]*\]|(?<!\\)\.|\))[*+]|\{[0-9]*,[0-9]{2,}\}")
"""What repeats any character, a group, or anything ten times and more: the automaton of a search for several such
patterns at once grows without bounds."""

TEXT = "address"
"""Name of the column of addresses in lower case."""


_PATH_END = "(?:[?#]|$)"


def predicate(kinds: Sequence[KindDeclaration]) -> str:
    """Return the condition in SQL that selects addresses, for the column `TEXT`.

    The condition calls `rlike(text, pattern)`, which Spark has and DuckDB is given (`engines.py`). Spark has to read
    strings without escapes (`spark.sql.parser.escapedStringLiterals`).
    """
    forms, decoded = _forms(kinds), TEXT
    for escape, character in _DECODED:
        decoded = f"replace({decoded}, '{escape}', '{character}')"
    inner = [*_ODD_WITHIN, *(pattern for _, pattern in _words(kinds)), *_hosts(kinds), _hints(forms)]
    tests = [
        *(_tested(text, pattern) for text, pattern in _ODD),
        *(_tested(form.hint, _whole(form)) for form in forms),
        *(_tested(name, pattern) for name, pattern in _words(kinds)),
        *(_tested("", pattern) for pattern in _hosts(kinds)),
        f"({_tested('=http', _WITHIN)} AND rlike({decoded}, {_quoted(_any(inner))}))",
    ]
    return f"({' OR '.join(tests)})"


def first_test(kinds: Sequence[KindDeclaration]) -> str:
    """Return a condition in SQL that dismisses most addresses at once and none that `predicate` selects.

    It makes a search twice as fast where all alternatives of a pattern are tried at once (RE2), and ten times as slow
    where they are tried one by one (Java).
    """
    forms = _forms(kinds)
    long = [form for form in forms if form.query or _GOES_ON.search(form.path)]
    short = [_whole(form) for form in forms if form not in long]
    names = "|".join(sorted(name for name, _ in _words(kinds)))
    odd = [pattern for _, pattern in _ODD]
    pattern = _any([*odd, *_hosts(kinds), *short, rf"\?[^#]*(?:{names})", _WITHIN, _hints(long)])
    return f"rlike({TEXT}, {_quoted(pattern)})"


def _forms(kinds: Sequence[KindDeclaration]) -> tuple[PathForm, ...]:
    software = (form for each in all_software() for form in each.paths)
    return (*(form for kind in kinds for form in kind.paths), *software)


def _whole(form: PathForm) -> str:
    """Return a pattern for whole addresses with such a path."""
    end = rf"\?[^#]*{re.escape(form.query)}" if form.query else _PATH_END
    return _translated(form.path, end=end)


def _hosts(kinds: Sequence[KindDeclaration]) -> Iterator[str]:
    """Yield patterns for addresses whose host has a declared form, with the path of a form whose hosts are of any kind:
    it names a place. Other paths of such hosts are left to `Detector`."""
    forms: list[HostForm] = [form for kind in kinds for form in kind.hosts]
    for form in (*forms, *(form for each in all_software() for form in each.hosts)):
        path = f"[^/?#]*{_translated(form.path, end=_PATH_END)}" if "(?P<place>" in form.path else ""
        yield f"(?:{_translated(form.host, begin='[:/@]')}){path}"


def _words(kinds: Sequence[KindDeclaration]) -> Iterator[tuple[str, str]]:
    """Yield each declared parameter with a pattern, whatever stands between its name, its value and their ends."""
    services = _shortest(text for kind in kinds for text in kind.services)
    asked = (kind.requests | kind.shared_requests | kind.old_requests for kind in kinds)
    requests = _shortest(text for texts in asked for text in texts)
    values = {"service": services, "request": requests}
    for form in (form for kind in kinds for form in kind.parameters):
        values[form.name] = _translated(form.value)
    for name, value in values.items():
        yield name, rf"\?[^#]*{name}[^=&]*=[^&]*(?:{value})"


def _translated(pattern: str, *, begin: str = "", end: str = "") -> str:
    """Return a pattern for a part of addresses as one for the whole: `^` and `$` are replaced, groups are unnamed."""

    def piece(found: re.Match[str]) -> str:
        replaced = {"$": end, "^": begin}.get(found[0], found[0])
        return "(?:" if replaced.startswith("(?P<") else replaced

    return _CLASS_OR_ESCAPE.sub(piece, pattern)


def _shortest(texts: Iterable[str]) -> str:
    """Return a pattern that finds any of these texts; a text that contains another one is left out."""
    found = set(texts)
    return "|".join(sorted(re.escape(each) for each in found if not any(o in each for o in found - {each})))


def _any(patterns: Iterable[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in dict.fromkeys(patterns))


def _hints(forms: Iterable[PathForm]) -> str:
    return _shortest(form.hint for form in forms)


def _tested(text: str, pattern: str) -> str:
    """Return the condition that an address contains a text, '' for none, and a pattern, which is slower to search."""
    found = f"rlike({TEXT}, {_quoted(pattern)})"
    return f"(contains({TEXT}, {_quoted(text)}) AND {found})" if text else found


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# --------------------------------------------------------------------------- the statement

_COLUMNS = {"warc_filename": "STRING", "warc_record_offset": "BIGINT", "warc_record_length": "BIGINT"}
"""Columns that are read besides `url`, with their types in SQL; NULL stands for one that is missing."""
_TEXTS = frozenset({"varchar", "string"})
_GONE = "(404, 410)"
_SHOWN = 8
"""Columns of an unknown layout that are named."""


class IndexRow(NamedTuple):
    """A selected row of the index."""

    url: str
    file: str | None
    offset: int | None
    length: int | None

    def place(self, source: MinedFile) -> ArchiveRecord:
        """Return the place of the page in the archive; that of the index itself when the row does not say."""
        return ArchiveRecord(source.crawl, self.file or source.path.name, self.offset, self.length)


class Engine(Protocol):
    """What runs SQL on files of Parquet."""

    at_once: int
    """Files that one statement may read."""

    def count(self, source: MinedFile) -> int:
        """Return the rows of a file. Raises EnvironmentFault for one that is no readable Parquet of this layout."""

    def rows(self, sources: Sequence[MinedFile]) -> Iterator[tuple[MinedFile, IndexRow]]:
        """Yield the selected rows, file by file, those of a file by address and place."""

    def close(self) -> None:
        """Free what the engine uses."""


class Statement:
    """Makes statements for these kinds of service."""

    def __init__(self, kinds: Sequence[KindDeclaration], *, first: bool) -> None:
        """`first`: whether the engine is faster with a test that dismisses most rows (`predicate.first_test`)."""
        self._predicate = f"{first_test(kinds)} AND {predicate(kinds)}" if first else predicate(kinds)

    def select(self, table: str, number: int, columns: Collection[str]) -> str:
        """Return the statement for one table with these columns (in lower case); its rows begin with `number`."""
        read = ["url", *(name if name in columns else f"NULL AS {name}" for name in _COLUMNS)]
        alive = f" AND coalesce(fetch_status, 200) NOT IN {_GONE}" if "fetch_status" in columns else ""
        names = ", ".join(["url", *(f"CAST({name} AS {kind}) AS {name}" for name, kind in _COLUMNS.items())])
        inner = f"SELECT {', '.join(read)}, lower(url) AS {TEXT} FROM {table} WHERE url IS NOT NULL{alive}"
        return f"SELECT {number} AS source, {names} FROM ({inner}) AS found WHERE {self._predicate}"


ORDER = " ORDER BY source, url, warc_filename, warc_record_offset"
"""Makes the order of the rows the same in every engine."""


def demand_layout(source: MinedFile, types: dict[str, str]) -> None:
    """Raise EnvironmentFault unless there is a column of addresses. `types`: column → type, both in lower case."""
    if types.get("url") in _TEXTS:
        return
    named = ", ".join(list(types)[:_SHOWN]) + (" …" if len(types) > _SHOWN else "")
    raise EnvironmentFault(
        f"{source.path}: no index of an archive: it has no column url of texts, but {named or 'none at all'}; "
        "expected the layout of Common Crawl's columnar index (docs/archives.md)"
    )
