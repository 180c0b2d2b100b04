"""Read a web server's answer as a `Document`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from urllib.parse import quote

from geocrawl.formats.json import read_json
from geocrawl.formats.text import BINARY_STARTS, GZIP_START, UTF_8, UTF_16_STARTS, gunzipped, header_charset
from geocrawl.model import ADDRESS_ONLY, CONFIGURATION, REFRESH, SCRIPT_SRC, Document, FailureCode, Link, Page, Url
from geocrawl.page.content import BOUNDARY, MAX_HREF_CHARS, MAX_TEXT_CHARS, PageContent, RawLink
from geocrawl.page.embedded import may_mention_services
from geocrawl.page.encoding import DecodedText, decode
from geocrawl.page.folders import read_folder
from geocrawl.page.html import read_html, refresh_target
from geocrawl.page.json import read_data
from geocrawl.page.rdf import looks_like_turtle, read_turtle, turtle_portion
from geocrawl.page.script_files import files_of_script, is_script, nearest_first
from geocrawl.page.scripts import addresses_in_code
from geocrawl.page.text import addresses_in_text
from geocrawl.page.viewers import files_in_script
from geocrawl.page.xml import read_xml
from geocrawl.urls import RECORDS, read_url

# --------------------------------------------------------------------------- the format of an answer


_BINARY_TYPES = ("image/", "audio/", "video/", "font/")
_MARKUP = re.compile(rb"\s*<[!?a-zA-Z]")

# Before the root: declaration and instructions, comments, a document type. Matched one by one, so never quadratic.
_PROLOG = re.compile(r"\s*(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[<>]*(?:\[[^\]]*\]\s*)?>)", re.I | re.S)
_ROOT = re.compile(r"\s*<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)([^>]{0,4000})")
_HEAD_CHARS = 65_536
_XML_ROOTS = frozenset(
    {
        "rss",
        "rdf",
        "feed",
        "urlset",
        "sitemapindex",
        "opml",
        "kml",
        "opensearchdescription",
        "viewcontext",
        "qgis",
        "qlr",
    }
    | {"gdal_wms", "gdal_wmts", "wcs_gdal", "ogrwfsdatasource", "qgswmsconnections", "qgswfsconnections"}
)
_XML_ROOT_ENDS = ("capabilities", "metadata", "exceptionreport", "recordsresponse", "recordbyidresponse")


class TextFormat(StrEnum):
    """The format of an answer, which decides its reader."""

    HTML = "html"
    XML = "xml"
    TEXT = "text"


def is_binary(body: bytes, content_type: str) -> bool:
    """Return whether `body` is no text, by its media type, its first bytes, or NULs before any markup."""
    if content_type.startswith(_BINARY_TYPES) and content_type != "image/svg+xml":
        return True
    if _MARKUP.match(body) or body.startswith(UTF_16_STARTS):
        return False
    return body.startswith((GZIP_START, *BINARY_STARTS)) or b"\0" in body[:1024]


def text_form(text: str, content_type: str) -> TextFormat:
    """Return the format of decoded text, by its beginning more than by `content_type`."""
    head = text[:_HEAD_CHARS].lstrip("\ufeff")
    if not head.lstrip().startswith(("<?", "<!")) and looks_like_turtle(head, content_type):
        return TextFormat.TEXT
    if not head.lstrip().startswith("<"):
        return TextFormat.HTML if "html" in content_type and "<" in text else TextFormat.TEXT
    declared = head.lstrip().startswith("<?xml")
    name, attributes = _root(head)
    if name == "html" or not name:
        return TextFormat.HTML
    if declared or "xml" in content_type or name in _XML_ROOTS or name.endswith(_XML_ROOT_ENDS):
        return TextFormat.XML
    return TextFormat.XML if "xmlns" in attributes and name != "svg" else TextFormat.HTML


def _root(head: str) -> tuple[str, str]:
    """Return local name (lower case) and attributes of the first element's tag; ('', '') without elements."""
    position = 0
    while prolog := _PROLOG.match(head, position):
        position = prolog.end()
    root = _ROOT.match(head, position)
    return (root[1].lower(), root[2]) if root else ("", "")


