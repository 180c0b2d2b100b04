"""Recognise candidate services: by what a query asks for, or by a path that known servers have.

A *request* in the query (`service=WMS`, `request=GetFeature` …) is what the gws paper goes by (Shen et al. 2015,
"service recognition"): `queries`. A *known path* (`/geoserver/ows`, `mapserv`, `/rest/services`: `paths`), or the name
of a service without a request, is weaker: pages have such addresses, too, so the candidate is marked weak and visited
as a page when the probe finds HTML there. A page that is itself capabilities or a service's JSON is told by
`documents`; `siblings` says which kinds answer beside a valid one.

The signs of a kind are its `KindDeclaration`, which is handed in; `rules` arranges those of all kinds for looking up.
"""

from geocrawl.detect.detector import Detector

__all__ = ["Detector"]
