"""Read what OGC's older web services share: capabilities of OWS Common, and the `Service` section of a WMS."""
