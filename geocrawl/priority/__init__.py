"""Decide the order of visits: which waiting link is worth the next request.

One file holds one strategy, or one folder where it has parts (`bayes`, `fusion`); none imports another, and `registry`
makes them by name. What they share has rooms of its own: `options` (named constants that people may set), `defaults`,
`ingredients`, `text` (words, keywords, contexts of links), `vectors` (TF-IDF, centroid), `graph` (link graph and its
iterations), `topics` (what a topic is and how near a page or a link is to it), `models` (trained models and their
files) and `codec` (bytes that strategies keep). Nothing here does I/O but reading and writing models.
"""
