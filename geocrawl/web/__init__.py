"""Show the catalogue to people and programs over HTTP, read-only: `geocrawl serve`.

- `application.py` puts the parts together (routes, and the guards around them) and runs them;
- `reader.py` reads the catalogue in a few threads; `answers.py` keeps finished answers and answers 304;
- `pages/` are the pages for people, `templates/`, `static/` and `texts.toml` what they are made of;
- `records/` is the interface OGC API – Records; `discovery.py` are feeds, OpenSearch and the sitemap;
- `preview.py` shows layers through the crawl's own polite fetcher; `csw/` answers CSW by pycsw.
"""
