"""Prove candidates: each kind of service has an interview that decides while the caller does the I/O.

`kinds` has one file for each kind; `registry` lists them. They share `interview`, which makes requests in order and
decides the verdict, `answer`, which classifies answers that are not the kind's document, and `stream`, which reads long
capabilities. `ows` reads capabilities of OWS Common, `json_answers` documents in JSON, `extents` boxes
and reference systems; `content` and `images` judge what is delivered. Every tolerance is named as a `Deviation`
(docs/deviations.md).
"""
