"""Draw a sample of the pages that crawls visited, for a person to judge, and read the judgements back.

The papers measure precision by people who judge 5 % of the pages. `sample.csv` is what the person fills in: it does not
tell which strategy visited a page. `sample.json` beside it does, and is needed to read the judgements back. A page that
several strategies visited is likely drawn for all of them, because one hash of its address decides: it is judged once.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from geocrawl.errors import EnvironmentFault, UsageError, described
from geocrawl.export.tables import write_csv
from geocrawl.files import write_whole
from geocrawl.lab.contest.contest import ContestResults
from geocrawl.lab.recorded_worlds.recording import RecordedWeb
from geocrawl.lab.recorded_worlds.world import World
from geocrawl.model import Page
from geocrawl.page.document import PageReader
from geocrawl.sanitize import plain
from geocrawl.urls import read_url

SAMPLE_FILE, DRAWN_FILE = "sample.csv", "sample.json"
COLUMNS = ("world", "url", "title", "excerpt", "judgement")
EXCERPT_CHARS = 400
YES, NO, UNKNOWN = frozenset({"yes", "y", "1"}), frozenset({"no", "n", "0"}), frozenset({"", "?"})
"""What counts in the column `judgement`, in lower case: the page is relevant; it is not; the person has not judged it
or could not tell."""
_Z = 1.959964
"""Quantile of the normal distribution for an interval of 95 %."""
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Size:
    """How many of the pages that a crawl visited are drawn."""

    pages: int = 0
    share: float = 0.0

    def of(self, visited: int) -> int:
        """Return the number of pages to draw of `visited` ones, at least one of any."""
        return min(visited, max(self.pages, math.ceil(self.share * visited)))


@dataclass(frozen=True, slots=True)
class Drawn:
    """The pages that were drawn of one crawl."""

    world: str
    strategy: str
    visited: int
    """Different pages that the crawl visited."""
    pages: tuple[str, ...]
    """Addresses of the pages drawn."""


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of relevant pages of a crawl by a person's judgement, with an interval of 95 % confidence."""

    world: str
    strategy: str
    visited: int
    judged: int
    relevant: int
    not_judged: int
    precision: float | None
    """Relevant pages among those judged relevant or not, 0…1; None while no page is."""
    low: float | None
    high: float | None


def read_size(text: str) -> Size:
    """Return the size that `text` says: `200` pages of each crawl, or `5%` of them. Raises UsageError for another."""
    number, percent = text.strip().removesuffix("%"), text.strip().endswith("%")
    try:
        value = float(number) if percent else int(number)
    except ValueError:
        value = 0
    if not 0 < value <= (100 if percent else 10**9):
        raise UsageError(f"--sample {text}: expected a number of pages, such as 200, or a share of them, such as 5%")
    return Size(share=value / 100) if percent else Size(pages=int(value))


def refuse_judged(folder: Path) -> None:
    """Raise UsageError when a sample is in the folder: a person's judgements must not be replaced."""
    if (folder / SAMPLE_FILE).exists():
        raise UsageError(f"{folder / SAMPLE_FILE} exists, and may hold judgements; name another folder with --out")


# --------------------------------------------------------------------------- drawing


def draw(results: ContestResults, size: Size, seed: int) -> list[Drawn]:
    """Return a sample of each crawl, of equal chance for all of its pages; of `random` only of its first crawl."""
    drawn = []
    for world in results.worlds:
        for strategy in world.strategies:
            if strategy.results:
                visited = list(dict.fromkeys(strategy.results[0].visited))
                pages = sorted(visited, key=lambda page: _draw_key(page, seed))[: size.of(len(visited))]
                drawn.append(Drawn(world.study.world, strategy.row.strategy, len(visited), tuple(map(_address, pages))))
    return drawn


def _draw_key(page: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed} {page}".encode("utf-8", "surrogatepass")).digest()


def _address(key: str) -> str:
    """Return the address of a page by its key: those of worlds are without a scheme, which is http."""
    return key if "://" in key else f"http://{key}"