# --------------------------------------------------------------------------- reading


MAX_GUNZIP_BYTES = 5 * 1024 * 1024
"""Bytes of a page in a gzip file (sitemap.xml.gz) that are decompressed at most; the rest is not read."""
_STATEMENT_END = re.compile(r"[.}]\s*(?:#[^\n]*(?:\n\s*|\Z))*\Z")
"""End of a text of Turtle, TriG or N-Triples, with comments behind it."""
_TAIL_CHARS = 1_000
_BLANK_LINE = re.compile(r"\n[ \t\r]{0,40}\n")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_SAFE_IN_QUERIES = "!$%&()*+,-./:;=?@[\\]^_`{|}~"
_ADDRESS_LINE = re.compile(r"https?://[^\s<>\"]+", re.I)
_MOST_OTHER_LINES = 0.5


class PageReader:
    """Reads pages as Documents. A reader has no state but its settings, so all workers share one reader."""

    def __init__(
        self,
        *,
        respect_nofollow: bool = False,
        max_links: int = 20_000,
        max_scripts: int = 0,
        headline: bool = False,
        prose: bool = False,
        tag_paths: bool = False,
    ) -> None:
        """Set the limits and the optional parts of reading.

        `respect_nofollow`: leave out links marked rel=nofollow. `max_links`: links of a page that are read at most.
        `max_scripts`: links to scripts and configurations that are added to a page at most (`scripts`). `headline`
        and `prose` fill these two fields of a Document, `tag_paths` that of its links, which take time and which few
        strategies need.
        """
        self._respect_nofollow = respect_nofollow
        self._max_links = max_links
        self._max_scripts = max_scripts
        self._headline = headline
        self._prose = prose
        self._tag_paths = tag_paths

    def read(self, page: Page, *, depth: int) -> Document:
        """Return the text and the links of `page`, an empty Document when the page is no text. Never raises.

        Text is limited to 200,000 characters, titles to 500, anchors to 300, contexts to 200. A redirect that was not
        followed has one link, its target. A page with a nofollow directive has no links.
        """
        if page.location is not None:
            return _document(page, depth, UTF_8.name, PageContent(), (Link(page.location, where="redirect"),))
        body = gunzipped(page.body, MAX_GUNZIP_BYTES)
        if is_binary(body, page.content_type):
            return _document(page, depth, "", PageContent())
        decoded = decode(body, header_charset(page.headers.get("content-type", "")))
        content = self._completed(self._content(decoded, page.content_type, page.final))
        if refresh := refresh_target(page.headers.get("refresh", "")):
            content.links.insert(0, RawLink(refresh, REFRESH))
        if content.portion is not None and (following := _next_in_header(page.headers.get("link", ""))):
            content.links = _with_next(content.links, following, page.final)
        links = tuple(self._links(content, page.final, decoded.encoding.codec))
        return _document(page, depth, decoded.encoding.name, content, links)

    def _content(self, decoded: DecodedText, content_type: str, url: Url) -> PageContent:
        form = text_form(decoded.text, content_type)
        if form is TextFormat.XML:
            content = read_xml(decoded.text, url, max_links=self._max_links)
            if content is not None:
                return content
        if form is TextFormat.TEXT:
            return self._of_text(decoded.text, content_type, url)
        content = read_html(
            decoded.text,
            decoded.encoding.codec,
            max_links=self._max_links,
            files=self._max_scripts > 0,
            headline=self._headline,
            prose=self._prose,
            tag_paths=self._tag_paths,
            url=url,
        )
        if len(content.links) >= self._max_links:
            content.fault = FailureCode.TRUNCATED
        content.links = read_folder(content.title, content.links, url)
        return content

    def _of_text(self, text: str, content_type: str, url: Url) -> PageContent:
        """Return the content of a text without markup: a script, JSON, Turtle, or plain text."""
        if is_script(content_type, url.address):
            return self._of_script(text, url)
        content = read_data(text, url, max_links=self._max_links)
        if content is not None:
            return content
        content = PageContent(text=text[:MAX_TEXT_CHARS])
        if (
            text.lstrip("\ufeff \t\r\n").startswith(("{", "["))
            and read_json(text.encode("utf-8", "replace")).fault == FailureCode.TRUNCATED
        ):
            content.fault = FailureCode.TRUNCATED
        if addresses := _listed_addresses(text):
            content.links = [RawLink(address, "sitemap") for address in addresses[: self._max_links]]
            return content
        if looks_like_turtle(text, content_type):
            content.keep(read_turtle(text, url), self._max_links)
            content.portion = turtle_portion(text, url)
            if not _STATEMENT_END.search(text[-_TAIL_CHARS:]):
                content.fault = FailureCode.TRUNCATED
        elif may_mention_services(text.lower()):
            content.links = list(addresses_in_text(_BLANK_LINE.sub(BOUNDARY, text[:MAX_TEXT_CHARS])))
        return content

    def _of_script(self, text: str, url: Url) -> PageContent:
        """Return the addresses of services in a script, and the files that it loads."""
        links = list(files_of_script(text, url)) if self._max_scripts else []
        if may_mention_services(text.lower()):
            links += islice(addresses_in_code(text, "script-file", relative=False), self._max_links)
        return PageContent(links=[*links, *files_in_script(text, url)])

    def _completed(self, content: PageContent) -> PageContent:
        """Return `content` with headline (else the title) and prose (all text, if the page is not HTML) filled in."""
        if self._headline:
            content.headline = content.headline or content.title
        if self._prose and not content.anchor_chars:
            content.prose = content.text
        return content

    def _links(self, content: PageContent, final: Url, codec: str) -> Iterator[Link]:
        """Yield the content's links with parsed addresses, without those that are no web addresses.

        Of its scripts and configurations those of its own site are yielded, at most `max_scripts`: the others are
        libraries.
        """
        base = (read_url(content.base, final) if content.base else None) or final
        files: list[Link] = []
        for href, where, anchor, context, rel, kind, before, tag_path, record, times in content.links:
            if self._respect_nofollow and "nofollow" in rel.lower().split():
                continue
            if not href and where != "form":  # a form without an action requests its own page
                continue
            if len(href) > MAX_HREF_CHARS:
                continue
            url = read_url(href if href.isascii() else _with_query_in(href, codec), base)
            if url is None:
                continue
            link = Link(url, anchor, context, rel, where, kind, before, tag_path, record, times)
            if where == SCRIPT_SRC:
                files.append(link)
            else:
                yield link
        yield from nearest_first(files, final)[: self._max_scripts]


