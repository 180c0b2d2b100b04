"""The room that proves candidates: one file a service kind, each a generator that thinks while the caller does the I/O.

`interview` asks a kind's questions in order and judges the answers; `answer` tells what an answer is that is not the
kind's document. Answers in XML are read tolerantly: `formats.xml_reader` turns bytes into an element tree, `stream`
does so for long ones, and both name every tolerance as a `Deviation` (docs/deviations.md).

A WMS is read by `wms_reader` and `owslib_reader` (the service) and `layers` (its layers); the kinds of OWS Common by
`ows_answer`, `ows_reader` and `ows_extents`; those in JSON by `json_answer` and a reader each. Whether a valid service
gives content is for its prover (`maps`, `proof_…`), which looks at the answers with `content` and `images`.
"""
