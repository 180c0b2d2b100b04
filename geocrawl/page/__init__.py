"""The room that turns the bytes of an answer into a `Document`: what is written on it and where it leads.

`document.PageReader` is the way in. It sniffs what the bytes are (`sniff`), reads their characters (`encoding`) and
hands the text to `html` or `xml`, which both give back the same `content.Content`: title, text and links as the page
writes them. Addresses are made of those links last, when the page's base is known. `flatten` keeps hostile or huge
HTML from costing more than its length. Nothing here does I/O, and no bytes make it raise.
"""
