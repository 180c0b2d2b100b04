"""Define the frontier's SQL statements, each with a sentence on its effect; `?1` and so on are parameters."""

from __future__ import annotations

from functools import lru_cache
from itertools import compress

from geocrawl.store.engine.clauses import is_host_or_subdomain, listed

# --------------------------------------------------------------------------- counters and facts

# Add to a running total.
COUNT = """
INSERT INTO counter (name, value) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET value = counter.value + excluded.value"""
# Number the next settlement.
NEXT_TURN = """
INSERT INTO counter (name, value) VALUES ('turn', 1)
ON CONFLICT (name) DO UPDATE SET value = counter.value + 1"""


# --------------------------------------------------------------------------- hosts

# Read a host's id and how many different pages were seen of it.
FIND_HOST = "SELECT id, pages FROM host WHERE name = ?"
# Add a host, whose turn comes after those that wait already.
ADD_HOST = """
INSERT INTO host (id, name, turn) VALUES (
  coalesce((SELECT max(id) FROM host), 0) + 1, ?, coalesce((SELECT value FROM counter WHERE name = 'turn'), 0))
RETURNING id"""
# Add hosts whose ids were planned.
ADD_HOSTS = """
INSERT INTO host (id, name, turn) VALUES (?, ?, coalesce((SELECT value FROM counter WHERE name = 'turn'), 0))"""
# Count ?2 more hosts of a site.
SEE_HOSTS = """
INSERT INTO site (name, hosts, held_at, held_for, released) VALUES (?1, ?2, NULL, '', 0)
ON CONFLICT (name) DO UPDATE SET hosts = site.hosts + excluded.hosts"""
# Read whether a site was quarantined and released.
IS_RELEASED = "SELECT 1 FROM site WHERE name = ? AND held_at IS NOT NULL AND released <> 0"
# Release a quarantined site.
RELEASE_SITE = "UPDATE site SET released = 1 WHERE name = ? AND held_at IS NOT NULL AND released = 0"
# Find what quarantine refused of a site; ids from ?2 to ?3.
QUARANTINED_URLS = f"""
SELECT u.id FROM url u JOIN host h ON h.id = u.host_id WHERE u.id BETWEEN ?2 AND ?3
AND u.state = 'refused' AND u.reason = 'held' AND {is_host_or_subdomain("h.name", "?1")} ORDER BY u.id"""  # noqa: S608 our own condition
# Count URLs into a host's queue: ?2, ?3 is the best of their ranks, ?4 how many are new to it, ?5 pages seen first now.
ENQUEUE = """
UPDATE host SET
  best_tier = CASE WHEN (?4 > 0 AND waiting = 0) OR (?2, ?3) > (best_tier, best_score) THEN ?2 ELSE best_tier END,
  best_score = CASE WHEN (?4 > 0 AND waiting = 0) OR (?2, ?3) > (best_tier, best_score) THEN ?3 ELSE best_score END,
  waiting = waiting + ?4, pages = pages + ?5
WHERE id = ?1"""
_HEAD = "FROM url WHERE host_id = ?1 AND state = 'waiting' ORDER BY tier DESC, score DESC, id LIMIT 1"
_REFRESH = f"""
UPDATE host SET best_tier = coalesce((SELECT tier {_HEAD}), 0), best_score = coalesce((SELECT score {_HEAD}), 0.0),
  waiting = waiting + ?2, pages = pages + ?3"""  # noqa: S608 our own
# Write the head's rank and the length of a host's queue: ?2 more URLs, ?3 pages seen for the first time.
REFRESH = f"{_REFRESH} WHERE id = ?1"
# The same at the end of a lease, with the host's politeness and its next turn. (Only a settled lease counts as a turn:
# one that was given back, or lost with its process, leaves the host where it stood among its equals.)
FREE_AND_REFRESH = f"""{_REFRESH},
  next_at = ?4, errors = ?5, last_error_at = ?6, crawl_delay_s = ?7, asked_day = ?8, asked = ?9,
  troubled_at = ?10, troubled_address = ?11, parked = ?12, turn = (SELECT value FROM counter WHERE name = 'turn'),
  lease_until = 0, lease_url = NULL
WHERE id = ?1"""  # noqa: S608 our own
# End a lease that was released without a settlement.
FREE = "UPDATE host SET lease_until = 0, lease_url = NULL WHERE name = ? AND lease_token = ? AND lease_url = ?"
# Write the politeness of a host whose lease was given back.
WRITE_POLITENESS = """
UPDATE host SET next_at = ?2, errors = ?3, last_error_at = ?4, crawl_delay_s = ?5, asked_day = ?6, asked = ?7,
  troubled_at = ?8, troubled_address = ?9, parked = ?10 WHERE name = ?1"""
