"""Decide the order of visits: which waiting link is worth the next request.

Each strategy is one file of `strategies`, or one folder if it has parts (`fusion`). No strategy imports another, and
`registry` makes strategies by name. Shared code is in `options` (named constants that people may set), `ingredients`,
`text_terms` (words, keywords, contexts of links, TF-IDF), `link_graph` with its iterations, `graph_strategy`, `topics`
(the directory of topics), `nearness` (how near a page or a link is to a topic), `models` (trained models and their
files), `naive_bayes` (the classifier of links) and `codec` (state and features packed as bytes). The only I/O is
reading and writing models.
"""
