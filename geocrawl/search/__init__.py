"""Search the catalogue: the query language, folding of texts, synonyms, places, ranking, facets.

Thinking without I/O: a database is asked through `port.SearchIndex`, which `store/search` implements. Other rooms use
`SearchEngine`, which `Queries.search_engine` makes, and the types of its arguments and results. A name is imported when
it is first used: who writes the index needs neither the engine nor NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from geocrawl.lazy_names import lazy_names

if TYPE_CHECKING:
    from geocrawl.search.engine import SearchEngine
    from geocrawl.search.filters import Box, Filters, QueryError, Sort
    from geocrawl.search.results import FacetValue, Hit, LayerHit, Results, Twin

_MODULES = {
    "engine": "SearchEngine",
    "filters": "Box Filters QueryError Sort",
    "results": "FacetValue Hit LayerHit Results Twin",
}

__all__ = [
    "Box",
    "FacetValue",
    "Filters",
    "Hit",
    "LayerHit",
    "QueryError",
    "Results",
    "SearchEngine",
    "Sort",
    "Twin",
]

if not TYPE_CHECKING:  # a type checker would accept any name of this package
    __getattr__ = lazy_names(__name__, _MODULES)
