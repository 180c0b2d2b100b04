"""Recognise candidate services by the request in a query, or by a path that known servers have.

The strong sign is a *request* in the query (`service=WMS`, `request=GetFeature` …), as in the gws paper (Shen et al.
2015, "service recognition"). A *known path* (`/geoserver/ows`, `mapserv`, `/rest/services`), or the name of a service
without a request, is a weaker sign: pages have such addresses, too, so the candidate is marked weak and visited as a
page when the probe finds HTML there. `addresses` reads both signs; `detector` also recognises pages that are
capabilities or a service's JSON themselves; `software` guesses where a known program has its services, and which other
kinds answer next to a valid one; `QueryDetector` recognises what that paper does and nothing else (`detect=paper`).

The signs of a kind are its `KindDeclaration`, an argument of `Detector`; `addresses.Rules` indexes those of all kinds.
"""

from geocrawl.detect.detector import Detector

__all__ = ["Detector"]
