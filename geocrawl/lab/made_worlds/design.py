"""Render planned pages as HTML in many designs, each with variants.

A design is a table of templates (`templates`). The site's `manner` decides what varies within a design: the spelling
of links, which end tags are left out, the names of classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from geocrawl.lab.made_worlds.parts import Anchor, Block, Facts, Listing, Page, Piece, Prose, Raw, Site
from geocrawl.lab.made_worlds.prose import Writer
from geocrawl.lab.made_worlds.seeded_random import seeded_rng
from geocrawl.lab.made_worlds.templates import HTML5, TEMPLATES


class PageSource(NamedTuple):
    """A page as the server sends it."""

    content_type: str
    body: bytes
    targets: tuple[str, ...]
    """Addresses of everything that the page links to or loads."""


def render(page: Page, seed: int) -> PageSource:
    """Return a page as it is sent; its texts depend on the web's seed and its own address."""
    return _Renderer(page, seed).render()


class _Renderer:
    def __init__(self, page: Page, seed: int) -> None:
        self._page = page
        self._site = site = page.site
        self._design = TEMPLATES[site.design]
        self._lot = seeded_rng(seed, page.copy_of or page.address)
        jargon = site.jargon if page.jargon is None else page.jargon
        self._writer = Writer(self._lot, site.language, site.words, site.names, jargon)
        self._targets: list[str] = []
        self._class = f"{site.host[:1]}{site.manner % 97}"

    def render(self) -> PageSource:
        page, site = self._page, self._site
        body = self._frameset() if page.frames else self._body()
        html = f"{self._design.doctype}<html{self._language()}>\n<head>{self._head()}</head>\n{body}\n</html>\n"
        kind = page.content_type or "text/html"
        if site.charset_sent:
            kind += f"; charset={site.charset}"
        return PageSource(kind, html.encode(site.charset, "xmlcharrefreplace"), tuple(dict.fromkeys(self._targets)))

    def _language(self) -> str:
        return f' lang="{self._site.language.code}"' if self._site.manner % 3 else ""

    def _head(self) -> str:
        site, page = self._site, self._page
        if self._design.doctype == HTML5:
            parts = [f'<meta charset="{site.charset}">']
        else:
            parts = [f'<meta http-equiv="Content-Type" content="text/html; charset={site.charset}">']
        order = (page.title, site.name) if site.manner % 2 else (site.name, page.title)
        parts.append(f"<title>{escape(' - '.join(order))}</title>")
        if _spelling(site) == "base":
            parts.append(f'<base href="{site.home}">')
        if page.refresh:
            self._targets.append(page.refresh)
            parts.append(f'<meta http-equiv="refresh" content="{site.manner % 5}; url={escape(page.refresh)}">')
        for script in page.scripts:
            self._targets.append(script)
            parts.append(f'<script src="{escape(self._spell(script))}"></script>')
        return "".join(parts)

    def _frameset(self) -> str:
        frames = "".join(
            f'<frame src="{escape(self._href(frame))}" name="{frame.text}">' for frame in self._page.frames
        )
        return f'<frameset cols="180,*">{frames}</frameset>'

    def _body(self) -> str:
        site, design = self._site, self._design
        title = self._page.title
        main = "".join(map(self._block, self._page.blocks))
        if site.aside:
            main += self._block(Listing(site.label("archive"), site.aside))
        inner = design.body.format(
            c=self._class,
            name=escape(site.name),
            nav=self._series(design.nav, site.navigation),
            title=escape(title),
            main=main,
            foot=" ".join(map(self._anchor, site.footer)),
        )
        return f"<body>\n{inner}\n</body>"

    def _block(self, block: Block) -> str:
        match block:
            case Prose():
                return "".join(self._paragraphs(block))
            case Listing():
                return self._heading(block.heading) + self._series(self._design.links, block.anchors)
            case Facts():
                return self._heading(block.heading) + self._facts(block)
            case Raw():
                self._targets += block.targets
                return block.html + "\n"

    def _heading(self, text: str) -> str:
        return self._design.heading.format(c=self._class, x=escape(text)) if text else ""

    def _paragraphs(self, prose: Prose) -> Iterator[str]:
        waiting = list(prose.within)
        for number in range(max(prose.paragraphs, len(waiting))):
            text = escape(self._writer.paragraph(), quote=False)
            if number < len(waiting):
                text = f"{text} {self._anchor(waiting[number])} {escape(self._writer.sentence(), quote=False)}"
            yield self._design.paragraph.format(c=self._class, x=text)

    def _facts(self, facts: Facts) -> str:
        start, row, end = self._design.facts
        rows = "".join(
            row.format(c=self._class, label=escape(label), x=" ".join(map(self._piece, pieces)))
            for label, pieces in facts.rows
        )
        return start.format(c=self._class) + rows + end

    def _series(self, templates: tuple[str, str, str], anchors: tuple[Anchor, ...]) -> str:
        start, each, end = templates
        return (
            start.format(c=self._class)
            + "".join(each.format(c=self._class, x=self._anchor(anchor)) for anchor in anchors)
            + end.format(c=self._class)
        )

    def _piece(self, piece: Piece) -> str:
        match piece:
            case Anchor():
                return self._anchor(piece)
            case Raw():
                self._targets += piece.targets
                return piece.html
        return escape(piece, quote=False)

    def _anchor(self, anchor: Anchor) -> str:
        rel = f' rel="{anchor.rel}"' if anchor.rel else ""
        href = escape(self._href(anchor))
        if self._site.manner % 7 == 0:
            href = href.replace("&amp;", "&")  # most people write an unescaped &
        return f'<a href="{href}"{rel}>{escape(anchor.text, quote=False)}</a>'

    def _href(self, anchor: Anchor) -> str:
        self._targets.append(anchor.target)
        return anchor.spelt or self._spell(anchor.target)

    def _spell(self, target: str) -> str:
        """Return the address as the page writes it: relative to the page on some sites, absolute on others."""
        home = self._site.home
        spelling = _spelling(self._site)
        if spelling == "absolute" or not target.startswith(home) or target == home:
            return target
        path = target[len(home) :]
        if spelling == "base":
            return path
        folder = self._page.address.partition("?")[0].rpartition("/")[0] + "/"
        if spelling == "relative" and target.startswith(folder):
            rest = target[len(folder) :]
            if rest and not rest.startswith("?") and ":" not in rest:
                return rest
        return f"/{path}"


def _spelling(site: Site) -> str:
    return ("absolute", "root", "relative", "root", "relative", "base")[site.manner % 6]
