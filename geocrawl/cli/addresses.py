"""Read the addresses that people type, list in files, or choose of the shipped lists (`--shipped`).

Lines of a file that are not addresses are reported and skipped.
"""

from __future__ import annotations

import csv
import gzip
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.errors import UsageError
from geocrawl.files import MOST_TEXT_BYTES, read_whole
from geocrawl.model import Url
from geocrawl.sanitize import masked, plain
from geocrawl.urls import is_registry, read_url
from geocrawl.wording import counted

_MASK = "=***"
NO_SERVICE = "neither the number of a service (`geocrawl search` prints numbers) nor"
"""What is said before `a web address` of a text that names no service."""


def gather_seeds(urls: Sequence[str], *files: Path | None) -> list[Url]:
    """Return the addresses of the arguments and of the files, in order, each once.

    Raises UsageError when an argument is not a web address, or when a file cannot be read or has no address in it.
    """
    found = [read_seed(text) for text in urls]
    for file in files:
        found += read_url_file(file) if file is not None else []
    return list({url.identity: url for url in found}.values())


def service_address(text: str) -> Url:
    """Return the address that a service was named by instead of its number, its secrets perhaps masked as a search
    prints them. Raises UsageError for another text."""
    return read_seed(text, NO_SERVICE, may_be_masked=True)


def read_seed(text: str, is_no: str = "not", *, may_be_masked: bool = False) -> Url:
    """Return the address that a person typed. Raises UsageError for another text, which `is_no` web address, and for an
    address with masked secrets unless it `may_be_masked`."""
    if _MASK in text and not may_be_masked:
        raise UsageError(
            f"{text!r}: *** stands for a secret; give the address in full "
            "(`geocrawl search` and `show` print it with --secrets), or the service's number"
        )
    if "://" not in text and Path(text).is_file():
        raise UsageError(
            f"{text!r} is a file: pass a list of addresses with its option (crawl: --seeds FILE, probe and seeds add: "
            f"--file FILE); the web address would be https://{text}"
        )
    url = _read(text)
    if url is not None and read_url(text) is None:
        sys.stderr.write(f"geocrawl: {masked(text)}: read as {masked(url.address)}; write http:// for the other\n")
    if url is None:
        raise UsageError(f"{text!r} is {is_no} a web address; expected one such as https://www.example.org/")
    return url


_BARE = re.compile(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:[/?]\S*)?")
"""A host name with a dot, perhaps with a path: people often omit `https://`."""


def _read(text: str) -> Url | None:
    """Return a web address as people type it, or None; report credentials, which are left out."""
    url = read_url(text) or (read_url(f"https://{text}") if _BARE.fullmatch(text) else None)
    if url is not None and _CREDENTIALS.match(text):
        origin = "/".join(url.address.split("/")[:3])
        sys.stderr.write(
            f"geocrawl: {url.host}: the user name and password in the address are left out; write them into a "
            f'configuration file: [sites."{origin}"] with user and password (docs/settings.md)\n'
        )
    return url


_CREDENTIALS = re.compile(r"\s*https?://[^/?#@]*@", re.I)


def read_url_file(file: Path) -> list[Url]:
    """Return the addresses of a text file (one a line, # for comments) or of a CSV file with a `url` column.

    Lines that are not an address are reported on standard error with their numbers and skipped.
    Raises UsageError when the file cannot be read or has no address in it.
    """
    good, bad = [], []
    for number, text in _entries(_lines(file), file):
        url = _read(text)
        if url is None:
            bad.append((number, text))
        else:
            good.append(url)
    for number, text in bad[:20]:
        sys.stderr.write(f"geocrawl: {file}, line {number}: not a web address, skipped: {masked(text)[:80]!r}\n")
    if len(bad) > 20:
        sys.stderr.write(f"geocrawl: {file}: {counted(len(bad) - 20, 'more line')} skipped\n")
    if not good:
        raise UsageError(f"{file}: no web address found; expected one a line, or a CSV file with a column `url`")
    return good


