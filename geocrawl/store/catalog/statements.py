"""Define the catalogue's SQL statements, each with a sentence on its effect; `:name` is a value.

They are plain text, as the frontier's are: a crawl that imports SQLAlchemy and the classes of the schema takes 0.7 s
longer to start. Statements that write the columns of given values are made by `store/engine/clauses.py`.
"""

from __future__ import annotations

# --------------------------------------------------------------------------- endpoints and what named them

# Find endpoints by a JSON list of [kind, key]: id, kind, key, stored pieces of evidence, weakness, last reason.
FIND_ENDPOINTS = """
SELECT e.id, e.kind, e.key, (SELECT count(*) FROM evidence v WHERE v.endpoint_id = e.id), e.weak,
  coalesce(e.reason, '')
FROM json_each(:asked) asked JOIN endpoint e
  ON e.kind = json_extract(asked.value, '$[0]') AND e.key = json_extract(asked.value, '$[1]')"""
HIGHEST_ENDPOINT = "SELECT coalesce(max(id), 0) FROM endpoint"
# Name an endpoint that was only guessed: if it was probed in vain, it is probed again from now on.
NAME_GUESSED = """
UPDATE endpoint SET weak = :weak,
  due_at = CASE WHEN last_probe IS NULL THEN due_at ELSE coalesce(due_at, :at) END
WHERE id = :endpoint"""
# Read an endpoint with the evidence that was stored first.
FIRST_EVIDENCE = """
SELECT e.kind, e.key, e.url, e.weak, v.signal, v.page, v.link, v.anchor
FROM endpoint e LEFT JOIN evidence v ON v.endpoint_id = e.id
WHERE e.id = :endpoint ORDER BY v.id LIMIT 1"""
WAS_ANSWERED = "SELECT 1 FROM endpoint WHERE key = :key AND http_status IS NOT NULL LIMIT 1"
# Count valid and invalid endpoints, services and layers; of guessed endpoints those that were valid once.
COUNTS = """
SELECT 'valid', count(*) FROM endpoint WHERE status = 'valid'
UNION ALL SELECT 'invalid', count(*) FROM endpoint
  WHERE status = 'invalid' AND (weak < :guessed OR last_ok IS NOT NULL)
UNION ALL SELECT 'services', count(*) FROM service
UNION ALL SELECT 'layers', coalesce(sum(layer_count), 0) FROM service"""

# --------------------------------------------------------------------------- verdicts

_HEALTH = """health = :health, health_since = :health_since, in_a_row = :in_a_row, interval_s = :interval_s,
  due_at = :due_at"""
# Write a verdict, with the health that follows from it. The version and the time of the last valid answer stay while
# the endpoint is invalid.
WRITE_VERDICT = f"""
UPDATE endpoint SET status = :status, reason = :reason, detail = :detail, http_status = :http_status,
  deviations = :deviations, last_probe = :last_probe, version = coalesce(:valid_version, endpoint.version),
  last_ok = coalesce(:valid_at, endpoint.last_ok), probes = endpoint.probes + 1, {_HEALTH}
WHERE id = :endpoint"""  # noqa: S608 our own
# Write that the last full answer is still valid: version, deviations, status and reason stay.
WRITE_NOT_MODIFIED = f"""
UPDATE endpoint SET last_probe = :at, last_ok = :at, probes = endpoint.probes + 1, {_HEALTH}
WHERE id = :endpoint"""  # noqa: S608 our own
WRITE_UNASKED = "UPDATE endpoint SET reason = :reason WHERE id = :endpoint AND status IS NULL"

# --------------------------------------------------------------------------- health

READ_HEALTH = """
SELECT key, health, health_since, in_a_row, interval_s, due_at, last_ok, weak FROM endpoint WHERE id = :endpoint"""
POSTPONE = "UPDATE endpoint SET due_at = :due_at WHERE id = :endpoint AND due_at IS NOT NULL"
# Find the endpoints whose next probe is due, the longest overdue first.
DUE = "SELECT id FROM endpoint WHERE due_at IS NOT NULL AND due_at <= :now ORDER BY due_at, id LIMIT :most"

# --------------------------------------------------------------------------- services

# Note that the description of a service was read again.
CONFIRM = "UPDATE service SET last_ok = :at WHERE id = :service AND last_ok < :at"
# Write the best endpoint of a service. (A row that stays as it was is not written, and not told to the search.)
WRITE_BEST = "UPDATE service SET best_id = :best WHERE id = :service AND best_id IS NOT :best"
FINGERPRINT = "SELECT fingerprint FROM service WHERE id = :service"
DROP_SERVICE = "DELETE FROM service WHERE id = :service"
_COPIED = """kind, fingerprint, site, title, abstract, keywords, provider, contact, fees, access_constraints, version,
  formats, online_resource, layer_count, west, south, east, north, first_seen, last_ok, masked_online_resource,
  read_by"""
# Add a service with the same description.
COPY_SERVICE = f"""
INSERT INTO service ({_COPIED}) SELECT {_COPIED} FROM service WHERE id = :service RETURNING id"""  # noqa: S608 constants
_COPIED_OF_LAYER = """position, parent, name, title, abstract, crs, styles, keywords, queryable, west, south, east,
  north, item, formats"""
