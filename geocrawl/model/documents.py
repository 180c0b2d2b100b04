"""Pages understood, and what a strategy thinks of them."""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.model.web import Link, Rank, Relevance, Url


@dataclass(frozen=True, slots=True)
class Document:
    """A page understood: what the strategies, the recognition and the catalogue need of it."""

    url: Url
    depth: int
    status: int
    content_type: str
    encoding: str
    title: str
    text: str
    """Visible body text, scripts and styles removed, white space folded."""
    links: tuple[Link, ...] = ()
    """In document order; one link may stand several times with different anchors."""
    nofollow: bool = False
    """meta robots or X-Robots-Tag says nofollow: `links` is then empty."""
    language: str = ""
    """From <html lang> or Content-Language, lower case; '' when unnamed."""
    xml_root: str = ""
    """Local name of the root element when the body is XML, else ''."""
    xml_namespace: str = ""
    """The root's namespace; '' when it has none."""
    json_keys: tuple[str, ...] = ()
    """The first keys of the object that the body is when it is JSON, at most 64."""
    headline: str = ""
    """The most likely headline (`page.headline`); the title where none stands out. '' when nobody asked for it."""
    prose: str = ""
    """`text` without the anchors of its links, bounded like it; '' when nobody asked for it."""
    anchor_chars: int = 0
    """Characters of those anchors, white space folded; 0 when nobody asked for `prose`."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a strategy thinks of a document and its links."""

    relevance: Relevance
    score: float
    """The strategy's own page figure; for gws r = cos(T, P), 0…1."""
    ranks: tuple[Rank | None, ...]
    """One for each of `Document.links`, in order; None drops the link."""
    features: bytes = b""
    """What the strategy wants to be given back with the visit's `Feedback`; b"" for one that does not learn."""
