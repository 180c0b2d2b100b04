"""Write docs/strategies.md: every strategy with its paper, constants and differences, from what the code declares.

`python -m scripts.strategies_page`, or `make strategies`. Papers and decisions are named here, all else in the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from geocrawl.config.names import setting_name
from geocrawl.priority.options import SEPARATOR
from geocrawl.priority.registry import presets, strategies, strategy_options

PAGE = Path(__file__).resolve().parents[1] / "docs" / "strategies.md"

_GWS = "Shen, Gui, You, Hu, Wu: *A topic crawler for discovering geospatial web services* (2015)"
_HITS = "Liu, Li: *Topic crawler algorithm with link structure* (2017)"
_ADAPTIVE = "Min, Huang: *User-defined topic focused crawler* (2015)"
_SCHEDULE = "[005](decisions/005-iterate-on-a-schedule.md)"
_SKYREACH = "Li, Zhao, Yu: *SkyReach*"
_OURS = "no paper: it is ours"
PAPERS = {
    "fusion": f"{_OURS}; [008](decisions/008-fusion.md), [012](decisions/012-groups-of-links.md)",
    "gws": f"{_GWS}; [001](decisions/001-zero-priority-links-wait.md)",
    "best-first": f"{_HITS}, as a rival",
    "best-first-page": f"{_HITS}, and {_ADAPTIVE}, as a rival of both",
    "best-first-anchor": f"{_HITS}, as a rival",
    "best-n-first": f"{_HITS}, as a rival",
    "hits": f"{_HITS}; {_SCHEDULE}",
    "adaptive": _ADAPTIVE,
    "ipagerank": f"{_SKYREACH}; {_SCHEDULE}, [006](decisions/006-tunnels-of-ipagerank.md)",
    "pagerank": f"{_SKYREACH}, as a rival; {_SCHEDULE}",
    "bayes": "Han et al. (2010); [007](decisions/007-bayes-learns-from-its-finds.md)",
    "bfs": "the generic crawler with which the papers compare theirs",
    "random": "no paper: the lowest bar",
}
"""Strategy → the paper that it is from, and pages about decisions that were made on it; others are ours."""

_BEGINNING = """# Strategies and their papers

A strategy decides the order of visits: `geocrawl crawl --strategy NAME`. `fusion` is the default. A *preset* such as
`gws:paper` is a strategy with the constants and rules that its paper prints, and with the settings of the paper's own
crawls: `crawl` and `daemon` have them too, and say so; an option, variable or file that names one of them wins, with a
line about it. In the daemon the paper's number of pages ends a run of its loop.
`geocrawl strategies` prints the same as this
page, `geocrawl strategies show gws:paper` one of it; it is made from the code (`make strategies`).

How they compare: [evaluation.md](evaluation.md) holds the papers' claims against recorded webs, `geocrawl evaluate`
compares them on webs of yours. How to add one: [CONTRIBUTING.md](../CONTRIBUTING.md#add-a-strategy).
"""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join([_BEGINNING, *(line for name in strategies() for line in _section(name))]).rstrip() + "\n"


def _section(name: str) -> Iterator[str]:
    yield f"## {name}\n"
    yield f"{_sentence(strategies()[name])}\n"
    yield f"From {PAPERS.get(name, _OURS)}.\n"
    if options := strategy_options(name):
        yield from ("| setting (`--set`) | default | meaning |", "|---|---|---|")
        for option, each in options.items():
            yield f"| `{name}.{option}` | {_value(each.default)} | {_cell(each.help)} |"
        yield ""
    for preset_name, preset in presets().items():
        if preset_name.partition(SEPARATOR)[0] != name:
            continue
        yield f"### {preset_name}\n"
        yield f"{_sentence(preset.summary)}\n"
        if preset.constants:
            yield from ("| constant | value | in the paper | ours |", "|---|---|---|---|")
            for option, (value, source, ours) in preset.constants.items():
                yield f"| `{option}` | {_value(value)} | {_cell(source)} | {_cell(ours)} |"
            yield ""
        if preset.setup:
            yield from ("| setting of its crawls | value | in the paper |", "|---|---|---|")
            for field, (value, source, _) in preset.setup.items():
                yield f"| `{setting_name(field)}` | {_value(value)} | {_cell(source)} |"
            yield ""
        if preset.differs:
            yield "It still differs from the paper:\n"
            yield from (f"- {_cell(sentence)}" for sentence in preset.differs)
            yield ""


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def _cell(text: str) -> str:
    """Return text that is no markup in a cell of a table."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;") or "-"


def _value(value: object) -> str:
    return f"`{str(value).lower() if isinstance(value, bool) else value}`" if str(value) else "-"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
