"""Webs to measure crawls on, made from a seed: `geocrawl world make portal|agency|mixed`.

A made web is a folder in the format of recorded ones (world.json, pages.warc.gz, services.jsonl, documents/,
truth.csv), so that strategies are compared, tuned and trained on webs that nobody has seen. The same seed gives the
same bytes; another seed another mixture: its themes, languages, page designs, manners of address, ways of naming
services, shares of broken ones.

`mixture` draws that character, `vocabulary` and `prose` say what pages say, `parts` are what a web is made of, `design`
turns a page into HTML, `services`, `documents` and `exposures` make services, what they answer and how pages name them,
`catalogue`, `leisure` and `traps` make sites, `portal`, `agency` and `mixed` make webs of them, `truth` walks the links
and `folder` writes everything.
"""
