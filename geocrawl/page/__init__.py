"""Turn the bytes of an answer into a `Document`: what a page says and where it leads.

`document.PageReader` is the way in. It finds out what the bytes are (`sniff`), decodes them (`encoding`) and passes the
text to `html`, `xml` or `data`, which all return the same `content.Content`: title, text and links as the page writes
them. Addresses are read last, when the page's base is known. `flatten` keeps hostile or huge HTML from costing more
than its length. Nothing here does I/O, and no bytes make it raise.
"""
