"""Prove candidates: one folder for each kind of service, whose interview decides while the caller does the I/O.

A kind's folder has `probe` (the interview), `reader` (its documents as a `Service`) and, for kinds with maps, tiles,
features or records to request, `content` (the content check), besides other code of this kind alone. `registry` lists
the kinds.

Kinds share `interview`, which makes requests in order and decides the verdict, `answer`, which classifies answers that
are not the kind's document, and `stream`, which reads long capabilities. `ows` reads capabilities of OWS Common, `json`
the kinds in JSON, `extents` boxes and reference systems; `content` judges images and features. Every tolerance is named
as a `Deviation` (docs/deviations.md).
"""
