"""Measurements: `python -m benchmarks` compares speed with peers, `python -m benchmarks.shows` what was promised.

Nothing here is part of the installed package. Figures are written to docs/measurements with commit and machine kind.
"""