# Find the ?3 ready hosts with the best heads; of equals those that have waited longest for their turn.
READY_HOSTS = """
SELECT id, name, next_at, errors, last_error_at, crawl_delay_s, asked_day, asked, troubled_at, troubled_address,
  lease_token, pages, best_tier, best_score, turn FROM host
WHERE waiting > 0 AND lease_until = 0 AND parked = 0 AND next_at <= ?1 AND best_tier >= ?2
ORDER BY best_tier DESC, best_score DESC, turn, next_at, id LIMIT ?3"""
# The same for one host, whose row is locked where the engine locks rows (`store/engine/postgres/dialect.py`).
LOCK_READY_HOST = READY_HOSTS.replace("?3", "1") + " /* FOR UPDATE SKIP LOCKED */"
# Read the rank of the best page of tier ?1 or lower at hosts that are ready by ?2: of the first host whose head is a
# page, of each host with a probe before its pages, and, with its lease, of each leased host without the URL under way.
BEST_PAGES_SOON = """
SELECT * FROM (SELECT best_tier, best_score, CAST(NULL AS BIGINT), CAST(NULL AS BIGINT), CAST(NULL AS TEXT) FROM host
  WHERE waiting > 0 AND lease_until = 0 AND parked = 0 AND best_tier <= ?1 AND next_at <= ?2
  ORDER BY best_tier DESC, best_score DESC LIMIT 1) resting
UNION ALL SELECT u.tier, u.score, NULL, NULL, NULL FROM host h CROSS JOIN url u ON u.id = (
  SELECT id FROM url WHERE host_id = h.id AND state = 'waiting' AND tier <= ?1
  ORDER BY tier DESC, score DESC, id LIMIT 1)
WHERE h.waiting > 0 AND h.lease_until = 0 AND h.parked = 0 AND h.best_tier > ?1 AND h.next_at <= ?2
UNION ALL SELECT u.tier, u.score, h.id, h.lease_token, h.lease_owner FROM host h CROSS JOIN url u ON u.id = (
  SELECT id FROM url WHERE host_id = h.id AND state = 'waiting' AND tier <= ?1 AND id IS NOT h.lease_url
  ORDER BY tier DESC, score DESC, id LIMIT 1)
WHERE h.lease_until > 0"""
# Read when the next host with a better head than ?1, ?2 is ready, when the next lease ends, and the next back-off.
NEXT_BETTER = """
SELECT (SELECT min(next_at) FROM host WHERE waiting > 0 AND lease_until = 0 AND parked = 0
    AND best_tier >= ?1 AND (best_tier, best_score) > (?1, ?2)),
  (SELECT min(lease_until) FROM host WHERE lease_until > 0),
  (SELECT min(next_at) FROM host WHERE waiting > 0 AND lease_until = 0 AND parked = 1)"""
