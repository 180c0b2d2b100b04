"""OGC Sensor Observation Service, versions 1.0 and 2.0."""
