"""Read labelled pages, leave out those of webs that a model is measured on, split them into folds, record files."""

from __future__ import annotations

import datetime as dt
import gzip
import hashlib
import io
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from geocrawl import __version__
from geocrawl.errors import EnvironmentFault, UsageError, described
from geocrawl.files import MOST_TEXT_BYTES, read_whole
from geocrawl.lab.training.gws_models import LabelledPage
from geocrawl.lab.training.overlap import CONTAINED, SHINGLE_WORDS, TextOf, contained
from geocrawl.urls import read_url

FOLDS = 5
"""Number of parts into which pages are split by their site; each part is measured with a model of the others."""
_HTML = "text/html; charset=utf-8"
"""Content type of training pages: they are text in JSON, so they are encoded as UTF-8 whatever charset their markup
names.
"""


@dataclass(frozen=True, slots=True)
class Examples:
    """The pages of a file, without those of excluded webs."""

    kept: Sequence[LabelledPage]
    """Pages that a model may learn from."""
    excluded: Sequence[str]
    """Addresses of the pages that are in a web the model will be measured on, sorted."""

    def counts(self) -> dict[str, object]:
        """Return the counts of pages for the record of a model."""
        labels = Counter(f"{page.label} {page.language}" for page in self.kept)
        return {
            "read": len(self.kept) + len(self.excluded),
            "excluded": len(self.excluded),
            "learnt_from": dict(sorted(labels.items())),
        }


def read_examples(pages: Path, exclude: Sequence[Path], text_of: TextOf) -> Examples:
    """Return the pages of `pages` without those of the recorded webs `exclude`. Raises as `read_pages` does."""
    read = list(read_pages(pages, text_of))
    standing = contained([page.text for page in read], exclude, text_of)
    kept = [page for i, page in enumerate(read) if i not in standing]
    return Examples(kept, sorted(read[i].url for i in standing))


def read_pages(path: Path, text_of: TextOf) -> Iterator[LabelledPage]:
    """Yield the pages of JSON lines (.gz or plain). Raises UsageError, naming the line, and EnvironmentFault."""
    for number, line in enumerate(io.StringIO(read_text(path)), 1):
        if not line.strip():
            continue
        try:
            row: Mapping[str, str] = json.loads(line)
            title, text = text_of(row["html"].encode("utf-8", "surrogatepass"), _HTML)
            yield LabelledPage(row["url"], row["lang"], row["label"], title, text)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{path}, line {number}: expected a JSON object with url, lang, label and html ({described(error)})"
            ) from error


def fold_of(page: LabelledPage) -> int:
    """Return the index of a page's fold, 0…`FOLDS` - 1, by the hash of its site."""
    return hashlib.sha256(site_of(page).encode()).digest()[0] % FOLDS


def site_of(page: LabelledPage) -> str:
    """Return the registered domain of a page's address, or the address itself when it cannot be read."""
    url = read_url(page.url)
    return url.site if url else page.url


# --------------------------------------------------------------------------- files and the record


def read_text(path: Path) -> str:
    """Return the file's text, unpacked when its name ends in .gz."""
    try:
        data = read_whole(path, MOST_TEXT_BYTES)
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start:,}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise EnvironmentFault(f"{path} cannot be read: {error}") from error


def record(
    how: str, files: Sequence[Path], exclude: Sequence[Path], *, on: dt.date, webs: Sequence[Path] = ()
) -> dict[str, object]:
    """Return the common part of every model's record: how and when it was trained, by which version, from which files.

    `exclude`: recorded webs whose pages were left out. `webs`: recorded webs that it was trained on.
    """
    return {
        "how": how,
        "date": on.isoformat(),
        "geocrawl": __version__,
        "files": [*map(_fingerprint, files), *map(_web_fingerprint, webs)],
        "exclude": [_web_fingerprint(world) for world in exclude],
    }


EXCLUSION: Mapping[str, float] = {"shingle_words": SHINGLE_WORDS, "contained": CONTAINED}
"""The options of `read_examples`, for the record."""


def _web_fingerprint(world: Path) -> dict[str, object]:
    return _fingerprint(world / "pages.warc.gz", world.name)


def _fingerprint(path: Path, name: str = "") -> dict[str, object]:
    """Return name, size and sha256 of a training file."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"file": name or path.name, "bytes": path.stat().st_size, "sha256": digest}
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be read: {error.strerror or error}") from error
