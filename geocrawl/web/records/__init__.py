"""Answer programs by OGC API – Records (OGC 20-004r1, part 1): landing page, conformance, collections, items."""
