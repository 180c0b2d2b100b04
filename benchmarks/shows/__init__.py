"""One module for each measurement that was promised; `python -m benchmarks.shows [NAME [OPTION]…]` runs them.

Every module has `main(arguments)`, prints what it found, and writes one JSON file to docs/measurements.
"""
