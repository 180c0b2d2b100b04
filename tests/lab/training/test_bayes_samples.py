"""How bayes is trained: labels from where links lead, what is left out, and what is said of rubbish."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from pathlib import Path

import pytest

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.lab.training.bayes_files import Sources, train_bayes_file
from geocrawl.lab.training.bayes_samples import Authorities, authorities, domain_lexicon, page_samples, row_samples
from geocrawl.lab.training.gws_models import LabelledLink
from geocrawl.model import Document, Link
from geocrawl.priority.naive_bayes import read_bayes
from geocrawl.priority.strategies.bayes import Sample, train_bayes
from tests.lab.training.test_gws_models import text_of, write_world
from tests.priority.documents import document, url

DAY = dt.date(2025, 3, 1)
DOMAINS = Authorities({"topic.example", "maps.shared.example"}, {"soup.example", "shared.example"}, {})


def page_at(address: str, *links: Link) -> Document:
    page = document("", *links)
    return Document(url(address), 0, 200, "text/html", "utf-8", page.title, page.text, page.links)


def beside(address: str, anchor: str, context: str = "") -> Link:
    return Link(url(address), anchor, context)


# --------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("address", "side"),
    [
        ("http://topic.example/a", True),
        ("http://deep.down.topic.example/", True),
        ("http://www.soup.example/", False),
        ("http://maps.shared.example/", True),
        ("http://www.shared.example/", False),
        ("http://nottopic.example/", None),
    ],
)
def test_a_domain_speaks_for_everything_below_it_and_the_nearest_one_counts(address: str, side: bool | None) -> None:
    assert DOMAINS.side(url(address)) is side


def test_sites_of_labelled_pages_are_authorities_when_they_keep_to_one_topic() -> None:
    sites = {"good": ["ogc", "ogc", "gis"], "half": ["ogc", "gis"], "mixed": ["ogc", "ogc", "other"], "poor": ["other"]}
    pages = [
        (page_at(f"http://{site}.example/{number}"), label)
        for site, labels in sites.items()
        for number, label in enumerate(labels)
    ]
    domains = authorities(pages)
    elsewhere = {
        site: domains.side(url(f"http://{site}.example/elsewhere")) for site in ("good", "half", "mixed", "poor")
    }
    assert elsewhere == {"good": True, "half": None, "mixed": None, "poor": False}
    assert domains.side(url("http://mixed.example/2")) is False


def test_hosts_of_listed_services_are_authorities_and_lists_come_with_the_program() -> None:
    domains = authorities([], [LabelledLink("http://maps.example/wms", "wms"), LabelledLink("http://x.org/", "other")])
    assert domains.side(url("http://maps.example/about")) is True
    assert domains.side(url("http://x.org/")) is None
    assert (domains.side(url("http://docs.geoserver.org/")), domains.side(url("http://docs.python.org/"))) == (
        True,
        False,
    )


def test_links_are_labelled_by_where_they_lead_and_the_undecided_left_out() -> None:
    links = [
        beside("http://topic.example/", "a"),
        beside("http://soup.example/", "b"),
        beside("http://any.example/", "c"),
    ]
    samples = list(page_samples([page_at("http://s.example/", *links)], DOMAINS))
    assert samples == [Sample("a", ("b",), True, "s.example"), Sample("b", ("a", "c"), False, "s.example")]


def test_a_sites_navigation_counts_once_and_a_page_is_no_reference_to_itself() -> None:
    menu = [beside("http://s.example/1", "Self", "x"), beside("http://topic.example/", "Maps", "y")]
    pages = [page_at(f"http://s.example/{number}", *menu) for number in range(1, 4)]
    samples = list(page_samples(pages, Authorities({"example"}, set(), {})))
    assert [sample.anchor for sample in samples] == ["Maps", "Self"]


def test_listed_addresses_need_an_anchor_and_no_doubt() -> None:
    rows = [
        LabelledLink("http://a.example/wms", "wms", "WMS", "kvp"),
        LabelledLink("http://b.example/wms", "wms", "", "kvp"),
        LabelledLink("http://topic.example/doc", "other", "Docs", "hard-negative"),
        LabelledLink("http://b.example/x", "other", "Shop", "hard-negative"),
        LabelledLink("http://c.example/x", "other", "OGC", "ogc-word"),
        LabelledLink("no address", "other", "x"),
    ]
    found = {sample.anchor: sample.positive for sample in row_samples([*rows, *rows], DOMAINS)}
    assert found == {"WMS": True, "Docs": True, "Shop": False}


def test_both_classes_are_needed() -> None:
    with pytest.raises(UsageError, match="1 positive and 0 negative links; both are needed"):
        train_bayes([Sample("wms", (), True, "a")], [])


def test_the_order_of_samples_does_not_matter() -> None:
    samples = [Sample(f"w{n % 3} maps", (f"c{n % 2}",), n % 4 > 1, f"{n}.example") for n in range(20)]
    assert train_bayes(samples, ["map"]) == train_bayes(samples[::-1], ["map"])


def test_the_lexicon_holds_terms_of_four_languages_once_each() -> None:
    lexicon = domain_lexicon()
    assert {"wms", "地图服务", "kartendienst", "地理空間情報"} <= set(lexicon)
    assert list(lexicon) == sorted(set(lexicon))


# --------------------------------------------------------------------------- files


def document_of(address: str, html: str) -> Document:
    """A page whose links are its words: `word=address`."""
    pairs = [word.split("=") for word in html.split() if "=" in word]
    page = page_at(address, *[beside(target, anchor, "…") for anchor, target in pairs])
    return Document(page.url, 0, 200, "text/html", "utf-8", "", html, page.links)


def learn(folder: Path, sources: Sources) -> dict[str, object]:
    return train_bayes_file(sources, folder / "m.json", document_of=document_of, text_of=text_of, on=DAY)


def pages_file(path: Path, *rows: object) -> Path:
    path.write_bytes(
        gzip.compress("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode())
    )
    return path


def row(number: int, html: str, label: str = "gis") -> dict[str, str]:
    return {"url": f"http://s{number}.example/", "label": label, "html": html}


def test_all_sources_add_up_and_the_record_says_where_the_model_comes_from(tmp_path: Path) -> None:
    links = "maps=http://ogc.org/ soup=http://www.debian.org/"
    pages = pages_file(tmp_path / "p.jsonl.gz", row(1, links), "", row(2, links))
    urls = tmp_path / "u.csv"
    urls.write_text("url,label,anchor,note\nhttp://a.example/x,other,soup,\nhttp://b.example/wms,wms,maps,kvp\n")
    finds = [("maps", "Catalogue", True), ("soup", "Kitchen", False)]
    made = learn(tmp_path, Sources(pages, urls, finds, tmp_path / "c.db"))
    model = read_bayes(tmp_path / "m.json")
    assert (model.positive, model.negative, model.with_context) == (4, 4, (3, 3))
    assert (model.features["anchor map"], model.features["anchor soup"]) == ((4, 0), (0, 4))
    assert model.made["samples"] == {
        "pages": {"positive": 2, "negative": 2},
        "urls": {"positive": 1, "negative": 1},
        "finds": {"positive": 1, "negative": 1},
    }
    assert [file["file"] for file in made["files"]] == ["p.jsonl.gz", "u.csv"]  # type: ignore[attr-defined]
    assert "CC-BY 4.0" in str(made["licence"])


def test_pages_of_the_webs_that_are_measured_are_not_learnt_from(tmp_path: Path) -> None:
    story = " ".join(f"word{number}" for number in range(60))
    links = "maps=http://ogc.org/ soup=http://www.debian.org/"
    pages = pages_file(
        tmp_path / "p.jsonl.gz", row(1, f"{story} one=http://ogc.org/"), row(2, links + " " + story[::-1])
    )
    made = learn(tmp_path, Sources(pages, exclude=[write_world(tmp_path / "w", story)]))
    assert made["pages"] == {"read": 2, "excluded": 1, "learnt_from": 1}
    assert read_bayes(tmp_path / "m.json").made["excluded_pages"] == ["http://s1.example/"]


@pytest.mark.parametrize("rubbish", ["{", "[]", '{"url": "http://a.example/"}', '{"url": 1, "html": "", "label": "x"}'])
def test_a_line_that_is_no_page_is_named(tmp_path: Path, rubbish: str) -> None:
    pages = pages_file(tmp_path / "p.jsonl.gz", row(1, "maps=http://ogc.org/"), rubbish)
    with pytest.raises(UsageError, match=r"p\.jsonl\.gz, line 2: expected a JSON object with url, label and html"):
        learn(tmp_path, Sources(pages))


def test_files_that_are_missing_or_cut_are_named(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b"x" * 1000)[:20])
    for name in ("missing.jsonl", "cut.jsonl.gz"):
        with pytest.raises(EnvironmentFault, match=name):
            learn(tmp_path, Sources(tmp_path / name))
    (tmp_path / "u.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="no column label and url"):
        learn(tmp_path, Sources(urls=tmp_path / "u.csv"))