def write_sample(drawn: Sequence[Drawn], worlds: Sequence[Path], folder: Path, seed: int) -> Iterator[str]:
    """Write the pages to judge and what they were drawn from, and yield a line for people.

    Raises EnvironmentFault when a file cannot be written.
    """
    text = io.StringIO()
    rows = list[tuple[str, ...]]()
    for path in worlds:
        name, excerpt_of = _excerpts(path)
        pages = {page for each in drawn if each.world == name for page in each.pages}
        for page in sorted(pages, key=lambda page: _draw_key(page, seed)):
            title, excerpt = excerpt_of(page)
            rows.append((name, page, title, excerpt, ""))
    number = write_csv(COLUMNS, rows, text)
    write_whole(folder / SAMPLE_FILE, text.getvalue())
    data = {"version": _VERSION, "seed": seed, "drawn": [asdict(each) for each in drawn]}
    write_whole(folder / DRAWN_FILE, json.dumps(data, ensure_ascii=False, indent=1) + "\n")
    yield f"wrote {folder / SAMPLE_FILE}: {number:,} pages to judge (yes, no or ?), then geocrawl evaluate --judged"


def _excerpts(path: Path) -> tuple[str, Callable[[str], tuple[str, str]]]:
    """Return a web's name, and a function of an address that returns (title, excerpt) of the page recorded there."""
    world: World | RecordedWeb = RecordedWeb(path) if path.is_file() else World(path)
    reader = PageReader(prose=True)

    def read(address: str) -> tuple[str, str]:
        stored = world.warc.read(address if path.is_file() else address.removeprefix("http://"))
        url = read_url(address)
        if stored is None or url is None:
            return "", ""
        headers = {name.lower(): value for name, value in stored.headers}
        document = reader.read(Page(url, url, stored.status, headers, stored.body, 0.0, 0.0), depth=0)
        return plain(document.title), plain(document.prose or document.text, EXCERPT_CHARS)

    return world.name, read


# --------------------------------------------------------------------------- reading back


def read_judged(path: Path) -> list[Precision]:
    """Return the precision of each crawl by the judgements in a sample, whose `sample.json` is beside it.

    Raises UsageError, naming the line, for a file of another form; EnvironmentFault for one that cannot be read.
    """
    judgements = _judgements(path)
    return [_precision(each, judgements) for each in _read_drawn(path.with_name(DRAWN_FILE))]


def _judgements(path: Path) -> Mapping[tuple[str, str], bool]:
    """Return (world, address) → whether the page is relevant, without pages that are not judged."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start:,}") from error
    except OSError as error:
        raise EnvironmentFault(f"{path} cannot be read: {error.strerror or error}") from error
    head = text.partition("\n")[0]
    rows = csv.DictReader(io.StringIO(text), delimiter=max(",;\t", key=head.count))
    lacking = {"world", "url", "judgement"} - set(rows.fieldnames or ())
    if lacking:
        raise UsageError(f"{path} has no column {' and '.join(sorted(lacking))}")
    judged = {}
    for row in rows:
        said = (row["judgement"] or "").strip().lower()
        if said in YES | NO:
            judged[row["world"] or "", row["url"] or ""] = said in YES
        elif said not in UNKNOWN:
            raise UsageError(f"{path}, line {rows.line_num}: judgement {said!r}; expected yes, no, ? or nothing")
    return judged


def _read_drawn(path: Path) -> list[Drawn]:
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["version"] != _VERSION:
            raise ValueError(f"version {data['version']}")
        return [Drawn(d["world"], d["strategy"], int(d["visited"]), tuple(d["pages"])) for d in data["drawn"]]
    except OSError as error:
        raise EnvironmentFault(
            f"{path} cannot be read ({error.strerror or error}); it was written beside the sample and "
            "tells which strategy visited which page"
        ) from error
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is no record of a sample ({described(error)})") from error


def _precision(drawn: Drawn, judgements: Mapping[tuple[str, str], bool]) -> Precision:
    said = [judgements[drawn.world, page] for page in drawn.pages if (drawn.world, page) in judgements]
    relevant, judged = sum(said), len(said)
    low, high = interval(relevant, judged, drawn.visited) if judged else (None, None)
    precision = round(relevant / judged, 6) if judged else None
    missing = len(drawn.pages) - judged
    return Precision(drawn.world, drawn.strategy, drawn.visited, judged, relevant, missing, precision, low, high)


def interval(relevant: int, judged: int, visited: int) -> tuple[float, float]:
    """Return the interval of 95 % confidence for the share of relevant pages among all that were visited.

    Wilson's score interval (1927); `judged` of `visited` pages without replacement count as a sample that is larger by
    (visited − 1)/(visited − judged), so that a judgement of all pages leaves no doubt.
    """
    share = relevant / judged
    if judged >= visited:
        return share, share
    n = judged * (visited - 1) / (visited - judged)
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n * n))
    return round(max(middle - half, 0.0), 6), round(min(middle + half, 1.0), 6)
