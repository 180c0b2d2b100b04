"""Show the catalogue to people and programs over HTTP, read-only: `geocrawl serve`.

- `application.py` puts the parts together: routes, and the guards around them;
- `reader.py` runs queries in a few threads; `answers.py` keeps finished answers and answers 304;
- `pages/` are the pages for people, `templates/`, `static/` and `texts.toml` what they are made of;
- `records/` is the interface OGC API – Records; `feeds.py`, `badge.py`, `discovery.py` the smaller ones;
- `preview/` shows layers through the crawl's own polite fetcher.
"""