_LINK_VALUE = re.compile(r"<([^<>]{1,8000})>((?:[^,<\"]|\"[^\"]{0,1000}\"){1,1000})")
_IS_NEXT = re.compile(r";\s*rel\s*=\s*(?:next(?![\w-])|\"(?:[^\"]*\s)?next[\s\"])", re.I)


def _next_in_header(header: str) -> str:
    """Return the address of the next page that the header Link names (RFC 8288); '' for none."""
    return next((target for target, stated in _LINK_VALUE.findall(header) if _IS_NEXT.search(stated)), "")


def _with_next(links: list[RawLink], following: str, url: Url) -> list[RawLink]:
    """Return the links of a page of a list with the next page from its header in place of a computed one."""
    place = url.address.partition("?")[0]
    pages = [link for link in links if link.where == RECORDS]
    if any(link.rel == "next" for link in pages):
        return links
    computed = [link for link in pages if link.href.partition("?")[0] == place]
    return [*(link for link in links if link not in computed), RawLink(following, RECORDS, rel="next")]


def _document(page: Page, depth: int, encoding: str, content: PageContent, links: tuple[Link, ...] = ()) -> Document:
    no_links = page.location is None and forbids_following(content.robots, page.headers.get("x-robots-tag", ""))
    return Document(
        url=page.final,
        depth=depth,
        status=page.status,
        content_type=page.content_type,
        encoding=encoding,
        title=content.title,
        text=content.text,
        links=() if no_links else links,
        language=content.language or page.headers.get("content-language", "").partition(",")[0].strip().lower()[:35],
        xml_root=content.xml_root,
        xml_namespace=content.xml_namespace,
        json_keys=content.json_keys,
        summary=content.summary,
        headline=content.headline,
        prose=content.prose,
        anchor_chars=content.anchor_chars,
        portion=content.portion,
        fault=content.fault,
    )


