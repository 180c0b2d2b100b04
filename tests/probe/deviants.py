"""Change recorded answers as servers, proxies and programs really change them, and make look-alikes of services."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_PROLOG = re.compile(r"^\s*(?:<\?xml[^>]*\?>\s*)?(?:<!DOCTYPE[^>\[]*(?:\[.*?\])?[^>]*>\s*)?", re.DOTALL)
_ELEMENT = re.compile(r"(</?)((?:[\w.-]+:)?[A-Za-z_][\w.-]*)")
_TITLE = re.compile(r"(<(?:\w+:)?Title>)([^<]*)")
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
_PHP = "<br />\n<b>Warning</b>:  mysql_connect(): Access denied in <b>/srv/www/wms.php</b> on line <b>12</b><br />\n"


@dataclass(frozen=True)
class Sent:
    """What a server sends."""

    body: bytes
    media_type: str = "text/xml"


Change = Callable[[str], "Sent | bytes | str"]
"""Changes a document, given without XML declaration and document type."""


def plain(document: bytes) -> str:
    """Return the text of an XML document that is in UTF-8, without its declaration and document type."""
    return _PROLOG.sub("", document.decode("utf-8-sig"), count=1)


def changed(change: Change, document: bytes, media_type: str = "text/xml") -> Sent:
    """Return a document as changed; a text is sent in UTF-8."""
    text = document.decode("utf-8-sig") if media_type == "application/json" else plain(document)
    found = change(text)
    if isinstance(found, Sent):
        return found
    return Sent(found if isinstance(found, bytes) else found.encode(), media_type)


def _titled(text: str, words: str) -> str:
    """Add words to the first title that is there."""
    return _TITLE.sub(lambda found: f"{found[1]}{words} {found[2]}", text, count=1)


def _elements(text: str, name: Callable[[str], str]) -> str:
    return _ELEMENT.sub(lambda found: found[1] + name(found[2]), text)


def _prefixed(text: str) -> str:
    return _elements(text, lambda name: name if ":" in name else f"srv:{name}")


def _after_root_start(text: str, inserted: str) -> str:
    end = text.index(">") + 1
    return text[:end] + inserted + text[end:]


XML: Mapping[str, Change] = {
    "nothing": lambda text: _DECLARATION + text,
    "Latin-1 declared as UTF-8": lambda text: (_DECLARATION + _titled(text, "Zürich")).encode("latin-1", "replace"),
    "UTF-8 declared as Latin-1": lambda text: _titled(text, "Zürich").join(
        ['<?xml version="1.0" encoding="ISO-8859-1"?>', ""]
    ),
    "GBK declared as UTF-8": lambda text: (_DECLARATION + _titled(text, "中国地图服务")).encode("gbk", "replace"),
    "two encodings in one text": lambda text: (
        (_DECLARATION + _titled(text, "Zürich")).encode() + "<!-- größer -->".encode("latin-1")
    ),
    "BOM and Latin-1 declared": lambda text: (
        codecs.BOM_UTF8 + b'<?xml version="1.0" encoding="ISO-8859-1"?>' + text.encode()
    ),
    "BOM twice": lambda text: codecs.BOM_UTF8 * 2 + (_DECLARATION + text).encode(),
    "UTF-16 with BOM, declared as UTF-8": lambda text: (_DECLARATION + text).encode("utf-16"),
    "UTF-16 without BOM": lambda text: ('<?xml version="1.0" encoding="UTF-16"?>' + text).encode("utf-16-le"),
    "declared as UTF-16, is UTF-8": lambda text: '<?xml version="1.0" encoding="UTF-16"?>' + text,
    "an encoding that does not exist": lambda text: '<?xml version="1.0" encoding="UNICODE-8"?>' + text,
    "an empty encoding": lambda text: '<?xml version="1.0" encoding=""?>' + text,
    "another charset in the header": lambda text: Sent((_DECLARATION + text).encode(), "text/xml; charset=utf-16"),
    "a charset that does not exist": lambda text: Sent((_DECLARATION + text).encode(), "text/xml; charset=none"),
    "as HTML": lambda text: Sent((_DECLARATION + text).encode(), "text/html; charset=iso-8859-1"),
    "as a download": lambda text: Sent((_DECLARATION + text).encode(), "application/octet-stream"),
    "without a type": lambda text: Sent((_DECLARATION + text).encode(), ""),
    "no namespaces": lambda text: _DECLARATION + re.sub(r"\sxmlns(?::\w+)?=(?:\"[^\"]*\"|'[^']*')", "", text),
    "other namespaces": lambda text: _DECLARATION + text.replace("www.opengis.net", "www.opengis.org/schema"),
    "https namespaces": lambda text: _DECLARATION + text.replace("http://www.opengis", "https://www.opengis"),
    "an undeclared prefix everywhere": lambda text: _DECLARATION + _prefixed(text),
    "PHP warnings before": lambda text: _PHP * 3 + _DECLARATION + text,
    "a notice in plain text before": lambda text: (
        "Notice: Undefined index: map in wms.php on line 3\n" + _DECLARATION + text
    ),
    "a comment before the declaration": lambda text: "<!-- cached 12:00 -->\n" + _DECLARATION + text,
    "a length of a chunk before and after": lambda text: f"{len(text):x}\r\n{_DECLARATION}{text}\r\n0\r\n\r\n",
    "header lines before": lambda text: "Content-Type: text/xml\r\nX-Powered-By: CGI\r\n\r\n" + _DECLARATION + text,
    "two declarations": lambda text: _DECLARATION + _DECLARATION + text,
    "XML 1.1": lambda text: '<?xml version="1.1" encoding="UTF-8"?>' + text,
    "a broken declaration": lambda text: "<?xml version=1.0 encoding=UTF-8?>" + text,
    "a stylesheet named": lambda text: _DECLARATION + '<?xml-stylesheet type="text/xsl" href="caps.xsl"?>\n' + text,
    "a document type with a subset": lambda text: (
        _DECLARATION
        + '<!DOCTYPE Capabilities SYSTEM "http://x.example/c.dtd" [<!ELEMENT Vendor EMPTY><!ENTITY o "Office">]>\n'
        + text
    ),
    "a document type of HTML": lambda text: _DECLARATION + "<!DOCTYPE html>\n" + text,
    "an advertisement after": lambda text: _DECLARATION + text + "<script>count()</script><div>hosted by x</div>",
    "NUL bytes after": lambda text: _DECLARATION + text + "\0" * 40,
    "white space before": lambda text: "\r\n\r\n  " + _DECLARATION + text,
    "lower-case elements": lambda text: _DECLARATION + _elements(text, str.lower),
    "upper-case elements": lambda text: _DECLARATION + _elements(text, str.upper),
    "a bare ampersand": lambda text: _DECLARATION + _titled(text, "Roads & paths"),
    "entities of HTML": lambda text: _DECLARATION + _titled(text, "Z&uuml;rich&nbsp;&copy;"),
    "a bare less-than sign": lambda text: _DECLARATION + _titled(text, "height < 100 m"),
    "markup of HTML": lambda text: _DECLARATION + _titled(text, "<b>Roads<br>and paths"),
    "control characters": lambda text: _DECLARATION + _titled(text, "Roads \x0b\x02 and &#3; paths"),
    "an attribute without quotes": lambda text: (
        _DECLARATION + re.sub(r'\bversion="([\d.]+)"', r"version=\1", text, count=1)
    ),
    "an attribute twice": lambda text: _DECLARATION + re.sub(r'\b(version="[\d.]+")', r"\1 \1", text, count=1),
    "empty titles": lambda text: _DECLARATION + _TITLE.sub(r"\1", text),
    "CDATA in titles": lambda text: _DECLARATION + _TITLE.sub(r"\1<![CDATA[ Roads & <paths> ]]>", text),
    "no line breaks": lambda text: _DECLARATION.strip() + " ".join(text.split()),
    "a comment with two hyphens": lambda text: _DECLARATION + _after_root_start(text, "<!-- -- Layers -- -->"),
    "the end of the root missing": lambda text: _DECLARATION + text.rstrip()[: text.rstrip().rindex("</")],
}
"""Changes of XML after which a document is still the same service's."""

