"""Make webs for measuring crawls from a seed: `geocrawl world make KIND`.

A made web is a folder in the format of recorded ones (world.json, pages.warc.gz, services.jsonl, documents/,
truth.csv), so that strategies are compared, tuned and trained on webs that nobody has seen. The same seed results in
the same bytes. Another seed results in another mixture of themes, languages, page designs, forms of addresses, ways of
naming services, and shares of broken services.

`mixture` draws that mixture, `vocabulary` and `prose` produce the texts, `parts` defines the data types, `design` turns
a page into HTML. `services`, `documents` and `exposures` make services, their answers and the ways pages name them.
`catalogue`, `organisations`, `leisure` and `traps` make sites; each module of `plans` plans a kind of web.
`templates` holds the page designs. `truth` walks the links and `folder` writes all files.
"""
