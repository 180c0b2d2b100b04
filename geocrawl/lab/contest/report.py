"""Write the report of a contest: results.csv, results.json, plots, and report.html, one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from geocrawl import __version__
from geocrawl.config.names import setting_name
from geocrawl.files import write_whole
from geocrawl.lab.contest import plots
from geocrawl.lab.contest.claims import Evidence, findings, findings_csv
from geocrawl.lab.contest.contest import AS_USED, ORACLE, ContestResults, Plan, WorldResults
from geocrawl.lab.contest.html import table
from geocrawl.lab.contest.papers import PAPERS
from geocrawl.lab.contest.papers_report import claims_table, figures, paper_section
from geocrawl.lab.contest.rates import rates_csv
from geocrawl.lab.contest.results import options_of, to_csv, to_json
from geocrawl.lab.contest.table import HEADS, cells, end_lines, model_lines
from geocrawl.priority.registry import presets
from geocrawl.sanitize import plain
from geocrawl.settings import DEFAULT_STRATEGY, NO_DEPTH_LIMIT, Settings
from geocrawl.wording import counted

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;max-width:1150px;margin:2em auto;padding:0 1em}
h1{font-size:1.7em;margin-bottom:.2em} h2{margin-top:2.2em;border-bottom:2px solid #0072B2;padding-bottom:.2em}
h3{margin-top:1.4em} .wide{overflow-x:auto}
table{border-collapse:collapse;font-size:13px;margin:.8em 0} caption{text-align:left;font-weight:600;padding:.3em 0}
th,td{padding:.25em .6em;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left} thead th{border-bottom:2px solid #555}
.beside{display:flex;flex-wrap:wrap;gap:2.5em} img{max-width:100%;height:auto} small,.note{color:#555}
li{margin:.25em 0} table.texts th,table.texts td{text-align:left;white-space:normal;vertical-align:top}
@media screen and (prefers-color-scheme:dark){body{color:#e3e3e3;background:#111}small,.note{color:#aaa}
th,td{border-color:#333}}
@page{size:A4 landscape}
@media print{body{font-size:9pt;margin:0;max-width:none}table{font-size:7pt}th,td{padding:.15em .35em}
.wide{overflow:visible}tr,img{break-inside:avoid}thead{display:table-header-group}h2,h3,caption{break-after:avoid}}
"""
_EXPLAINED = """<p>Each strategy crawled the same recorded webs, in memory and in virtual time, with everything but the
network as in a real crawl, robots.txt obeyed. {workers} <b>found</b> counts the
valid WMS in the catalogue whose capabilities were requested, <b>false</b> those catalogued as valid that are not,
<b>precision</b> is found divided by pages, more than 1 where pages name several services;
<b>to 50 %</b>, 90 and 100 are the pages downloaded until the crawl had made that share of its finds;
<b>area</b> is the mean recall over all pages of the budget, and a crawl that ends earlier keeps its last recall.
Crawls that may download every page all find the same in the end: their orders differ in the area and in the
pages needed, not in the last values. <b>harvest</b> and
<b>discovery</b> count relevant pages (naming a valid service, or one link before such a page) among those
downloaded and among those that can be reached; the <b>judged</b> columns are the same rates by a fixed judge of
page texts that no strategy uses. <b>oracle</b> is a crawl that knows which pages name services and the shortest
paths to them. <b>wall</b> is the virtual time of the crawl: the delays, and the times in which the hosts answer,
which are drawn by their names.</p>"""
_NO_TRUTH = """This is a recording of a crawl without known truth: the services that any strategy found here count as
reachable, only the judged columns are about relevant pages, and addresses that were not recorded cannot be reached."""


