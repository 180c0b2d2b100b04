"""List the plans of made webs by the names that `geocrawl world make` accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from geocrawl.lab.made_worlds.planner import Planner
from geocrawl.lab.made_worlds.plans.agency import agency
from geocrawl.lab.made_worlds.plans.blog import blog
from geocrawl.lab.made_worlds.plans.ckan import ckan
from geocrawl.lab.made_worlds.plans.ministry import ministry
from geocrawl.lab.made_worlds.plans.mixed import mixed
from geocrawl.lab.made_worlds.plans.portal import portal
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
}
