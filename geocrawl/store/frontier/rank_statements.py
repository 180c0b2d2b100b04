"""Define the statements that write new ranks of waiting pages: a few by their keys, or many by a staging table."""

from __future__ import annotations

from geocrawl.store.engine.clauses import listed

# Read pages that wait or were dropped, by a JSON list of ids.
RANKS = f"""
SELECT id, host_id, state, tier, score FROM url WHERE id IN {listed("?")}
  AND purpose = 'page' AND (state = 'waiting' OR (state = 'refused' AND reason = 'unranked'))"""  # noqa: S608 our own
# Write the rank of a waiting page. (SQLite looks at the indexes of the columns that are set, changed or not.)
MOVE_WAITING = "UPDATE url SET tier = ?2, score = ?3 WHERE id = ?1"
# Write the rank, state and reason of a page.
WRITE_RANK = "UPDATE url SET tier = ?2, score = ?3, state = ?4, reason = ?5 WHERE id = ?1"
# Make the staging table of new ranks, by URL id; no tier: the page is dropped.
MAKE_NEW_RANKS = "CREATE TEMP TABLE IF NOT EXISTS new_rank (id INTEGER PRIMARY KEY, tier INTEGER, score REAL)"
# Empty the staging table.
CLEAR_NEW_RANKS = "DELETE FROM temp.new_rank"
# Stage a rank (last write wins).
LAY_NEW_RANK = """
INSERT INTO temp.new_rank (id, tier, score) VALUES (?, ?, ?)
ON CONFLICT (id) DO UPDATE SET tier = excluded.tier, score = excluded.score"""
# Read the last of the ?2 staged ids from ?1 on.
LAST_OF_NEXT_RANKS = "SELECT max(id) FROM (SELECT id FROM temp.new_rank WHERE id >= ?1 ORDER BY id LIMIT ?2) n"
# Pages that wait or were dropped and whose rank or state changes.
_CHANGED = """
n.id BETWEEN ?1 AND ?2 AND url.purpose = 'page'
AND (url.state = 'waiting' OR (url.state = 'refused' AND url.reason = 'unranked'))
AND CASE WHEN n.tier IS NULL THEN url.state = 'waiting'
    ELSE url.state <> 'waiting' OR url.tier <> n.tier OR url.score <> n.score END"""
# Count them by host, and by state and tier before and after. (The cross join keeps to the order of the rows.)
RANK_CHANGES = f"""
SELECT url.host_id, url.state, url.tier, CASE WHEN n.tier IS NULL THEN 'refused' ELSE 'waiting' END,
  coalesce(n.tier, url.tier), count(*)
FROM temp.new_rank n CROSS JOIN url ON url.id = n.id WHERE {_CHANGED} GROUP BY 1, 2, 3, 4, 5"""  # noqa: S608 both are ours
# Write their ranks. (Without NOT INDEXED the planner would walk the whole queue for each range.)
WRITE_NEW_RANKS = f"""
UPDATE url NOT INDEXED SET tier = coalesce(n.tier, url.tier), score = coalesce(n.score, url.score),
  state = CASE WHEN n.tier IS NULL THEN 'refused' ELSE 'waiting' END,
  reason = CASE WHEN n.tier IS NULL THEN 'unranked' END
FROM temp.new_rank n WHERE url.id = n.id AND url.id BETWEEN ?1 AND ?2 AND {_CHANGED}"""  # noqa: S608 both are ours