# Add the layers of a service to another one.
COPY_LAYERS = f"""
INSERT INTO layer (service_id, {_COPIED_OF_LAYER})
SELECT :copy, {_COPIED_OF_LAYER} FROM layer WHERE service_id = :service"""  # noqa: S608 constants
DROP_LAYERS = "DELETE FROM layer WHERE service_id = :service"
SERVICE_OF = "SELECT service_id FROM endpoint WHERE id = :endpoint"
# Assign an endpoint to a service.
PUT_ENDPOINT = "UPDATE endpoint SET service_id = :service WHERE id = :endpoint AND service_id IS NOT :service"
MOVE_ENDPOINTS = "UPDATE endpoint SET service_id = :service WHERE service_id = :former"
ENDPOINTS_OF = "SELECT id FROM endpoint WHERE service_id = :service"
ANY_ENDPOINT = "SELECT 1 FROM endpoint WHERE service_id = :service LIMIT 1"
# Find whether an endpoint of a service still says what is stored of the service.
SAYS_STILL = """
SELECT 1 FROM description d JOIN endpoint e ON e.id = d.endpoint_id
WHERE e.service_id = :service AND d.fingerprint = :fingerprint LIMIT 1"""
# Find the service of an endpoint if its stored description is the last one of this endpoint.
LAST_DESCRIBED_BY = """
SELECT s.id FROM endpoint e JOIN service s ON s.id = e.service_id LEFT JOIN description d ON d.endpoint_id = e.id
WHERE e.id = :endpoint AND (d.fingerprint = s.fingerprint OR d.fingerprint IS NULL)"""
# Rank the addresses of a service: valid ones first, then the shortest.
ADDRESSES = """
SELECT id, url, status = 'valid', coalesce(last_ok, 0) FROM endpoint WHERE service_id = :service
ORDER BY status = 'valid' DESC, length(url), url LIMIT :most"""

# --------------------------------------------------------------------------- which endpoints are one service

_DESCRIBED = "endpoint_id, key, kind, family, fingerprint, items, telling, calls_itself, provider"
DESCRIPTION = f"SELECT {_DESCRIBED} FROM description WHERE endpoint_id = :endpoint"  # noqa: S608 constants
# Replace an endpoint's description.
KEEP_DESCRIPTION = """ON CONFLICT (endpoint_id) DO UPDATE SET
  key = excluded.key, kind = excluded.kind, family = excluded.family, fingerprint = excluded.fingerprint,
  items = excluded.items, telling = excluded.telling, calls_itself = excluded.calls_itself,
  provider = excluded.provider"""
# Find descriptions of other endpoints of a kind with the same document, and with the same family of addresses.
COMPARED = f"""
SELECT * FROM (SELECT {_DESCRIBED} FROM description WHERE kind = :kind AND endpoint_id <> :endpoint
  AND fingerprint = :fingerprint ORDER BY endpoint_id LIMIT :most) same_document
UNION SELECT * FROM (SELECT {_DESCRIBED} FROM description WHERE kind = :kind AND endpoint_id <> :endpoint
  AND family = :family ORDER BY endpoint_id LIMIT :most) same_family"""  # noqa: S608 constants
# Forget what was found about an endpoint; what a person decided stays.
FORGET_EDGES = """
DELETE FROM same_service WHERE (first_id = :endpoint OR second_id = :endpoint) AND signal <> 'person'"""
# Write that two endpoints are one service, or are not.
KEEP_EDGE = """
INSERT INTO same_service (first_id, second_id, signal, detail, same, at)
VALUES (:first_id, :second_id, :signal, :detail, :same, :at)
ON CONFLICT (first_id, second_id, signal) DO UPDATE SET
  detail = excluded.detail, same = excluded.same, at = excluded.at"""
# Read the edges of an endpoint, a person's first.
EDGES = """
SELECT first_id, second_id, signal, same FROM same_service WHERE first_id = :endpoint OR second_id = :endpoint
ORDER BY signal <> 'person', first_id, second_id LIMIT :most"""
# Find the endpoints of the service of an endpoint.
SAME_NOW = """
SELECT other.id FROM endpoint e JOIN endpoint other ON other.service_id = e.service_id
WHERE e.id = :endpoint ORDER BY other.id LIMIT :most"""
# Find the services to which edges join an endpoint.
JOINED_SERVICES = """
SELECT DISTINCT e.service_id FROM same_service s JOIN endpoint e ON e.id IN (s.first_id, s.second_id)
WHERE (s.first_id = :endpoint OR s.second_id = :endpoint) AND e.id <> :endpoint AND e.service_id IS NOT NULL"""
ANY_DIFFERENT = "SELECT 1 FROM same_service WHERE same = 0 LIMIT 1"

# --------------------------------------------------------------------------- changes of a description

# Read the texts of a service that are compared with a new description.
SERVICE_TEXTS = """
SELECT title, abstract, provider, fees, access_constraints, version, online_resource, formats, contact
FROM service WHERE id = :service"""
# Read a service's layers; groups without a name have no content.
NAMED_LAYERS = """
SELECT name, title, west, south, east, north FROM layer WHERE service_id = :service AND name <> ''
ORDER BY position"""

# --------------------------------------------------------------------------- content reports

WRITE_LEVEL = """
UPDATE endpoint SET level = :level, proved_at = :proved_at, cors = :cors,
  https = coalesce(:answers_https, endpoint.https) WHERE id = :endpoint"""
FORGET_REQUESTS = "DELETE FROM proof WHERE endpoint_id = :endpoint"
KEEP_THUMBNAIL = """
INSERT INTO thumbnail (endpoint_id, at, image) VALUES (:endpoint_id, :at, :image)
ON CONFLICT (endpoint_id) DO UPDATE SET at = excluded.at, image = excluded.image"""
# Delete the oldest thumbnails that all newer ones together leave no room for.
DROP_OLD_THUMBNAILS = """
DELETE FROM thumbnail WHERE endpoint_id IN (SELECT endpoint_id FROM (
  SELECT endpoint_id, sum(length(image)) OVER (ORDER BY at DESC, endpoint_id DESC) AS bytes FROM thumbnail) newest
  WHERE bytes > :most_bytes)"""
