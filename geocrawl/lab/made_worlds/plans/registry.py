"""List the plans of made webs by the names that `geocrawl world make` accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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

KINDS: Mapping[str, Callable[[Planner, int], None]] = {
    "portal": portal,
    "agency": agency,
    "mixed": mixed,
    "wiki": wiki,
    "ckan": ckan,
    "blog": blog,
    "ministry": ministry,
    "geonetwork": geonetwork,
    "linklist": linklist,
    "university": university,
    "spa": spa,
    "govsearch": govsearch,
    "chinese": chinese,
}
"""Kind of web → its plan: adds a web of about the given number of pages to a planner."""
