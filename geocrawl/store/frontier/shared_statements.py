"""Define the statements of transactions that write beside others, which only PostgreSQL can.

Such a transaction first locks the rows of all hosts that it changes, in the order of their ids, so no two wait for each
other crosswise. Whoever adds, changes or leases a URL has its host locked.
"""

from __future__ import annotations

from geocrawl.store.frontier import statements as sql

# Lock hosts by a list of their names; read their ids and how many different pages were seen of each.
LOCK_HOSTS = "SELECT name, id, pages FROM host WHERE name = ANY (CAST(? AS text[])) ORDER BY id FOR UPDATE"
# Take ?1 numbers for new URLs and ?2 for new hosts, each list ascending.
TAKE_NUMBERS = """
SELECT ARRAY(SELECT nextval('url_number') FROM generate_series(1, CAST(? AS integer))),
  ARRAY(SELECT nextval('host_number') FROM generate_series(1, CAST(? AS integer)))"""
# Let numbers taken from now on follow a number that was planned by a transaction that writes alone.
NUMBER_URLS_AFTER = "SELECT setval('url_number', ?)"
NUMBER_HOSTS_AFTER = "SELECT setval('host_number', ?)"
# Number the next settlement.
NEXT_TURN = "SELECT nextval('turn_number')"
# End a lease with that number: others may have taken higher ones since.
FREE_AND_REFRESH = sql.FREE_AND_REFRESH.replace(
    "(SELECT value FROM counter WHERE name = 'turn')", "currval('turn_number')"
)

# Lock and read the ?3 ready hosts with the best heads, without those that others have locked.
READY_HOSTS = f"{sql.READY_HOSTS} FOR UPDATE SKIP LOCKED"
# End the back-off of hosts, 1,000 at once.
UNPARK_DUE = """
UPDATE host SET parked = 0 WHERE id = ANY (ARRAY(
  SELECT id FROM host WHERE waiting > 0 AND lease_until = 0 AND parked = 1 AND next_at <= ?
  ORDER BY next_at LIMIT 1000 FOR UPDATE SKIP LOCKED))"""
# Expire leases, 1,000 at once.
EXPIRE_DUE = """
UPDATE host SET lease_until = 0 WHERE id = ANY (ARRAY(
  SELECT id FROM host WHERE lease_until > 0 AND lease_until <= ?
  ORDER BY lease_until LIMIT 1000 FOR UPDATE SKIP LOCKED))"""
# Read whether a failed URL is to be tried again.
IS_RETRY_DUE = """
SELECT 1 FROM url WHERE retry_at IS NOT NULL AND purpose = 'page' AND retry_at <= ?1
UNION ALL SELECT 1 FROM url WHERE retry_at IS NOT NULL AND purpose = 'probe' AND retry_at <= ?1 LIMIT 1"""
