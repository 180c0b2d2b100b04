"""Label links for the training of `bayes` by where they lead (Han et al. 2010, "training data").

A link into an authoritative domain of the topic is a positive sample, a link into an authoritative domain of another
topic a negative sample; all other links are left out. Features are computed from anchor and context alone, so they do
not reveal the label, which is computed from the address.
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from geocrawl.lab.training.gws_models import LabelledLink, initial_keywords
from geocrawl.model import Document, Link, Url
from geocrawl.priority.strategies.bayes import Sample
from geocrawl.priority.text_terms import link_contexts
from geocrawl.priority.topics import Topic
from geocrawl.urls import read_url

ON_TOPIC, OFF_TOPIC = "ogc", "other"
"""Labels of pages on the topic and on other topics; `gis` pages are neither."""
TOPIC_SHARE = 0.5
"""A site is authoritative for the topic when more than this share of its pages is on the topic and none on another one.
"""


@dataclass(frozen=True, slots=True)
class Authorities:
    """The domains and pages that are authoritative for the topic, and those for other topics."""

    topic: Collection[str]
    """Domains and hosts of the topic, including all subdomains."""
    other: Collection[str]
    pages: Mapping[str, bool]
    """Identity of a page whose topic is known → whether that is the topic learnt."""

    def side(self, url: Url) -> bool | None:
        """Return True for an address of the topic, False for one of another, None when unknown."""
        if url.identity in self.pages:
            return self.pages[url.identity]
        host = url.host
        while host:
            if host in self.topic:
                return True
            if host in self.other:
                return False
            host = host.partition(".")[2]
        return None


def authorities(pages: Iterable[tuple[Document, str]], rows: Iterable[LabelledLink] = ()) -> Authorities:
    """Return the authoritative domains by three sources:

    the lists in `bayes_words.toml`, the sites of labelled `pages`, and the hosts of services in `rows`. A domain on
    which two sources disagree is left out.
    """
    lists = _words_data()["domains"]
    topic, other = set(lists["topic"]), set(lists["other"])
    sides: dict[str, Counter[str]] = defaultdict(Counter)
    known: dict[str, bool] = {}
    for page, label in pages:
        sides[page.url.host][label] += 1
        if label in (ON_TOPIC, OFF_TOPIC):
            known[page.url.identity] = label == ON_TOPIC
    for host, labels in sides.items():
        if not labels[OFF_TOPIC] and labels[ON_TOPIC] > TOPIC_SHARE * labels.total():
            topic.add(host)
        elif labels[OFF_TOPIC] == labels.total():
            other.add(host)
    services = {url.host for row in rows if row.label != OFF_TOPIC and (url := read_url(row.url))}
    both = topic & other
    return Authorities(topic - both | services - other, other - both, known)


def page_samples(pages: Iterable[Document], domains: Authorities) -> Iterator[Sample]:
    """Yield a sample for each link of `pages` whose target has a known topic.

    A site's navigation is on each of its pages: the same anchor with the same context to the same target counts once
    per site.
    """
    seen: set[tuple[str, str, str, tuple[str, ...]]] = set()
    for page in pages:
        for link, context in zip(page.links, link_contexts(page.links), strict=True):
            positive = None if not _is_reference(link, page) else domains.side(link.url)
            key = (page.url.site, link.url.identity, link.anchor, context)
            if positive is not None and key not in seen:
                seen.add(key)
                yield Sample(link.anchor, context, positive, page.url.host)


def _is_reference(link: Link, page: Document) -> bool:
    return bool(link.anchor or link.context) and link.url.identity != page.url.identity


def row_samples(rows: Iterable[LabelledLink], domains: Authorities) -> Iterator[Sample]:
    """Yield a sample, without context, for each labelled address that has an anchor.

    Services are positive samples. Other addresses are labelled by their domain; where the domain is unknown, ordinary
    links and those noted as `hard-negative` are negative samples, and all doubtful ones are left out.
    """
    for row in dict.fromkeys(rows):
        url = read_url(row.url) if row.anchor else None
        if url is None or row.note not in ("", "kvp", "hard-negative"):
            continue
        positive = True if row.label != OFF_TOPIC else domains.side(url)
        yield Sample(row.anchor, (), bool(positive), url.site)


def topic_authorities(topic: Topic, others: Iterable[Topic]) -> Authorities:
    """Return authorities by the sites of start pages: of `topic` or of `others`; sites of both are left out."""
    ours = _sites(topic)
    theirs = {site for other in others if other.name != topic.name for site in _sites(other)}
    return Authorities(ours - theirs, theirs - ours, {})


def _sites(topic: Topic) -> set[str]:
    return {url.site for seed in topic.seeds if (url := read_url(seed)) is not None}


def domain_lexicon() -> tuple[str, ...]:
    """Return the domain terms, sorted:

    those of the WMS standard in English and Chinese, the words of level 1 of gws, and a few German and Japanese ones.
    """
    terms = [term for words in initial_keywords().values() for term in words]
    links = _data("gws_words.toml")["links"]
    terms += links["abbreviations"] + links["wider"]
    terms += [term for words in _words_data()["lexicon"].values() for term in words]
    return tuple(sorted(set(terms)))


def _words_data() -> dict[str, Any]:
    return _data("bayes_words.toml")


def _data(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("geocrawl").joinpath(f"data/{name}").read_text("utf-8"))
