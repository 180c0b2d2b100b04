"""geocrawl finds geospatial web services by a focused crawl, proves them and keeps a catalogue of the live ones."""

__version__ = "0.1.0"
