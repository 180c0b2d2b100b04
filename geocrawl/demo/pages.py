"""Build pages and sites of the demo web: HTML from templates, and the links of every page as truth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from urllib.parse import urljoin

Target = tuple[str, str]
"""(href, text) of a link."""

_SHELL = """<!DOCTYPE html>
<html lang="{language}">
<head>
<meta charset="{charset}">
<title>{title} - {site}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><h1>{site}</h1><nav><ul>{navigation}</ul></nav></header>
<main>
<h2>{title}</h2>
{paragraphs}
{extra}
<ul>
{links}
</ul>
</main>
<footer><p>{site}</p></footer>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class DemoPage:
    """One page, or a redirect."""

    address: str
    body: bytes
    links: tuple[str, ...] = ()
    """Absolute addresses of all links of the page, as written; the target of a redirect."""
    content_type: str = "text/html"
    status: int = 200
    relevant: bool = False
    """Whether the page is about maps and geographic data."""


class Site:
    """A builder of the pages of one host."""

    def __init__(
        self, origin: str, name: str, navigation: Iterable[Target], *, language: str = "en", relevant: bool = True
    ) -> None:
        self.origin = origin
        self.pages: list[DemoPage] = []
        self._name = name
        self._navigation = tuple(navigation)
        self._language = language
        self._relevant = relevant

    def add(
        self,
        path: str,
        title: str,
        *paragraphs: str,
        links: Iterable[Target] = (),
        form: tuple[str, tuple[tuple[str, str], ...]] | None = None,
        charset: str = "utf-8",
        label: str = "",
        relevant: bool | None = None,
    ) -> None:
        """Add a page. `label` is the declared charset if it is not the true one; `form` is (action, hidden fields)."""
        listed = tuple(links)
        html = _SHELL.format(
            language=self._language,
            charset=label or charset,
            title=escape(title),
            site=escape(self._name),
            navigation=_items(self._navigation),
            paragraphs="\n".join(f"<p>{escape(text)}</p>" for text in paragraphs),
            extra=_form(form) if form else "",
            links=_items(listed),
        )
        address = self.origin + path
        targets = [urljoin(address, href) for href, _ in (*self._navigation, *listed)]
        if form:
            targets.append(urljoin(address, form[0]) + "?" + "&".join(f"{name}={value}" for name, value in form[1]))
        # A page that claims its charset in <meta> alone: the header names none.
        content_type = "text/html" if label else f"text/html; charset={charset}"
        about_maps = self._relevant if relevant is None else relevant
        self.pages.append(DemoPage(address, html.encode(charset), tuple(targets), content_type, relevant=about_maps))

    def redirect(self, path: str, target: str, status: int = 301) -> None:
        """Add a redirect."""
        self.pages.append(DemoPage(self.origin + path, b"", (urljoin(self.origin + path, target),), status=status))


def _items(targets: Iterable[Target]) -> str:
    return "\n".join(f'<li><a href="{escape(href)}">{escape(text)}</a></li>' for href, text in targets)


def _form(form: tuple[str, tuple[tuple[str, str], ...]]) -> str:
    action, hidden = form
    fields = "".join(f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in hidden)
    return f'<form action="{escape(action)}" method="get">{fields}<input type="submit" value="Capabilities"></form>'
