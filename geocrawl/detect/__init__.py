"""Which addresses are candidate services: by what a query asks for, or by a path that known servers have.

A *request* in the query (`service=WMS`, `request=GetFeature` …) is what the gws paper goes by (Shen et al. 2015,
"service recognition"): `queries`. A *known path* (`/geoserver/ows`, `mapserv`, `/rest/services`: see
`data/known_servers.toml` and `paths`) or a service's name without a request is weaker: pages have such addresses, too,
so the candidate is marked weak and visited as a page when the probe finds HTML there. A page that is itself
capabilities or a service's JSON is told by `documents`; `siblings` says which kinds answer beside a valid one. The
kinds are rows of `kinds`.
"""

from geocrawl.detect.detector import Detector
from geocrawl.detect.kinds import KINDS, KindRule
from geocrawl.detect.paths import known_servers

__all__ = ["KINDS", "Detector", "KindRule", "known_servers"]
