"""Turn the bytes of an answer into a `Document`: the text and the links of a page.

`document.PageReader` is the entry point. It decodes the bytes (`encoding`), detects their format and passes
the text to `html`, `xml` or `json`, which all return the same `content.Content`: title, text and links as the
page writes them. Addresses are read last, when the page's base is known. `html_tree` keeps the time for hostile or huge
HTML proportional to its length. Addresses that no link has come from `embedded`, `scripts` and `text`, files of map
viewers from `viewers`; records of catalogues from `metadata`, `xml`, `rdf` and `json`. No module of this package does
I/O, and no bytes cause an exception.
"""
