"""Read the parts that OGC's older web services share: capabilities of OWS Common, the `Service` section of a WMS."""
