"""Write the catalogue as a folder of files that any host of files serves, or a browser opens from the disk.

`publish.py` says in which order: pages and records first, then the search's index, the first page, and last what is no
longer part of it goes. Each file replaces its former one whole, and only where its content differs, so a publish that
is killed leaves a site that works. Nothing in a page depends on the time at which it is written.
"""
