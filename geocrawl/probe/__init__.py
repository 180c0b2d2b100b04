"""The room that proves candidates: one file a service kind, each a generator that thinks while the caller does the I/O.

`wms` holds the interview: which request comes next, and what the answers make of the endpoint. Answers are read
tolerantly: `normalise` turns bytes into an element tree, step by step (`front` for what stands before the document,
`repair` for faults of its text), and names every tolerance as a `Deviation` (docs/deviations.md). `wms_reader` makes
a `Service` of the tree, with OWSLib (`owslib_reader`) for what describes the service as a whole and `layers` with
`boxes` for its layers.
"""
