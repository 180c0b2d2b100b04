"""Write tables as HTML for the report of a contest."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from geocrawl.sanitize import plain


def table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, *, texts: bool = False) -> str:
    """Return a table; all texts are escaped. `texts`: its cells are sentences, which are wrapped, not numbers."""
    heads = "".join(f"<th scope='col'>{escape(text)}</th>" for text in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(plain(text))}</td>" for text in row) + "</tr>" for row in rows)
    kind = " class='texts'" if texts else ""
    return (
        f"<div class='wide'><table{kind}><caption>{escape(plain(caption))}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )
