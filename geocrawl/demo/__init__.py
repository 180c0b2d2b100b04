"""A small web of the project's own on loopback, with known truth: for `geocrawl demo` and for tests.

A fictional region (Norvale) with its geoportal, data catalogue, water agency, university, newspaper and a shop, and a
Chinese province (青山省) with its geographic information platform: about 200 pages and about thirty WMS, some of them
invalid. A network of offices in six countries has services of all other kinds. `DemoWeb` serves it as an HTTP proxy on
127.0.0.1, so that it has many hosts without DNS. Everything is made from templates, the same bytes every time. `sites`
has the sites, `services` the map services, `kinds` those of other kinds; `ows_documents` and `rest_documents`
write their documents and those of the lab's made webs; `web` is the whole with its truth, and the server.
"""

from geocrawl.demo.services import Behaviour, DemoService
from geocrawl.demo.web import DemoContent, DemoWeb, LoggedRequest, build_content

__all__ = ["Behaviour", "DemoContent", "DemoService", "DemoWeb", "LoggedRequest", "build_content"]
