"""Search the catalogue: the query language, folding of texts, synonyms, places, ranking, facets.

Thinking without I/O: a database is asked through `port.SearchIndex`, which `store/search` implements. Other rooms use
`SearchEngine`, which `Queries.search_engine` makes, and the types of its arguments and results.
"""

from __future__ import annotations

from geocrawl.search.engine import SearchEngine
from geocrawl.search.filters import Box, Filters, QueryError, Sort
from geocrawl.search.results import FacetValue, Hit, LayerHit, Results, Twin

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
