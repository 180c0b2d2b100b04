"""The order of visits: which waiting link is worth the next request.

One file holds one strategy (`gws`, `baselines`), none imports another, and `registry` makes them by name. They share
what is not a strategy: `options` (named constants that people may set), `words` (tokens, Han segmentation, stop words),
`topic` and `links` (the trained models as plain values and how a page or a link is measured by them) and `models` (the
files they stand in). `training` and `overlap` make these models; a crawl never imports them. Nothing here does I/O
but reading and writing models.
"""
