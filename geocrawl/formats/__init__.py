"""Read and write XML, JSON, character sets and WARC, in the same way for every room.

`page` and `probe` share the readers. They know at most the roots and sections of capabilities, never what a service
means, and do no I/O. They accept bytes or values of any content, limit what they read, and never raise because of it.
"""