# Lease a host for one of its URLs.
LEASE = (
    "UPDATE host SET lease_until = ?2, lease_token = lease_token + 1, lease_url = ?3, lease_owner = ?4 WHERE id = ?1"
)
# Find what is due, ?2 at most: hosts whose back-off ended, leases that expired, failed URLs to be tried again.
DUE = """
SELECT 'rest', id FROM host WHERE waiting > 0 AND lease_until = 0 AND parked = 1 AND next_at <= ?1
UNION ALL SELECT 'lease', id FROM host WHERE lease_until > 0 AND lease_until <= ?1
UNION ALL SELECT 'retry', id FROM url WHERE retry_at IS NOT NULL AND purpose = 'page' AND retry_at <= ?1
UNION ALL SELECT 'retry', id FROM url WHERE retry_at IS NOT NULL AND purpose = 'probe' AND retry_at <= ?1 LIMIT ?2"""
# End a host's back-off.
UNPARK = "UPDATE host SET parked = 0 WHERE id = ?"
# Find leased hosts with the owners of their leases.
LEASED_HOSTS = "SELECT id, lease_owner, name FROM host WHERE lease_until > 0"
# Read whether a leased host has queued URLs.
ANY_LEASED = "SELECT 1 FROM host WHERE lease_until > 0 AND waiting > 0 LIMIT 1"
# Count a kill of the process that visited the URL for which a host was leased.
COUNT_KILLED = """
UPDATE url SET kills = kills + 1 WHERE state = 'waiting' AND id = (SELECT lease_url FROM host WHERE id = ?)
RETURNING id, kills"""
# Expire a lease; a settlement by its owner still counts until another process leases the host.
EXPIRE = "UPDATE host SET lease_until = 0 WHERE id = ?"
# End a lease that was not settled. Its last request may just have been answered, so the delay is kept (from ?2; ?3 is
# the delay, ?4 the longest Crawl-delay), or may be under way for another ?5 seconds, if any delay is kept at all.
FREE_UNSETTLED = """
UPDATE host SET lease_until = 0, next_at = max(next_at, ?2 + (
  SELECT CASE WHEN pace > 0 THEN pace + ?5 ELSE 0 END
  FROM (SELECT max(?3, min(coalesce(crawl_delay_s, 0), ?4)) AS pace) paced))
WHERE id = ?1"""
# Park a host that rests until later than ?2.
PARK = "UPDATE host SET parked = 1 WHERE id = ?1 AND next_at > ?2"
# Read when the next host with work of tier ?1 or higher is ready: it keeps its delay, backs off, or is leased.
NEXT_READY = """
SELECT min(t) FROM (
  SELECT min(next_at) AS t FROM host WHERE waiting > 0 AND lease_until = 0 AND parked = 0 AND best_tier >= ?1
  UNION ALL SELECT min(next_at) FROM host WHERE waiting > 0 AND lease_until = 0 AND parked = 1 AND best_tier >= ?1
  UNION ALL SELECT min(lease_until) FROM host WHERE lease_until > 0 AND best_tier >= ?1) ready"""
# The same over all tiers, by an index.
NEXT_READY_ANY = """
SELECT min(t) FROM (
  SELECT min(next_at) AS t FROM host WHERE waiting > 0 AND lease_until = 0 AND parked = 0
  UNION ALL SELECT min(next_at) FROM host WHERE waiting > 0 AND lease_until = 0 AND parked = 1
  UNION ALL SELECT min(lease_until) FROM host WHERE lease_until > 0) ready"""
# Read whether a URL waits or is under way, by an index.
IS_ANY_QUEUED = """
SELECT 1 FROM host WHERE waiting > 0 AND lease_until = 0 AND parked IN (0, 1)
UNION ALL SELECT 1 FROM host WHERE lease_until > 0 LIMIT 1"""
_NEXT_RETRY = """
SELECT max(u.retry_at, h.next_at) FROM url u JOIN host h ON h.id = u.host_id
WHERE u.retry_at IS NOT NULL AND u.purpose = '{}' AND u.tier >= ?1 ORDER BY u.retry_at LIMIT 1"""
# Read when the next failed probe of tier ?1 or higher is tried again, its host permitting.
NEXT_RETRIED_PROBE = _NEXT_RETRY.format("probe")
# The same, and when the next page is.
NEXT_RETRIED = f"SELECT ({NEXT_RETRIED_PROBE}), ({_NEXT_RETRY.format('page')})"
# Find hosts with queued URLs of tier ?1 or higher of which no visit failed, the first to be ready first; without hosts
# that failed ?2 times in a row or more: they asked for no wait, they are dead.
WAITING_HOSTS = """
SELECT name, max(next_at, lease_until), waiting FROM host h
WHERE waiting > 0 AND best_tier >= ?1 AND errors < ?2
  AND EXISTS (SELECT 1 FROM url WHERE host_id = h.id AND state = 'waiting' AND tier >= ?1 AND attempts = 0)
ORDER BY 2, id"""
# Count failed URLs that will be tried again, and read when the first of them is due.
RETRIES = "SELECT count(*), min(retry_at) FROM url WHERE retry_at IS NOT NULL"
# Count hosts, and those with work that back off past ?1 (all of them are parked).
COUNT_HOSTS = """
SELECT (SELECT count(*) FROM host),
  (SELECT count(*) FROM host WHERE waiting > 0 AND lease_until = 0 AND parked = 1 AND next_at > ?1)"""
