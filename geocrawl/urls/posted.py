"""Write a GetRecords request that an address states as the XML that is sent by POST.

POST is the encoding that every CSW has to support; key-value pairs are optional (OGC 07-006r1, 10.8.2; OGC 12-176r7,
table 16).
"""

from __future__ import annotations

import re
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from geocrawl.model import Url
from geocrawl.urls.endpoints import endpoint_address, query_parameters

_NAMESPACES = {"2.0.2": "http://www.opengis.net/cat/csw/2.0.2", "3.0.0": "http://www.opengis.net/cat/csw/3.0"}
_PREFIX = re.compile(r"xmlns\(([A-Za-z]\w{0,30})=([^()\s]{1,300})\)")
_ATTRIBUTES = ("resultType", "outputFormat", "outputSchema", "startPosition", "maxRecords")


class PostedRequest(NamedTuple):
    """A request by POST."""

    endpoint: Url
    """The address to which the request is sent: that of the page without its query for records."""
    body: bytes


def posted_records(url: Url) -> PostedRequest | None:
    """Return the GetRecords request of an address as XML (OGC 07-006r1, 10.8.4); None for any other request."""
    values = {name.lower(): value for name, value in reversed(query_parameters(url))}
    if values.get("request", "").lower() != "getrecords":
        return None
    version = "3.0.0" if values.get("version", "").startswith("3") else "2.0.2"
    namespaces = dict(_PREFIX.findall(values.get("namespace", ""))) | {"csw": _NAMESPACES[version]}
    attributes = {f"xmlns:{prefix}": uri for prefix, uri in namespaces.items()}
    attributes |= {"service": "CSW", "version": version}
    attributes |= {name: values[name.lower()] for name in _ATTRIBUTES if name.lower() in values}
    stated = " ".join(f"{name}={quoteattr(value)}" for name, value in attributes.items())
    types = quoteattr(values.get("typenames", "csw:Record"))
    elements = escape(values.get("elementsetname", "full"))
    query = f"<csw:ElementSetName>{elements}</csw:ElementSetName>{_constraint(values)}"
    text = f"<csw:GetRecords {stated}><csw:Query typeNames={types}>{query}</csw:Query></csw:GetRecords>"
    body = f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode("utf-8", "replace")
    return PostedRequest(endpoint_address(url), body)


def _constraint(values: dict[str, str]) -> str:
    """Return the constraint of a request, '' for none. A filter is XML already, and stands in the body as it is."""
    given = values.get("constraint", "")
    if not given:
        return ""
    is_filter = values.get("constraintlanguage", "").upper() == "FILTER"
    version = quoteattr(values.get("constraint_language_version", "1.1.0"))
    inner = given if is_filter else f"<csw:CqlText>{escape(given)}</csw:CqlText>"
    return f"<csw:Constraint version={version}>{inner}</csw:Constraint>"
