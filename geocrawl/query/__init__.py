"""Read what a search is asked: words and conditions as people type them (`language`), countries and regions by their
names (`places`), and texts folded so that spellings of a word are equal (`fold`).

Knows no database: pages read the parameters of a search with it, `store/catalogue/search` the words of a query.
"""