# Count pages and probes that are leased now.
COUNT_LEASED = (
    "SELECT u.purpose, u.tier, count(*) FROM host h JOIN url u ON u.id = h.lease_url WHERE h.lease_until > 0 "
    "AND u.state = 'waiting' GROUP BY u.purpose, u.tier"
)

# --------------------------------------------------------------------------- urls

# Read the pages and probes that are known, by a JSON list of keys.
KNOWN_URLS = f"SELECT key, id, depth, tier, score, state FROM url WHERE key IN {listed('?')}"  # noqa: S608 our own
# Read the highest ids of URLs and hosts: the next ones follow, as SQLite itself would number them.
_HIGHEST_IDS = """
SELECT 'ids', CAST(NULL AS TEXT), coalesce((SELECT max(id) FROM url), 0), coalesce((SELECT max(id) FROM host), 0)"""
# Read hosts and sites by a JSON list of names, queries and patterns by one of keys.
_FACTS = (
    "SELECT 'host', name, id, pages FROM host WHERE name IN (SELECT value FROM json_each(?))",
    "SELECT 'site', name, hosts, NULL FROM site WHERE name IN (SELECT value FROM json_each(?))",
    f"SELECT 'queries', CAST(key AS TEXT), seen, NULL FROM query_group WHERE key IN {listed('?')}",  # noqa: S608 our own
    f"SELECT 'pattern', CAST(key AS TEXT), fruitless, finds FROM pattern WHERE key IN {listed('?')}",  # noqa: S608 our own
)


@lru_cache
def facts(*wanted: bool) -> str:
    """Return the statement that reads what decides on addresses that nobody knew: the highest ids, and those of hosts,
    sites, queries and patterns that are wanted, each by a JSON list. (A list costs 10 µs though it is empty.)"""
    return " UNION ALL ".join([_HIGHEST_IDS, *compress(_FACTS, wanted)])


# Read whether a page or probe is known.
FIND_URL = "SELECT 1 FROM url WHERE key = ?"
# Read the state of a page or probe.
FIND_URL_STATE = "SELECT id, state, reason FROM url WHERE key = ?"
# Add a page or probe.
ADD_URL = """
INSERT INTO url (id, key, address, purpose, host_id, state, reason, depth, tier, score, found_on, anchor, found_in,
                 hops, endpoint_id, first_seen)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
# Read the first ?2 of a host's queue; probes with their endpoint and the evidence that was stored first.
HEADS = """
SELECT u.id, u.key, u.address, u.purpose, u.depth, u.tier, u.score, u.attempts, u.hops, u.revisit_s,
  e.last_ok IS NULL, e.site, e.kind, e.key, e.url, e.weak, v.signal, v.page, v.link, v.anchor, u.anchor
FROM (SELECT * FROM url WHERE host_id = ?1 AND state = 'waiting' ORDER BY tier DESC, score DESC, id LIMIT ?2) u
LEFT JOIN endpoint e ON u.purpose = 'probe' AND e.id = u.endpoint_id
LEFT JOIN evidence v ON v.id = (SELECT min(id) FROM evidence WHERE endpoint_id = e.id)
ORDER BY u.tier DESC, u.score DESC, u.id"""
# Read the current row of a URL, with the lease on its host.
CURRENT = """
SELECT u.host_id, u.purpose, u.state, u.depth, u.tier, u.score, u.attempts, u.hops, u.endpoint_id, u.found_on,
       u.reason, u.revisit_s, u.digest,
       u.depth = 0 OR coalesce(u.found_in, '') IN ('sitemap', 'records-page'), h.lease_token, h.lease_url
FROM url u JOIN host h ON h.id = u.host_id WHERE u.id = ?"""
# Write the outcome of a visit.
SETTLE_URL = """
UPDATE url SET state = ?2, reason = ?3, attempts = ?4, kills = 0, retry_at = ?5, settled_at = ?6, http_status = ?7,
  content_type = ?8, size_bytes = ?9, elapsed_ms = ?10, title = ?11, relevance = ?12, page_score = ?13