def _listed_addresses(text: str) -> list[str]:
    """Return the addresses of a list that has one in each line, as a sitemap in plain text (sitemaps.org, "Text file");
    [] for a text more than half of whose lines are others."""
    lines = [line for raw in text.splitlines() if (line := raw.strip())]
    addresses = [line for line in lines if _ADDRESS_LINE.fullmatch(line)]
    return addresses if len(addresses) >= _MOST_OTHER_LINES * len(lines) else []


def _with_query_in(href: str, codec: str) -> str:
    """Return `href` with its query in the page's encoding, as browsers send it (WHATWG URL standard, 4.1)."""
    if codec == UTF_8.codec or codec.startswith("utf-16"):
        return href
    path, mark, query = href.partition("?")
    return path + mark + _BEYOND_ASCII.sub(lambda found: _escaped(found[0], codec), query)


def _escaped(text: str, codec: str) -> str:
    """Return characters beyond ASCII percent-encoded; one that the encoding lacks as `&#…;` ("percent-encode after
    encoding")."""
    try:
        return quote(text.encode(codec), safe=_SAFE_IN_QUERIES)
    except UnicodeEncodeError:
        return f"%26%23{ord(text)}%3B" if len(text) == 1 else "".join(_escaped(character, codec) for character in text)


# --------------------------------------------------------------------------- following


_OUR_NAMES = frozenset({"*", "robots", "geocrawl"})
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def forbids_following(meta: str, header: str) -> bool:
    """Return whether meta robots (`meta`) or X-Robots-Tag (`header`) contains `nofollow` or `none` for us or everybody.

    In X-Robots-Tag, a robot's name and a colon may precede directives. All directives up to the next name are for that
    robot, because repeated fields arrive joined by commas.
    """
    ours = {directive.strip().lower() for directive in meta.split(",")}
    for_us = True
    for part in header.lower().split(","):
        name, colon, directive = part.strip().partition(":")
        if colon and name.strip() not in _WITH_VALUE:
            for_us = name.strip() in _OUR_NAMES
        else:
            directive = name
        if for_us:
            ours.add(directive.strip())
    return not ours.isdisjoint({"none", "nofollow"})


_FEW_CHARS = 500
"""Longest text of a page that is empty but for "Loading …" and a request to enable JavaScript."""
_SCRIPT = re.compile(rb"<script\b", re.I)
_NOFOLLOW = re.compile(rb"<meta\s[^<>]{0,200}\b(?:nofollow|none)\b", re.I)
_HEAD_BYTES = 100_000
_LEADS_NOWHERE = ADDRESS_ONLY | {CONFIGURATION, SCRIPT_SRC, "link"}
"""Places of addresses that readers of a page cannot follow."""


def is_empty_without_script(page: Page, document: Document) -> bool:
    """Return whether an HTML page has scripts, hardly any text, and no link but to itself.

    `document`: the page as it was read without running them.
    """
    if page.status != 200 or page.content_type not in ("text/html", "application/xhtml+xml"):
        return False
    if len(document.text) > _FEW_CHARS or any(_leads_on(link, page) for link in document.links):
        return False
    return _SCRIPT.search(page.body) is not None and may_be_followed(page)


def may_be_followed(page: Page) -> bool:
    """Return whether an HTML page permits to follow what it leads to: no nofollow in its head or header fields."""
    in_header = forbids_following("", page.headers.get("x-robots-tag", ""))
    return not in_header and _NOFOLLOW.search(page.body, 0, _HEAD_BYTES) is None


def _leads_on(link: Link, page: Page) -> bool:
    return link.where not in _LEADS_NOWHERE and link.url.identity not in (page.url.identity, page.final.identity)