def write_all(plan: Plan, results: ContestResults, folder: Path, evidence: Evidence | None = None) -> Iterator[str]:
    """Write every file of a contest and yield a line for each. Raises EnvironmentFault when a file cannot be written.

    `evidence`: the contest with the papers' experiments; None: no experiment ran. Without matplotlib no plots are
    written, and a line states that.
    """
    evidence = evidence or Evidence({"": results})
    write_whole(folder / "results.csv", to_csv(results))
    write_whole(folder / "results.json", to_json(plan, results))
    write_whole(folder / "rates.csv", rates_csv(evidence.experiments))
    write_whole(folder / "claims.csv", findings_csv(findings(evidence)))
    yield f"wrote {folder / 'results.csv'}, results.json, rates.csv and claims.csv"
    missing = plots.missing()
    if missing:
        yield missing
    else:
        for world in results.worlds:
            yield _write_plots(world, folder)
        for name, _, plot in figures(evidence):
            write_whole(folder / "figures" / f"{name}.svg", plots.drawn(plot, "svg"))
    write_whole(folder / "report.html", to_html(plan, results, evidence, with_plots=not missing))
    yield f"wrote {folder / 'report.html'}"


def _write_plots(world: WorldResults, folder: Path) -> str:
    for name, drawing in (("curves", plots.curves(world)), ("areas", plots.bars(world))):
        for form in ("svg", "png"):
            write_whole(folder / f"{world.study.world}-{name}.{form}", plots.drawn(drawing, form))
    return f"wrote {folder / world.study.world}-curves and -areas, .svg and .png"


def to_html(plan: Plan, results: ContestResults, evidence: Evidence | None = None, *, with_plots: bool = True) -> str:
    """Return the report as one page: styles and pictures inside, no scripts. `evidence` as for `write_all`."""
    evidence = evidence or Evidence({"": results})
    body = [*_asked(plan, results)]
    for world in results.worlds:
        body += _world(world, with_plots=with_plots)
    body += _explained(plan)
    body += claims_table(evidence)
    if with_plots:
        body.append("<h2>The papers' figures, from our crawls</h2>")
        body += [plots.as_image(plot, title) for _, title, plot in figures(evidence)]
    for paper in PAPERS:
        body += paper_section(paper, evidence)
    body += _options(plan)
    body += _closing(results)
    head = "<meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
    head += f"<title>geocrawl: contest of strategies</title><style>{_STYLE}</style>"
    return f"<!DOCTYPE html>\n<html lang='en'><head>{head}</head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"


def _asked(plan: Plan, results: ContestResults) -> Iterator[str]:
    """Yield the heading, what was asked (strategies, webs, budget), and the answer in a sentence for each web."""
    studies = [world.study for world in results.worlds]
    asked = [
        ("question", "Which strategy finds the services of a web with the fewest pages?"),
        ("strategies", ", ".join(plan.strategies)),
        ("webs", ", ".join(f"{study.world} ({study.pages:,} pages)" for study in studies)),
        ("budget of a crawl", f"{plan.budget:,} pages" if plan.budget else "as many pages as its web has"),
    ]
    if plan.topic or plan.seeds:
        topic = f"The strategies looked for the topic {plan.topic}. " if plan.topic else ""
        seeds = f"The crawls began at the {len(plan.seeds):,} seeds given." if plan.seeds else ""
        asked.append(("other than usual", topic + seeds))
    asked += [(f"answer, {world.study.world}", _answer(world)) for world in results.worlds if world.strategies]
    yield "<h1>Contest of strategies</h1>"
    yield table(("what", "value"), asked, f"geocrawl {__version__}, seed {plan.seed}", texts=True)
    if results.skipped:
        yield "<p>Skipped:</p><ul>" + "".join(f"<li>{escape(plain(line))}</li>" for line in results.skipped) + "</ul>"


def _answer(world: WorldResults) -> str:
    """Return which strategy was the best on a web, the oracle aside, and how far the last one was behind."""
    rows = sorted((each.row for each in world.strategies if each.row.strategy != ORACLE), key=lambda row: -row.area)
    if not rows:
        return "no strategy ran"
    first, *others = rows
    half = "" if first.pages_50 is None else f", half of them after {first.pages_50:,.0f} pages"
    of = counted(first.reachable, "service")
    told = f"{first.strategy} found {first.found:,.0f} of {of}{half} (area {first.area:.3f})"
    return told + "".join(f"; last is {row.strategy}: {row.found:,.0f} (area {row.area:.3f})" for row in others[-1:])


