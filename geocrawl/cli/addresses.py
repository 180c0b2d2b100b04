"""Start pages as people give them: arguments and a file, rubbish lines reported and passed over."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.model import Url
from geocrawl.sanitize import masked, plain
from geocrawl.urls import read_url

_MASK = "=***"


def gather_seeds(urls: Sequence[str], file: Path | None) -> list[Url]:
    """The readable start pages of both sources, in order, each once.

    Raises UsageError when an argument is no web address, or when the file cannot be read or holds no address at all.
    """
    found = [_argument(text) for text in urls]
    if file is not None:
        found += read_url_file(file)
    return list({url.identity: url for url in found}.values())


def _argument(text: str) -> Url:
    if _MASK in text:
        raise UsageError(
            f"{text!r}: *** stands for a secret here, and nothing is known under such an address: give it in full "
            "(`geocrawl search` and `show` print it with --secrets), or the service's number"
        )
    url = read_url(text) or (read_url(f"https://{text}") if "." in text and "://" not in text else None)
    if url is None:
        raise UsageError(f"{text!r} is no web address: give one such as https://www.example.org/")
    return url


def read_url_file(file: Path) -> list[Url]:
    """Addresses of a text file (one a line, # for comments) or of a CSV file with a `url` column.

    Lines that are no address are named on standard error with their number; the rest is used.
    Raises UsageError when the file cannot be read or nothing in it can be used.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    good, bad = [], []
    for number, text in _entries(lines, file):
        url = read_url(text)
        if url is None:
            bad.append((number, text))
        else:
            good.append(url)
    for number, text in bad[:20]:
        sys.stderr.write(f"geocrawl: {file}, line {number}: no web address, passed over: {masked(text)[:80]!r}\n")
    if len(bad) > 20:
        sys.stderr.write(f"geocrawl: {file}: {len(bad) - 20} more lines passed over\n")
    if not good:
        raise UsageError(f"{file}: no web address in it: one a line, or a CSV file with a column `url`")
    return good


def _entries(lines: Sequence[str], file: Path) -> Iterable[tuple[int, str]]:
    """(line number, text) of what should be addresses."""
    header = next((line for line in lines if line.strip()), "").lower()
    columns = [name.strip().strip('"') for name in header.split(",")]
    if "url" in columns and (len(columns) > 1 or file.suffix.lower() == ".csv"):
        reader = csv.DictReader(lines)
        name = next(field for field in reader.fieldnames or () if field.strip().lower() == "url")
        for row in reader:
            yield reader.line_num, (row[name] or "").strip()
        return
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield number, text


def read_host(text: str) -> str:
    """The host of what was typed, an address or a bare name; UsageError for one that cannot be meant."""
    from geocrawl.errors import UsageError
    from geocrawl.urls import is_registry, read_url

    url = read_url(text if "://" in text else f"http://{text}/")
    if url is None:
        raise UsageError(f"{plain(text, 200)!r} is no host: expected a name such as maps.example.org")
    if is_registry(url.host):
        raise UsageError(f"{url.host}: everybody's names stand beneath it; name the host, or put .{url.host} into deny")
    return url.host
