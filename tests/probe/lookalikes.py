"""Answers that only look like a service: feeds, pages, errors of dead servers, documents about services."""

from __future__ import annotations

from collections.abc import Mapping

from tests.probe.deviants import Sent

_REQUEST = '<wfs:GetCapabilities xmlns:wfs="http://www.opengis.net/wfs/2.0" service="WFS" version="2.0.0"/>'
_LISTING = "&lt;WMS_Capabilities version=&quot;1.3.0&quot;&gt;&lt;Service&gt;&lt;Name&gt;WMS&lt;/Name&gt;"


def _page(text: str) -> Sent:
    return Sent(
        f"<!DOCTYPE html><html><head><title>Maps</title></head><body>{text}</body></html>".encode(), "text/html"
    )


def _json(text: str) -> Sent:
    return Sent(text.encode(), "application/json")


def _xml(text: str) -> Sent:
    return Sent(f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode())


LOOKALIKES: Mapping[str, Sent] = {
    "an RSS feed": _xml(
        "<rss version='2.0'><channel><title>WMS news</title><item><title>WMS</title></item></channel></rss>"
    ),
    "an Atom feed": _xml(
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>WMS</title><entry><title>a</title></entry></feed>'
    ),
    "a login page": _page('<form action="/login"><input name="user"><input type="password" name="password"></form>'),
    "a login page in XHTML": _xml(
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><form><input type="password"/></form></body></html>'
    ),
    "a page with an escaped document": _page(f"<pre>{_LISTING}</pre>"),
    "a page that names the root": _page("<p>The root is WMS_Capabilities, WFS_Capabilities or Capabilities.</p>"),
    "a page of a portal in script": _page('<div id="root"></div><script>var layers = {"layers": []}</script>'),
    "an error of Tomcat": _page("<h1>HTTP Status 404 – Not Found</h1><p>/geoserver/wms</p>"),
    "an error of PHP": Sent(b"<br /><b>Fatal error</b>: Uncaught Error in /srv/wms.php:3 { main }", "text/html"),
    "an index of a folder": _page("<h1>Index of /wms</h1><a href='wms.xml'>wms.xml</a>"),
    "MapServer without a map": Sent(
        b"<HTML><HEAD><TITLE>MapServer Message</TITLE></HEAD>No query information.", "text/html"
    ),
    "a service that is switched off": _xml(
        '<ServiceExceptionReport version="1.3.0"><ServiceException>Service WMS is disabled</ServiceException>'
        "</ServiceExceptionReport>"
    ),
    "a service that is not configured": _xml("<error><message>service not configured</message></error>"),
    "an OWS exception": _xml(
        '<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows/1.1"><ows:Exception exceptionCode="Nothing">'
        "<ows:ExceptionText>not configured</ows:ExceptionText></ows:Exception></ows:ExceptionReport>"
    ),
    "a root alone": _xml('<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"/>'),
    "a root with words": _xml("<WMS_Capabilities>The server is being maintained.</WMS_Capabilities>"),
    "a document that breaks off before its layers": _xml(
        '<WMS_Capabilities version="1.3.0"><Service><Name>WMS</Name><Title>Roads</Ti'
    ),
    "a request": _xml(_REQUEST),
    "a SOAP fault": _xml(
        '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault><faultstring>no</faultstring>'
        "</s:Fault></s:Body></s:Envelope>"
    ),
    "a WSDL": _xml(
        '<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" name="WMS"><service name="WMS"/></definitions>'
    ),
    "a schema": _xml(
        '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="WMS_Capabilities"/></xs:schema>'
    ),
    "a style": _xml(
        '<StyledLayerDescriptor version="1.0.0" xmlns="http://www.opengis.net/sld"><NamedLayer><Name>a</Name></NamedLayer>'
        "</StyledLayerDescriptor>"
    ),
    "a web map context": _xml(
        '<ViewContext version="1.1.0" xmlns="http://www.opengis.net/context"><LayerList/></ViewContext>'
    ),
    "a KML": _xml('<kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>WMS</name></Document></kml>'),
    "features": _xml(
        '<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" numberMatched="0" numberReturned="0"/>'
    ),
    "a sitemap": _xml(
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://a.example/wms</loc></url></urlset>'
    ),
    "an error of ArcGIS": _json(
        '{"error": {"code": 500, "message": "Service Roads/MapServer not started", "details": []}}'
    ),
    "an error of another program": _json('{"status": "error", "layers": [], "version": 10.9, "message": "gone"}'),
    "a package of JavaScript": _json('{"name": "stac-browser", "version": "3.0.0", "type": "module", "links": []}'),
    "a problem": _json('{"type": "about:blank", "title": "Not Found", "status": 404, "detail": "/collections"}'),
    "features in JSON": _json('{"type": "FeatureCollection", "features": [], "links": []}'),
    "a menu": _json('{"title": "Maps", "links": [{"href": "/about", "rel": "about"}]}'),
    "an empty object": _json("{}"),
    "words in a callback": _json("callback({});"),
    "an image": Sent(b"\x89PNG\r\n\x1a\n" + b"\0" * 100, "image/png"),
    "nothing": Sent(b"", "text/xml"),
}
"""By what they are; no probe of any kind accepts one."""