def _explained(plan: Plan) -> Iterator[str]:
    yield "<h2>How the crawls were made, and what the columns mean</h2>"
    yield _EXPLAINED.format(workers=escape(workers_line(plan)))


def workers_line(plan: Plan) -> str:
    """Return a sentence on the workers and the delay of the contest's crawls."""
    used = Settings()
    depth = "" if plan.max_depth == NO_DEPTH_LIMIT else f", follow {plan.max_depth} links from a start page"
    line = f"The crawls have {counted(plan.workers, 'worker')} and {_delay(plan.delay_s)}{depth}"
    if AS_USED not in plan.strategies:
        return f"{line}."
    own = f"{counted(used.workers, 'worker')} and {_delay(used.delay_s)}"
    return f"{line}; {AS_USED} is {DEFAULT_STRATEGY} as a crawl runs it by default, with {own}."


def _delay(seconds: float) -> str:
    return f"{seconds:g} s between two requests to one host" if seconds else "no delays"


def _options(plan: Plan) -> Iterator[str]:
    """Yield the options of each strategy and, for a preset, the paper's rule of each and where ours differs."""
    known = presets()
    yield "<h2>Options of the strategies</h2>"
    for name, values in options_of(plan).items():
        preset = known.get(name)
        yield f"<h3>{escape(name)}</h3>" + (f"<p>{escape(preset.summary)}</p>" if preset else "")
        if preset is None:
            shown = ", ".join(f"{option} = {value}" for option, value in values.items())
            yield f"<p>{escape(plain(shown)) or 'no options'}</p>"
            continue
        setup = [(setting_name(field), str(each.value), each.source) for field, each in preset.setup.items()]
        yield table(("setting", "value", "in the paper"), setup, "Its paper's crawls (evaluate --setup)")
        rows = [(option, str(values[option]), each.source, each.ours) for option, each in preset.constants.items()]
        yield table(("option", "value", "in the paper", "ours"), rows, "Constants")
        yield "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in preset.differs) + "</ul>"


def _world(world: WorldResults, *, with_plots: bool) -> Iterator[str]:
    rows = sorted((strategy.row for strategy in world.strategies), key=lambda row: -row.area)
    study = world.study
    yield f"<h2>World {escape(plain(study.world))}</h2>"
    if rows:
        services = f"{counted(rows[0].reachable, 'service')} that can be found"
        facts = f"{counted(study.pages, 'page')}, {services}, budget {counted(rows[0].budget, 'page')}"
        relevant = (
            f"{len(study.relevant):,} relevant pages, {len(study.relevant & study.reachable):,} of them reachable"
        )
        yield f"<p>{facts}; {relevant}; the judge calls {len(study.judged):,} pages relevant.</p>"
        for line in end_lines(ContestResults((world,), ())):
            yield f"<p class='note'>{escape(plain(line))}.</p>"
    if not study.has_truth:
        asked = ", ".join(f"{row.strategy} {row.unrecorded or 0:,.0f}" for row in rows)
        yield f"<p>{_NO_TRUTH} Requested and not recorded: {escape(asked)}.</p>"
    yield table(HEADS, [cells(row) for row in rows], "Best area first")
    if with_plots and rows:
        for drawing, what in ((plots.curves(world), "harvest curves"), (plots.bars(world), "areas")):
            yield plots.as_image(drawing, f"{study.world}: {what}")


def _closing(results: ContestResults) -> Iterator[str]:
    yield "<h2>Models and what they were trained on</h2><ul>"
    for line in model_lines(results):
        yield f"<li>{escape(plain(line))}</li>"
    yield "</ul><p>No model was trained on a world that it is measured on: such a strategy would have been skipped.</p>"