def read_lines(file: Path) -> list[tuple[str, Url | None]]:
    """Return each line of a text file or cell of a CSV file that should be an address, and the address, None for
    another text. Raises UsageError when the file cannot be read."""
    return [(text, _read(text)) for _, text in _entries(_lines(file), file)]


def _lines(file: Path) -> list[str]:
    try:
        return read_whole(file, MOST_TEXT_BYTES).decode("utf-8-sig", "replace").splitlines()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None


def _entries(lines: Sequence[str], file: Path) -> Iterable[tuple[int, str]]:
    """Yield (line number, text) of each line or cell that should be an address."""
    header = next((line for line in lines if line.strip()), "").lower()
    columns = [name.strip().strip('"') for name in header.split(",")]
    column = next((name for name in ("url", "link") if name in columns), None)
    if column and (len(columns) > 1 or file.suffix.lower() == ".csv"):
        from geocrawl.app.list_entries import csv_faults  # imports lxml, which few commands need

        reader = csv.DictReader(lines)
        with csv_faults(file, reader):
            name = next(field for field in reader.fieldnames or () if field.strip().lower() == column)
            for row in reader:
                yield reader.line_num, (row[name] or "").strip()
        return
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield number, text


def read_host(text: str) -> str:
    """Return the host of what was typed, an address or a bare name.

    Raises UsageError for text that is neither, for a top-level domain or another public suffix, and for a short
    spelling of an IPv4 address: who types 192.0.2 hardly means the host 192.0.0.2.
    """
    url = read_url(text if "://" in text else f"http://{text}/")
    if url is None:
        raise UsageError(f"{plain(text, 200)!r} is not a host; expected a name such as maps.example.org")
    if url.host.replace(".", "").isdecimal() and url.host not in text:
        raise UsageError(f"{plain(text, 200)!r} means the address {url.host}; write it so if you mean it")
    if is_registry(url.host):
        raise UsageError(f"{url.host!r} is a public suffix; name a host, or add .{url.host} to deny")
    return url.host


PORTALS, ENDPOINTS = "seeds/portals.csv.gz", "seeds/endpoints.csv.gz"
SOURCE = "dataportals-registry (CC-BY 4.0)"

Country = Annotated[
    str | None, typer.Option("--country", metavar="CODES", help="Only of these countries (ISO 3166-1): DE,AT,CH.")
]
Software = Annotated[
    str | None, typer.Option("--software", metavar="NAMES", help="Only with this software: geoserver, arcgishub …")
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, help="Only the first N, spread over hosts and countries.")
]


@dataclass(frozen=True, slots=True)
class ShippedChoice:
    """A choice of rows of a shipped list; None and '' stand for all."""

    country: str | None = None
    software: str | None = None
    region: str | None = None
    language: str | None = None
    limit: int | None = None

    @property
    def is_any(self) -> bool:
        """Return whether all of the list is wanted."""
        return not any((self.country, self.software, self.region, self.language, self.limit))

    def takes(self, row: Mapping[str, str]) -> bool:
        """Return whether a row has what is wanted; a column that its table lacks decides nothing."""
        wanted = {"country": self.country, "software": self.software, "region": self.region, "language": self.language}
        return all(
            not text or not _words(text).isdisjoint(row[name].lower().split())
            for name, text in wanted.items()
            if name in row
        )


def demand_shipped(choice: ShippedChoice, *, is_shipped: bool) -> None:
    """Raise UsageError for filters of a shipped list without the list."""
    if not is_shipped and not choice.is_any:
        raise UsageError("--country, --software, --region, --language and --limit choose of the list: add --shipped")


def shipped_path(name: str) -> Path:
    """Return the path of a shipped list."""
    return opt.shipped(name, name)


def shipped_rows(name: str, choice: ShippedChoice) -> Iterator[dict[str, str]]:
    """Yield the wanted rows of a shipped list, in its order."""
    with gzip.open(shipped_path(name), "rt", encoding="utf-8", newline="") as file:
        yield from islice(filter(choice.takes, csv.DictReader(file)), choice.limit)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().replace(",", " ").split())
