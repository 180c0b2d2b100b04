"""Define pages that were read, and a strategy's judgement of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from geocrawl.model.web import Link, Page, Rank, Relevance, Url


class Document(NamedTuple):
    """A page as it was read: the parts that strategies, the detector and the catalogue need."""

    url: Url
    depth: int
    status: int
    content_type: str
    encoding: str
    title: str
    text: str
    """Visible text of the body without scripts and styles, white space folded."""
    links: tuple[Link, ...] = ()
    """Links in document order; one address may occur several times with different anchors.

    () when meta robots or X-Robots-Tag contains nofollow.
    """
    language: str = ""
    """From `<html lang>` or Content-Language, lower case; '' when not named."""
    xml_root: str = ""
    """Local name of the root element when the body is XML, else ''."""
    xml_namespace: str = ""
    """Namespace of the root; '' when it has none."""
    json_keys: tuple[str, ...] = ()
    """The first keys, at most 64, of a JSON object; () for any other body."""
    headline: str = ""
    """The most likely headline (`page.headline`), or the title without one; '' unless requested."""
    prose: str = ""
    """`text` without the anchors of links, with the same limit; '' unless requested."""
    anchor_chars: int = 0
    """Number of characters of all anchors, white space folded; 0 unless `prose` is requested."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a browser made of a page whose content is written by its scripts."""

    page: Page
    """The page with the document that its scripts left as body, in UTF-8; unchanged when they came to no end."""
    links: tuple[Link, ...]
    """Addresses that the scripts requested or went to."""
    data: tuple[Page, ...] = ()
    """JSON and XML that the scripts received, each from the address that was requested."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A strategy's judgement of a document and its links."""

    relevance: Relevance
    score: float
    """The strategy's own score of the page; for gws r = cos(T, P), 0…1."""
    ranks: tuple[Rank | None, ...]
    """Rank of each of `Document.links`, in order; None drops the link."""
    features: bytes = b""
    """Data that the strategy gets back with the visit's `Feedback`; b"" for a strategy that does not learn."""
