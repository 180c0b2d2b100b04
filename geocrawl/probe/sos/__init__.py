"""Probe the OGC Sensor Observation Service (SOS), versions 1.0 and 2.0."""
