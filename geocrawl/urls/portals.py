"""Make the address of the first page of records of catalogue software: CKAN and ArcGIS portals.

`since` (YYYY-MM-DD) restricts the records to those changed on that day or later.
"""

from __future__ import annotations

import datetime as dt

from geocrawl.model import Url
from geocrawl.urls.reading import read_url
from geocrawl.urls.records import with_parameters

_ROWS = 100
CKAN_SEARCH = f"/api/3/action/package_search?rows={_ROWS}&start=0&sort=name%20asc"
"""Path and query that list all data sets of a CKAN at the root of a host."""
_SERVICE_TYPES = ("Map Service", "Feature Service", "Image Service", "WMS", "WFS", "WMTS", "OGCFeatureServer")


def ckan_search_url(root: str, *, since: str = "") -> Url | None:
    """Return the request for all data sets of the CKAN at `root` (CKAN action API, package_search).

    None when `root` is no web address.
    """
    url = read_url(f"{root.rstrip('/')}/api/3/action/package_search")
    if url is None:
        return None
    wanted = {"rows": str(_ROWS), "start": "0", "sort": "name asc"}
    if since:
        wanted["fq"] = f"metadata_modified:[{since}T00:00:00Z TO *]"
    return with_parameters(url, wanted)


def arcgis_search_url(root: str, *, since: str = "") -> Url | None:
    """Return the request for the services among the items of the ArcGIS portal at `root` (ArcGIS REST API, Search).

    None when `root` is no web address.
    """
    url = read_url(f"{root.rstrip('/')}/sharing/rest/search")
    if url is None:
        return None
    query = " OR ".join(f'type:"{each}"' for each in _SERVICE_TYPES)
    if since:
        begin = int(dt.datetime.fromisoformat(since).replace(tzinfo=dt.UTC).timestamp() * 1000)
        query = f"({query}) AND modified:[{begin} TO 9999999999999]"
    return with_parameters(url, {"q": query, "f": "json", "num": str(_ROWS), "start": "1"})