JSON: Mapping[str, Change] = {
    "nothing": lambda text: text,
    "BOM": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "Latin-1": lambda text: text.replace("{", '{"note": "Zürich",', 1).encode("latin-1", "replace"),
    "as HTML": lambda text: Sent(text.encode(), "text/html; charset=utf-8"),
    "as plain text": lambda text: Sent(text.encode(), "text/plain"),
    "as JavaScript": lambda text: Sent(text.encode(), "application/javascript"),
    "a callback around": lambda text: f"callback({text});",
    "a callback with a comment": lambda text: f"/**/dojo.io.script.jsonp_1({text})",
    "a variable assigned": lambda text: f"var data = {text};",
    "a guard before": lambda text: ")]}',\n" + text,
    "comments of lines": lambda text: "// generated\n" + text.replace("{", "{ // first\n", 1),
    "comments of blocks": lambda text: text.replace("{", '{ /* first, "quoted" */', 1),
    "PHP warnings before": lambda text: _PHP + text,
    "text after": lambda text: text + "\n<!-- 0.03 s -->",
    "a comma before a bracket": lambda text: text.rstrip()[:-1] + ", }",
    "NaN": lambda text: text.replace("{", '{"least": NaN,', 1),
    "a key twice": lambda text: text.replace("{", '{"note": 1, "note": 2,', 1),
    "a line break in a string": lambda text: text.replace("{", '{"note": "two\nlines",', 1),
    "a tab in a string": lambda text: text.replace("{", '{"note": "two\twords",', 1),
    "a wrong escape": lambda text: text.replace("{", r'{"path": "C:\data\x",', 1),
    "single quotes around a key": lambda text: text.replace("{", "{'note': 1,", 1),
    "a key without quotes": lambda text: text.replace("{", "{note: 1,", 1),
    "in a list": lambda text: f"[{text}]",
    "NUL bytes after": lambda text: text + "\0\0",
    "in a page": lambda text: Sent(f"<html><body><pre>{text}</pre></body></html>".encode(), "text/html"),
}
"""Changes of JSON after which an object is still the same service's."""
