"""List the plans of made webs by the names that `geocrawl world make` accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from geocrawl.lab.made_worlds.planner import Planner
from geocrawl.lab.made_worlds.plans.agency import agency
from geocrawl.lab.made_worlds.plans.blog import blog
from geocrawl.lab.made_worlds.plans.chinese import chinese
from geocrawl.lab.made_worlds.plans.ckan import ckan
from geocrawl.lab.made_worlds.plans.geonetwork import geonetwork
from geocrawl.lab.made_worlds.plans.govsearch import govsearch
from geocrawl.lab.made_worlds.plans.linklist import linklist
from geocrawl.lab.made_worlds.plans.ministry import ministry
from geocrawl.lab.made_worlds.plans.mixed import mixed
from geocrawl.lab.made_worlds.plans.portal import portal
from geocrawl.lab.made_worlds.plans.spa import spa
from geocrawl.lab.made_worlds.plans.university import university
from geocrawl.lab.made_worlds.plans.wiki import wiki


class Kind(NamedTuple):
    """A kind of web."""

    plan: Callable[[Planner, int], None]
    """Plans a web of about so many pages."""
    about: str
    """What the web is, in a few words."""


KINDS: Mapping[str, Kind] = {
    "portal": Kind(portal, "a directory of map services"),
    "agency": Kind(agency, "many pages, few services"),
    "mixed": Kind(mixed, "many sites in several languages"),
    "wiki": Kind(wiki, "articles, categories, discussions"),
    "ckan": Kind(ckan, "a catalogue of data sets and their files"),
    "blog": Kind(blog, "blogs and a forum"),
    "ministry": Kind(ministry, "a ministry and its offices"),
    "geonetwork": Kind(geonetwork, "a catalogue of metadata records"),
    "linklist": Kind(linklist, "directories, lists and rings of links"),
    "university": Kind(university, "groups, people, courses"),
    "spa": Kind(spa, "applications of scripts and JSON"),
    "govsearch": Kind(govsearch, "a portal behind search forms"),
    "chinese": Kind(chinese, "a family of Chinese sites"),
}
