"""Prove candidates: a folder a kind of service, whose interview thinks while the caller does the I/O.

A kind's folder has `probe` (the interview), `reader` (its documents as a `Service`) and, where a service can be asked
for a map, a tile, a feature or a record, `content` (the content check); what belongs to the kind alone stands beside
them. `registry` lists the kinds.

What kinds share: `interview` asks questions in order and gives the verdict, `answer` tells what an answer is that is
not the kind's document, `stream` reads long capabilities. `ows` reads capabilities of OWS Common, `json` the kinds in
JSON, `extents` boxes and reference systems; `content` judges images and features. Every tolerance is named as a
`Deviation` (docs/deviations.md).
"""
