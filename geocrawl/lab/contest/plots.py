"""Draw the results of a contest: recall over pages as curves, and areas as bars.

Colour-blind readers can distinguish the colours (Okabe and Ito, 2008); line styles and labels at the curves' ends
repeat the information.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from geocrawl.errors import install_extra
from geocrawl.lab.contest.contest import ORACLE, StrategyResult, WorldResults
from geocrawl.lab.contest.rates import RATES, mean_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
_STYLES = ("-", (0, (6, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
_MARKS = ("o", "s", "^", "D", "v", "x", "P")
"""Style and mark of a line together tell lines apart without colours."""
_HATCHES = ("", "//", "xx", "--")
_INCHES = (9.0, 5.4)
POINTS = 40
"""Points of a rate's line."""


def curves(world: WorldResults) -> Figure:
    """Plot recall over pages downloaded, a line for each strategy."""
    figure, axes = _figure()
    strategies = sorted(world.strategies, key=lambda strategy: -strategy.row.area)
    for number, strategy in enumerate(strategies):
        row = strategy.row
        xs, ys = _steps(strategy)
        look = {"color": "#000000", "linestyle": (0, (1, 2))} if row.strategy == ORACLE else _look(number)
        axes.step(xs, ys, where="post", label=f"{row.strategy} ({row.area:.3f})", linewidth=1.6, **look)
    axes.set_xlim(0, strategies[0].row.budget if strategies else 1)
    axes.set_ylim(0, 1)
    axes.set_xlabel("pages downloaded")
    axes.set_ylabel("recall: services found / reachable")
    axes.set_title(f"{world.study.world}: harvest curves (area in brackets)")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure


def rate_curves(world: WorldResults, names: Sequence[str], rate: str, most: int, title: str) -> Figure:
    """Plot a rate of `rates.RATES` over the first `most` pages, a line for each strategy, to its crawl's end."""
    figure, axes = _figure()
    ran = [strategy for strategy in world.strategies if strategy.row.strategy in names and strategy.results]
    for number, strategy in enumerate(ran):
        end = int(min(most, strategy.row.budget, strategy.row.pages))
        pages = sorted({max(1, end * point // POINTS) for point in range(1, POINTS + 1)})
        values = [mean_rate(strategy, world.study, rate, page) or 0.0 for page in pages]
        axes.plot(pages, values, label=strategy.row.strategy, linewidth=1.6, **_look(number))
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1)
    axes.set_xlabel("pages downloaded")
    axes.set_ylabel(RATES[rate])
    axes.set_title(title)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure


def grouped_bars(values: Mapping[str, Mapping[str, float]], title: str) -> Figure:
    """Plot bars: for each group of `values` (what is measured) a panel, with a bar for each name."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=_INCHES)
    for number, (measured, bars_of) in enumerate(values.items()):
        axes = figure.add_subplot(1, len(values), number + 1)
        axes.spines[["top", "right"]].set_visible(False)
        for place, (name, value) in enumerate(bars_of.items()):
            hatch = _HATCHES[place % len(_HATCHES)]
            axes.bar(place, value, label=name, color=_COLOURS[place], hatch=hatch, edgecolor="white")
            axes.text(place, value, f"{value:.3g}", ha="center", va="bottom", fontsize=8)
        axes.set_xticks([])
        axes.set_xlabel(measured)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    figure.suptitle(title)
    return figure


def bars(world: WorldResults) -> Figure:
    """Plot the area under each curve; the spread of `random` as a whisker."""
    figure, axes = _figure()
    rows = sorted((strategy.row for strategy in world.strategies), key=lambda row: row.area)
    names, areas = [row.strategy for row in rows], [row.area for row in rows]
    axes.barh(names, areas, color=_COLOURS[0], xerr=[row.area_sd or 0.0 for row in rows], ecolor=_COLOURS[1], capsize=3)
    for place, row in enumerate(rows):
        axes.text(row.area + (row.area_sd or 0.0) + 0.01, place, f"{row.area:.3f}", va="center", fontsize=8)
    axes.set_xlim(0, 1.05)
    axes.set_xlabel(f"area: mean recall over {rows[0].budget if rows else 0:,} pages")
    axes.set_title(f"{world.study.world}: area under the harvest curve")
    return figure


def drawn(figure: Figure, form: str) -> bytes:
    """Return the plot as `svg` or `png`; the same plot gives the same bytes."""
    import matplotlib

    stream = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "geocrawl", "svg.fonttype": "none"}):
        figure.savefig(
            stream, format=form, dpi=120, bbox_inches="tight", metadata={"Date": None} if form == "svg" else {}
        )
    return stream.getvalue()


def as_image(figure: Figure, label: str) -> str:
    """Return the plot as HTML with the picture inside."""
    data = base64.b64encode(drawn(figure, "svg")).decode()
    return f"<p><img alt='{escape(label)}' src='data:image/svg+xml;base64,{data}'></p>"


def missing() -> str:
    """Return '' when plots can be drawn, else a line that names the package to install."""
    if find_spec("matplotlib") is None:
        return f"no plots: they need matplotlib ({install_extra('evaluate')})"
    return ""


def _figure() -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=_INCHES)
    axes = figure.add_subplot()
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _look(number: int) -> dict[str, Any]:
    """Return colour, style and mark of a line: no two of the first 35 have the same style and mark."""
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "linestyle": _STYLES[number % len(_STYLES)],
        "marker": _MARKS[number % len(_MARKS)],
        "markevery": 0.1,
        "markersize": 4,
    }


def _steps(strategy: StrategyResult) -> tuple[Sequence[float], Sequence[float]]:
    """Return the curve's corners; a crawl that ended earlier keeps its last recall up to the budget."""
    row = strategy.row
    times = [time for time in strategy.curve if time <= row.budget]
    xs = [0, *times, row.budget]
    ys = [n / row.reachable if row.reachable else 0.0 for n in [*range(len(times) + 1), len(times)]]
    return xs, ys