WHERE id = ?1"""
# The same when nothing was modified: what is stored of the page stays.
SETTLE_NOT_MODIFIED = """
UPDATE url SET state = ?2, reason = ?3, attempts = ?4, kills = 0, retry_at = ?5, settled_at = ?6, http_status = ?7,
  elapsed_ms = ?8 WHERE id = ?1"""
# Write where a visited page leads.
WRITE_OUTLINKS = """
INSERT INTO outlinks (url_id, links) VALUES (?, ?) ON CONFLICT (url_id) DO UPDATE SET links = excluded.links"""
# Read where visited pages lead, by a JSON list of ids.
READ_OUTLINKS = f"SELECT url_id, links FROM outlinks WHERE url_id IN {listed('?')}"  # noqa: S608 our own
# Read what decides whether shorter ways and better links change URLs, by a JSON list of ids.
PLACES = f"""
SELECT id, purpose, state, depth, tier, score, host_id FROM url WHERE id IN {listed("?")}"""  # noqa: S608 our own
# Read the current row of a URL outside a visit.
PLACE = "SELECT purpose, state, depth, tier, score, host_id, reason FROM url WHERE id = ?"
# Update depth, rank and state of a URL.
MOVE = "UPDATE url SET depth = ?2, tier = ?3, score = ?4, state = ?5 WHERE id = ?1"
# Write the page of the best-ranked link to a URL.
WRITE_FOUND = "UPDATE url SET found_on = ?2, anchor = ?3, found_in = ?4 WHERE id = ?1"
# Write the state of a URL outside a visit.
WRITE_STATE = "UPDATE url SET state = ?2, reason = ?3, retry_at = NULL WHERE id = ?1"
# Give a URL all its attempts again.
FORGET_ATTEMPTS = "UPDATE url SET attempts = 0, kills = 0 WHERE id = ?"
# Find pages and probes that failed (of a host, for a reason), and those refused for that reason; ids from ?3 to ?4.
RETRYABLE = """
SELECT u.id, u.state, u.reason FROM url u JOIN host h ON h.id = u.host_id
WHERE u.id BETWEEN ?3 AND ?4 AND (u.state = 'failed' OR (u.state = 'refused' AND CAST(?2 AS TEXT) IS NOT NULL))
  AND (CAST(?1 AS TEXT) IS NULL OR h.name = ?1) AND (CAST(?2 AS TEXT) IS NULL OR u.reason = ?2) ORDER BY u.id"""
# Find pages that may be the service that an endpoint's probe looks for.
CANDIDATE_PAGES = """
SELECT id, key, address, depth FROM url
WHERE endpoint_id = ? AND purpose = 'page' AND state = 'refused' AND reason = 'candidate' ORDER BY id LIMIT ?"""
# Count ?2 more addresses that differ only in their query.
SEE_QUERIES = """
INSERT INTO query_group (key, seen) VALUES (?1, ?2)
ON CONFLICT (key) DO UPDATE SET seen = query_group.seen + excluded.seen"""
# Read the number of query variants seen of a path.
QUERIES_SEEN = "SELECT seen FROM query_group WHERE key = ?"
# Read pages that a strategy may rerank, in order; ?1 is the last one of the batch before.
RANKABLE = """
SELECT u.id, u.address, u.anchor, u.depth, p.relevance, u.found_on FROM url u LEFT JOIN url p ON p.id = u.found_on
WHERE u.id > ?1 AND u.purpose = 'page' AND (u.state = 'waiting' OR (u.state = 'refused' AND u.reason = 'unranked'))
ORDER BY u.id LIMIT 2000"""
# Read the pages of depth 0.
SEEDS = "SELECT address FROM url INDEXED BY url_seed WHERE depth = 0 AND purpose = 'page' ORDER BY id"
# Find waiting pages that the depth limit now shuts out, and too deep ones that it lets in; ids from ?2 to ?3.
ACROSS_DEPTH = """
SELECT id FROM url WHERE id BETWEEN ?2 AND ?3 AND purpose = 'page'
AND ((state = 'waiting' AND depth > ?1) OR (state = 'too-deep' AND depth <= ?1)) ORDER BY id"""

# --------------------------------------------------------------------------- validators

# Read a URL's validators, if it was read whole after ?2 and, as a service, has been valid since.
VALIDATORS = """
SELECT v.address, v.etag, v.modified FROM validator v JOIN url u ON u.id = v.url_id
LEFT JOIN endpoint e ON e.id = u.endpoint_id
WHERE v.url_id = ?1 AND v.read_at > ?2 AND (u.purpose = 'page' OR e.status = 'valid')"""
# Write the validators of a URL that was read whole.
KEEP_VALIDATORS = """
INSERT INTO validator (url_id, address, etag, modified, read_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (url_id) DO UPDATE SET
  address = excluded.address, etag = excluded.etag, modified = excluded.modified, read_at = excluded.read_at"""
# Drop a URL's validators.
FORGET_VALIDATORS = "DELETE FROM validator WHERE url_id = ?"

# --------------------------------------------------------------------------- start pages

# Count waiting pages of tier ?1 and higher.
COUNT_TIER = "SELECT count(*) FROM url WHERE state = 'waiting' AND purpose = 'page' AND tier >= ?1"
# Find pages of records of a host; ?2: where links to such pages are found.
RECORDS_OF_HOST = """
SELECT u.id, u.address FROM url u JOIN host h ON h.id = u.host_id
WHERE h.name = ?1 AND u.purpose = 'page' AND u.found_in = ?2 AND u.state <> 'leased'
  AND (u.state <> 'refused' OR u.reason = 'trap:records') ORDER BY u.id"""

# --------------------------------------------------------------------------- batches

# Read whether a page of the batch, tier ?1, waits on a host that does not back off, or is leased.
BATCH_GOES_ON = """
SELECT 1 FROM host h WHERE waiting > 0 AND lease_until = 0 AND parked = 0 AND best_tier >= ?1
  AND EXISTS (SELECT 1 FROM url WHERE host_id = h.id AND state = 'waiting' AND tier = ?1)
UNION ALL SELECT 1 FROM host h WHERE lease_until > 0
  AND EXISTS (SELECT 1 FROM url WHERE host_id = h.id AND state = 'waiting' AND tier = ?1) LIMIT 1"""
# Count hosts that do not back off and whose head is of tier ?1 or higher.
COUNT_HEADS = "SELECT count(*) FROM host WHERE waiting > 0 AND parked = 0 AND best_tier >= ?1"
# Find hosts that do not back off, the best first, with the URL that is under way.
BEST_HOSTS = """
SELECT id, CASE WHEN lease_until > 0 THEN lease_url END FROM host WHERE waiting > 0 AND parked = 0
ORDER BY best_tier DESC, best_score DESC, id LIMIT ?1"""
# Find the best ?2 pages of a host, and one more: one of them may be under way.
BEST_PAGES = """
SELECT id, tier, score FROM url WHERE host_id = ?1 AND state = 'waiting' AND purpose = 'page'
ORDER BY tier DESC, score DESC, id LIMIT ?2 + 1"""
# Put a page into the batch; it keeps its score.
RAISE_TIER = "UPDATE url SET tier = ?2 WHERE id = ?1"

# --------------------------------------------------------------------------- feedback

# Add the feedback of a visit.
ADD_LESSON = """
INSERT INTO lesson (url_id, purpose, depth, found_on, state, reason, valid, links, memo)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number"""
# Drop feedback before ?1, or all feedback when ?1 is NULL.
FORGET_LESSONS = "DELETE FROM lesson WHERE CAST(?1 AS BIGINT) IS NULL OR number < ?1"
# Read the feedback after ?1, ?2 rows at most.
NEXT_LESSONS = """
SELECT number, url_id, purpose, depth, found_on, state, reason, valid, links, memo FROM lesson
WHERE number > ?1 ORDER BY number LIMIT ?2"""
# Read the addresses of URLs by a list of their ids.
ADDRESSES = "SELECT id, address FROM url WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))"
# Read who learns, and until when.
READ_ROLE = "SELECT name, value FROM meta WHERE name IN (?, ?)"

# --------------------------------------------------------------------------- the page store

# Read a running total.
COUNTED = "SELECT value FROM counter WHERE name = ?"
# Add a page to the page store.
ADD_PAGE = "INSERT INTO page_store (url_id, score, stored_at, encoding, size_bytes, body) VALUES (?, ?, ?, ?, ?, ?)"
# Drop a page from it; return its size.
DROP_PAGE = "DELETE FROM page_store WHERE url_id = ? RETURNING size_bytes"
# Find the page to drop first: of equals the one seen first.
WORST_PAGE = "SELECT url_id, score FROM page_store ORDER BY score, url_id LIMIT 1"
