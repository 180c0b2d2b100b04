"""Search the catalogue: plans of queries (`geocrawl.query`), synonyms, filters, ranking, facets.

Thinking without I/O: a database is asked through `port.SearchIndex`, which `store/catalogue/index` implements;
`store.catalogue.index.index.search_engine` makes a `SearchEngine` of it.
"""
