CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)

CREATE TABLE alike (
	"key" INTEGER NOT NULL, 
	services INTEGER NOT NULL, 
	PRIMARY KEY ("key")
)

CREATE TABLE blocked (
	host VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (host)
)
 WITHOUT ROWID

CREATE TABLE counter (
	name VARCHAR NOT NULL, 
	value INTEGER NOT NULL, 
	PRIMARY KEY (name)
)
 WITHOUT ROWID

CREATE TABLE daily (
	day VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	value INTEGER NOT NULL, 
	PRIMARY KEY (day, name)
)
 WITHOUT ROWID

CREATE TABLE downtime (
	id INTEGER NOT NULL, 
	service_id INTEGER, 
	host VARCHAR NOT NULL, 
	starts_at FLOAT NOT NULL, 
	ends_at FLOAT, 
	weekly VARCHAR NOT NULL, 
	zone VARCHAR NOT NULL, 
	is_acknowledged INTEGER NOT NULL, 
	note VARCHAR NOT NULL, 
	created_at FLOAT NOT NULL, 
	PRIMARY KEY (id)
)

CREATE TABLE host (
	id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	next_at FLOAT DEFAULT '0' NOT NULL, 
	errors INTEGER DEFAULT '0' NOT NULL, 
	last_error_at FLOAT DEFAULT '0' NOT NULL, 
	crawl_delay_s FLOAT, 
	parked INTEGER DEFAULT '0' NOT NULL, 
	waiting INTEGER DEFAULT '0' NOT NULL, 
	best_tier INTEGER DEFAULT '0' NOT NULL, 
	best_score FLOAT DEFAULT '0' NOT NULL, 
	turn INTEGER DEFAULT '0' NOT NULL, 
	pages INTEGER DEFAULT '0' NOT NULL, 
	lease_until FLOAT DEFAULT '0' NOT NULL, 
	lease_token INTEGER DEFAULT '0' NOT NULL, 
	lease_url INTEGER, 
	lease_owner VARCHAR, 
	asked_day INTEGER DEFAULT 0 NOT NULL, 
	asked INTEGER DEFAULT 0 NOT NULL, 
	troubled_at FLOAT DEFAULT 0 NOT NULL, 
	troubled_address VARCHAR DEFAULT '' NOT NULL, 
	refusals INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (name)
)

CREATE INDEX host_ready ON host (parked, best_tier DESC, best_score DESC, turn, next_at) WHERE waiting > 0 AND lease_until = 0

CREATE INDEX host_rest ON host (parked, next_at) WHERE waiting > 0 AND lease_until = 0

CREATE INDEX host_leased ON host (lease_until) WHERE lease_until > 0

CREATE TABLE ip_place (
	ip VARCHAR NOT NULL, 
	slot INTEGER NOT NULL, 
	begins_at FLOAT NOT NULL, 
	until FLOAT NOT NULL, 
	owner VARCHAR NOT NULL, 
	PRIMARY KEY (ip, slot)
)
 WITHOUT ROWID

CREATE INDEX ip_place_begins ON ip_place (begins_at)

CREATE TABLE lesson (
	number INTEGER NOT NULL, 
	url_id INTEGER NOT NULL, 
	purpose VARCHAR NOT NULL, 
	depth INTEGER NOT NULL, 
	found_on INTEGER, 
	state VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	valid INTEGER, 
	links BLOB NOT NULL, 
	memo BLOB NOT NULL, 
	PRIMARY KEY (number)
)

CREATE TABLE meta (
	name VARCHAR NOT NULL, 
	value BLOB NOT NULL, 
	PRIMARY KEY (name)
)

CREATE TABLE outlinks (
	url_id INTEGER NOT NULL, 
	links BLOB NOT NULL, 
	moved INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (url_id)
)

CREATE INDEX outlinks_moved ON outlinks (moved) WHERE moved > 0

CREATE TABLE pattern (
	"key" INTEGER NOT NULL, 
	fruitless INTEGER NOT NULL, 
	finds INTEGER NOT NULL, 
	last_relevance INTEGER NOT NULL, 
	late INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY ("key")
)

CREATE TABLE query_group (
	"key" INTEGER NOT NULL, 
	seen INTEGER NOT NULL, 
	PRIMARY KEY ("key")
)

CREATE TABLE robots (
	origin VARCHAR NOT NULL, 
	status INTEGER, 
	body VARCHAR, 
	fetched_at FLOAT NOT NULL, 
	expires_at FLOAT NOT NULL, 
	PRIMARY KEY (origin)
)

CREATE TABLE run (
	id INTEGER NOT NULL, 
	started_at FLOAT NOT NULL, 
	ended_at FLOAT, 
	owner VARCHAR NOT NULL, 
	strategy VARCHAR NOT NULL, 
	settings VARCHAR NOT NULL, 
	pages INTEGER, 
	services INTEGER, 
	stopped VARCHAR, 
	PRIMARY KEY (id)
)

CREATE TABLE search_change (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	service_id INTEGER NOT NULL, 
	UNIQUE (service_id)
)

CREATE TABLE search_entry (
	service_id INTEGER NOT NULL, 
	systems INTEGER NOT NULL, 
	formats INTEGER NOT NULL, 
	country VARCHAR NOT NULL, 
	title_words INTEGER NOT NULL, 
	words INTEGER NOT NULL, 
	completeness INTEGER NOT NULL, 
	evidence INTEGER NOT NULL, 
	fields INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (service_id)
)

CREATE TABLE search_list (
	id INTEGER NOT NULL, 
	digest VARCHAR NOT NULL, 
	items VARCHAR NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (digest)
)

CREATE TABLE seed (
	identity VARCHAR NOT NULL, 
	address VARCHAR NOT NULL, 
	title VARCHAR NOT NULL, 
	region VARCHAR NOT NULL, 
	language VARCHAR NOT NULL, 
	source VARCHAR NOT NULL, 
	added_at FLOAT NOT NULL, 
	PRIMARY KEY (identity)
)
 WITHOUT ROWID

CREATE TABLE service (
	id INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	fingerprint VARCHAR NOT NULL, 
	site VARCHAR NOT NULL, 
	title VARCHAR NOT NULL, 
	abstract VARCHAR NOT NULL, 
	keywords VARCHAR NOT NULL, 
	provider VARCHAR NOT NULL, 
	contact VARCHAR NOT NULL, 
	fees VARCHAR NOT NULL, 
	access_constraints VARCHAR NOT NULL, 
	version VARCHAR NOT NULL, 
	formats VARCHAR NOT NULL, 
	online_resource VARCHAR NOT NULL, 
	layer_count INTEGER NOT NULL, 
	west FLOAT, 
	south FLOAT, 
	east FLOAT, 
	north FLOAT, 
	first_seen FLOAT NOT NULL, 
	last_ok FLOAT NOT NULL, 
	best_id INTEGER, 
	masked_online_resource VARCHAR DEFAULT '' NOT NULL, 
	read_by VARCHAR DEFAULT '' NOT NULL, 
	licence VARCHAR DEFAULT '' NOT NULL, 
	time_start FLOAT, 
	time_end FLOAT, 
	language VARCHAR DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
)

CREATE INDEX service_same ON service (kind, fingerprint, site)

CREATE TABLE service_alias (
	old INTEGER NOT NULL, 
	new INTEGER NOT NULL, 
	endpoint_id INTEGER, 
	PRIMARY KEY (old)
)

CREATE INDEX service_alias_new ON service_alias (new)

CREATE TABLE site (
	name VARCHAR NOT NULL, 
	hosts INTEGER NOT NULL, 
	held_at FLOAT, 
	held_for VARCHAR NOT NULL, 
	released INTEGER NOT NULL, 
	PRIMARY KEY (name)
)
 WITHOUT ROWID

CREATE TABLE source (
	id INTEGER NOT NULL, 
	"key" INTEGER NOT NULL, 
	address VARCHAR NOT NULL, 
	family VARCHAR NOT NULL, 
	stated INTEGER, 
	read INTEGER DEFAULT 0 NOT NULL, 
	state VARCHAR NOT NULL, 
	reason VARCHAR DEFAULT '' NOT NULL, 
	window INTEGER, 
	harvest INTEGER DEFAULT 0 NOT NULL, 
	at FLOAT NOT NULL, 
	named INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE ("key")
)

CREATE TABLE watch (
	id INTEGER NOT NULL, 
	service_id INTEGER, 
	"query" VARCHAR NOT NULL, 
	recipient VARCHAR NOT NULL, 
	secret VARCHAR NOT NULL, 
	created_at FLOAT NOT NULL, 
	known VARCHAR NOT NULL, 
	change_id INTEGER NOT NULL, 
	sent_at FLOAT, 
	failures INTEGER DEFAULT 0 NOT NULL, 
	retry_at FLOAT DEFAULT 0 NOT NULL, 
	busy_until FLOAT DEFAULT 0 NOT NULL, 
	last_error VARCHAR DEFAULT '' NOT NULL, 
	every_s FLOAT, 
	PRIMARY KEY (id)
)

CREATE TABLE endpoint (
	id INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	url VARCHAR NOT NULL, 
	host VARCHAR NOT NULL, 
	site VARCHAR NOT NULL, 
	weak INTEGER NOT NULL, 
	service_id INTEGER, 
	status VARCHAR, 
	reason VARCHAR, 
	detail VARCHAR, 
	version VARCHAR, 
	deviations VARCHAR, 
	http_status INTEGER, 
	first_seen FLOAT NOT NULL, 
	last_probe FLOAT, 
	last_ok FLOAT, 
	probes INTEGER DEFAULT '0' NOT NULL, 
	level VARCHAR, 
	proved_at FLOAT, 
	https INTEGER, 
	cors VARCHAR, 
	health VARCHAR DEFAULT 'new' NOT NULL, 
	health_since FLOAT, 
	in_a_row INTEGER DEFAULT 0 NOT NULL, 
	interval_s FLOAT DEFAULT 0 NOT NULL, 
	due_at FLOAT, 
	masked_url VARCHAR DEFAULT '' NOT NULL, 
	failing_s FLOAT DEFAULT 0 NOT NULL, 
	woken_at FLOAT, 
	moved_to VARCHAR, 
	server INTEGER, 
	every_s FLOAT, 
	whole_at FLOAT, 
	usual_ms FLOAT, 
	speed INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (kind, "key"), 
	FOREIGN KEY(service_id) REFERENCES service (id)
)

CREATE INDEX endpoint_key ON endpoint ("key")

CREATE INDEX endpoint_service ON endpoint (service_id)

CREATE INDEX endpoint_due ON endpoint (due_at) WHERE due_at IS NOT NULL

CREATE INDEX endpoint_moved ON endpoint (moved_to) WHERE moved_to IS NOT NULL

CREATE INDEX endpoint_server ON endpoint (server)

CREATE TABLE layer (
	service_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	parent INTEGER, 
	name VARCHAR NOT NULL, 
	title VARCHAR NOT NULL, 
	abstract VARCHAR NOT NULL, 
	crs VARCHAR NOT NULL, 
	styles VARCHAR NOT NULL, 
	keywords VARCHAR NOT NULL, 
	queryable INTEGER NOT NULL, 
	west FLOAT, 
	south FLOAT, 
	east FLOAT, 
	north FLOAT, 
	item VARCHAR DEFAULT 'layer' NOT NULL, 
	formats VARCHAR DEFAULT '[]' NOT NULL, 
	time_start FLOAT, 
	time_end FLOAT, 
	time_step VARCHAR DEFAULT '' NOT NULL, 
	min_scale FLOAT, 
	max_scale FLOAT, 
	fields VARCHAR DEFAULT '[]' NOT NULL, 
	licence VARCHAR DEFAULT '' NOT NULL, 
	language VARCHAR DEFAULT '' NOT NULL, 
	PRIMARY KEY (service_id, position), 
	FOREIGN KEY(service_id) REFERENCES service (id)
)

CREATE TABLE notice (
	id INTEGER NOT NULL, 
	watch_id INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	what VARCHAR NOT NULL, 
	service_id INTEGER NOT NULL, 
	detail VARCHAR NOT NULL, 
	sent_at FLOAT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(watch_id) REFERENCES watch (id)
)

CREATE INDEX notice_watch ON notice (watch_id, sent_at)

CREATE TABLE source_list (
	id INTEGER NOT NULL, 
	source_id INTEGER NOT NULL, 
	"key" INTEGER NOT NULL, 
	address VARCHAR NOT NULL, 
	slice VARCHAR DEFAULT '' NOT NULL, 
	next_key INTEGER, 
	stated INTEGER, 
	read INTEGER DEFAULT 0 NOT NULL, 
	digest INTEGER, 
	reason VARCHAR DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(source_id) REFERENCES source (id), 
	UNIQUE ("key")
)

CREATE INDEX source_list_source ON source_list (source_id)

CREATE INDEX source_list_next ON source_list (next_key)

CREATE TABLE source_record (
	source_id INTEGER NOT NULL, 
	"key" INTEGER NOT NULL, 
	PRIMARY KEY (source_id, "key"), 
	FOREIGN KEY(source_id) REFERENCES source (id)
)
 WITHOUT ROWID

CREATE TABLE source_service (
	source_id INTEGER NOT NULL, 
	endpoint_id INTEGER NOT NULL, 
	is_new INTEGER NOT NULL, 
	PRIMARY KEY (source_id, endpoint_id), 
	FOREIGN KEY(source_id) REFERENCES source (id)
)
 WITHOUT ROWID

CREATE TABLE change (
	id INTEGER NOT NULL, 
	endpoint_id INTEGER NOT NULL, 
	service_id INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	what VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	"before" VARCHAR NOT NULL, 
	"after" VARCHAR NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
)

CREATE INDEX change_at ON change (at)

CREATE INDEX change_service ON change (service_id, at)

CREATE INDEX change_endpoint ON change (endpoint_id, at)

CREATE TABLE description (
	endpoint_id INTEGER NOT NULL, 
	"key" VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	family VARCHAR NOT NULL, 
	fingerprint VARCHAR NOT NULL, 
	items VARCHAR NOT NULL, 
	telling INTEGER NOT NULL, 
	calls_itself VARCHAR NOT NULL, 
	provider VARCHAR NOT NULL, 
	PRIMARY KEY (endpoint_id), 
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
)

CREATE INDEX description_fingerprint ON description (kind, fingerprint)

CREATE INDEX description_family ON description (kind, family)

CREATE TABLE evidence (
	id INTEGER NOT NULL, 
	endpoint_id INTEGER NOT NULL, 
	signal VARCHAR NOT NULL, 
	page VARCHAR NOT NULL, 
	link VARCHAR NOT NULL, 
	anchor VARCHAR NOT NULL, 
	at FLOAT NOT NULL, 
	masked_page VARCHAR, 
	time_start FLOAT, 
	time_end FLOAT, 
	PRIMARY KEY (id), 
	UNIQUE (endpoint_id, page, link), 
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
)

CREATE TABLE health_event (
	id INTEGER NOT NULL, 
	endpoint_id INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	"before" VARCHAR NOT NULL, 
	"after" VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
)

CREATE INDEX health_event_endpoint ON health_event (endpoint_id, at)

CREATE INDEX health_event_at ON health_event (at)

CREATE TABLE probe (
	id INTEGER NOT NULL, 
	endpoint_id INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	status VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	detail VARCHAR NOT NULL, 
	http_status INTEGER, 
	content_type VARCHAR NOT NULL, 
	first_bytes VARCHAR NOT NULL, 
	elapsed_ms FLOAT NOT NULL, 
	requests INTEGER NOT NULL, 
	deviations VARCHAR NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
)

CREATE INDEX probe_endpoint ON probe (endpoint_id, at, status)

CREATE TABLE probe_sum (
	endpoint_id INTEGER NOT NULL, 
	start FLOAT NOT NULL, 
	first_at FLOAT NOT NULL, 
	last_at FLOAT NOT NULL, 
	is_last_valid INTEGER NOT NULL, 
	probes INTEGER NOT NULL, 
	valid INTEGER NOT NULL, 
	known_s FLOAT NOT NULL, 
	up_s FLOAT NOT NULL, 
	refused INTEGER NOT NULL, 
	unconfirmed INTEGER NOT NULL, 
	timed INTEGER NOT NULL, 
	total_ms FLOAT NOT NULL, 
	times VARCHAR NOT NULL, 
	is_last_excused INTEGER DEFAULT 0 NOT NULL, 
	PRIMARY KEY (endpoint_id, start), 
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
)
 WITHOUT ROWID

CREATE TABLE proof (
	endpoint_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	layer VARCHAR NOT NULL, 
	crs VARCHAR NOT NULL, 
	outcome VARCHAR NOT NULL, 
	elapsed_ms FLOAT NOT NULL, 
	detail VARCHAR NOT NULL, 
	url VARCHAR NOT NULL, 
	zoom INTEGER, 
	PRIMARY KEY (endpoint_id, position), 
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
)

CREATE TABLE same_service (
	first_id INTEGER NOT NULL, 
	second_id INTEGER NOT NULL, 
	signal VARCHAR NOT NULL, 
	detail VARCHAR NOT NULL, 
	same INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	PRIMARY KEY (first_id, second_id, signal), 
	FOREIGN KEY(first_id) REFERENCES endpoint (id), 
	FOREIGN KEY(second_id) REFERENCES endpoint (id)
)

CREATE INDEX same_service_second ON same_service (second_id)

CREATE TABLE thumbnail (
	endpoint_id INTEGER NOT NULL, 
	at FLOAT NOT NULL, 
	image BLOB NOT NULL, 
	PRIMARY KEY (endpoint_id), 
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
)

CREATE TABLE url (
	id INTEGER NOT NULL, 
	"key" BIGINT NOT NULL, 
	address VARCHAR NOT NULL, 
	purpose VARCHAR NOT NULL, 
	host_id INTEGER NOT NULL, 
	state VARCHAR NOT NULL, 
	reason VARCHAR, 
	depth INTEGER NOT NULL, 
	tier INTEGER NOT NULL, 
	score FLOAT NOT NULL, 
	found_on INTEGER, 
	anchor VARCHAR, 
	found_in VARCHAR, 
	hops INTEGER DEFAULT '0' NOT NULL, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	endpoint_id INTEGER, 
	retry_at FLOAT, 
	first_seen FLOAT NOT NULL, 
	settled_at FLOAT, 
	http_status INTEGER, 
	content_type VARCHAR, 
	size_bytes INTEGER, 
	elapsed_ms FLOAT, 
	title VARCHAR, 
	relevance INTEGER, 
	page_score FLOAT, 
	digest INTEGER, 
	changes INTEGER DEFAULT 0 NOT NULL, 
	revisit_s FLOAT, 
	revisit_at FLOAT, 
	kills INTEGER DEFAULT 0 NOT NULL, 
	sub_queue INTEGER, 
	visit_tier INTEGER, 
	led INTEGER, 
	PRIMARY KEY (id), 
	UNIQUE ("key"), 
	FOREIGN KEY(host_id) REFERENCES host (id), 
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
)

CREATE INDEX url_queue ON url (host_id, tier DESC, score DESC) WHERE state = 'waiting'

CREATE INDEX url_retry ON url (purpose, retry_at) WHERE retry_at IS NOT NULL

CREATE INDEX url_endpoint ON url (endpoint_id) WHERE endpoint_id IS NOT NULL

CREATE INDEX url_failed ON url (settled_at) WHERE state = 'failed'

CREATE INDEX url_seed ON url (id) WHERE depth = 0

CREATE INDEX url_revisit ON url (revisit_at) WHERE revisit_at IS NOT NULL

CREATE TABLE page_store (
	url_id INTEGER NOT NULL, 
	score FLOAT NOT NULL, 
	stored_at FLOAT NOT NULL, 
	encoding VARCHAR NOT NULL, 
	size_bytes INTEGER NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (url_id), 
	FOREIGN KEY(url_id) REFERENCES url (id)
)

CREATE INDEX page_store_worst ON page_store (score, url_id)

CREATE TABLE validator (
	url_id INTEGER NOT NULL, 
	address VARCHAR NOT NULL, 
	etag VARCHAR NOT NULL, 
	modified VARCHAR NOT NULL, 
	read_at FLOAT NOT NULL, 
	PRIMARY KEY (url_id), 
	FOREIGN KEY(url_id) REFERENCES url (id)
)

CREATE VIRTUAL TABLE search_text USING fts5(title, keywords, layers, abstract, provider, found, address, tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'")

CREATE VIRTUAL TABLE search_word USING fts5vocab(search_text, row)

CREATE TRIGGER search_service_written AFTER UPDATE ON service BEGIN DELETE FROM search_change WHERE service_id = new.id; INSERT INTO search_change (service_id) VALUES (new.id); END

CREATE TRIGGER search_service_deleted AFTER DELETE ON service BEGIN DELETE FROM search_change WHERE service_id = old.id; INSERT INTO search_change (service_id) VALUES (old.id); END

CREATE TRIGGER search_entry_added AFTER INSERT ON search_entry BEGIN DELETE FROM search_change WHERE service_id = new.service_id; INSERT INTO search_change (service_id) VALUES (new.service_id); END

CREATE TRIGGER search_entry_written AFTER UPDATE ON search_entry BEGIN DELETE FROM search_change WHERE service_id = new.service_id; INSERT INTO search_change (service_id) VALUES (new.service_id); END

CREATE TRIGGER search_endpoint_written AFTER UPDATE OF service_id, status, health, level, url, deviations ON endpoint WHEN new.service_id IS NOT NULL BEGIN DELETE FROM search_change WHERE service_id = new.service_id; INSERT INTO search_change (service_id) VALUES (new.service_id); END

CREATE TRIGGER search_endpoint_moved AFTER UPDATE OF service_id ON endpoint WHEN old.service_id IS NOT NULL AND old.service_id IS NOT new.service_id BEGIN DELETE FROM search_change WHERE service_id = old.service_id; INSERT INTO search_change (service_id) VALUES (old.service_id); END

CREATE TRIGGER search_endpoint_deleted AFTER DELETE ON endpoint WHEN old.service_id IS NOT NULL BEGIN DELETE FROM search_change WHERE service_id = old.service_id; INSERT INTO search_change (service_id) VALUES (old.service_id); END

CREATE VIEW v_services AS SELECT service.id AS id, service.kind AS kind, service.title AS title, service.abstract AS abstract, service.provider AS provider, service.keywords AS keywords, service.version AS version, service.formats AS formats, coalesce(best.masked_url, '') AS url, coalesce(best.host, '') AS host, coalesce(best.site, service.site) AS site, service.masked_online_resource AS online_resource, service.layer_count AS layers, CAST(EXISTS (SELECT * 
FROM endpoint 
WHERE endpoint.service_id = service.id AND endpoint.status = 'valid' AND endpoint.health != 'unconfirmed') AS INTEGER) AS alive, coalesce(best.health, 'new') AS health, coalesce((SELECT max(endpoint.level) AS max_1 
FROM endpoint 
WHERE endpoint.service_id = service.id AND endpoint.status = 'valid'), '') AS level, best.https AS https, coalesce(best.cors, '') AS cors, service.fees AS fees, service.access_constraints AS access_constraints, (SELECT count(*) AS count_1 
FROM endpoint 
WHERE endpoint.service_id = service.id) AS endpoints, (SELECT json_group_array((deviation.value ->> 'code')) AS anon_1 
FROM json_each(coalesce(best.deviations, '[]')) AS deviation) AS deviations, service.west AS west, service.south AS south, service.east AS east, service.north AS north, strftime('%Y-%m-%dT%H:%M:%SZ', service.first_seen, 'unixepoch') AS first_seen, strftime('%Y-%m-%dT%H:%M:%SZ', service.last_ok, 'unixepoch') AS last_ok, strftime('%Y-%m-%dT%H:%M:%SZ', best.last_probe, 'unixepoch') AS last_probe, coalesce(search_entry.country, '') AS country, service.contact AS contact, (SELECT CASE WHEN (sum(verdicts.probes) > 1 AND max(verdicts.last_at) - min(verdicts.first_at) >= 3600.0) THEN (sum(verdicts.valid) * 1.0) / (sum(verdicts.probes) + 0.0) END AS anon_2 
FROM (SELECT probe.at AS first_at, probe.at AS last_at, 1 AS probes, CAST(probe.status = 'valid' AS INTEGER) AS valid, CAST(probe.status = 'valid' AND probe.reason != 'not-modified' AS INTEGER) AS timed, CASE WHEN (probe.status = 'valid' AND probe.reason != 'not-modified') THEN probe.elapsed_ms ELSE 0.0 END AS total_ms 
FROM probe 
WHERE probe.endpoint_id = best.id AND probe.status != 'unasked' UNION ALL SELECT probe_sum.first_at AS first_at, probe_sum.last_at AS last_at, probe_sum.probes AS probes, probe_sum.valid AS valid, probe_sum.timed AS timed, probe_sum.total_ms AS total_ms 
FROM probe_sum 
WHERE probe_sum.endpoint_id = best.id AND probe_sum.probes > 0) AS verdicts) AS availability, (SELECT CASE WHEN (sum(verdicts.timed) > 1) THEN sum(verdicts.total_ms) / (sum(verdicts.timed) + 0.0) END AS anon_3 
FROM (SELECT probe.at AS first_at, probe.at AS last_at, 1 AS probes, CAST(probe.status = 'valid' AS INTEGER) AS valid, CAST(probe.status = 'valid' AND probe.reason != 'not-modified' AS INTEGER) AS timed, CASE WHEN (probe.status = 'valid' AND probe.reason != 'not-modified') THEN probe.elapsed_ms ELSE 0.0 END AS total_ms 
FROM probe 
WHERE probe.endpoint_id = best.id AND probe.status != 'unasked' UNION ALL SELECT probe_sum.first_at AS first_at, probe_sum.last_at AS last_at, probe_sum.probes AS probes, probe_sum.valid AS valid, probe_sum.timed AS timed, probe_sum.total_ms AS total_ms 
FROM probe_sum 
WHERE probe_sum.endpoint_id = best.id AND probe_sum.probes > 0) AS verdicts) AS mean_ms, CASE WHEN (lower(best."key") LIKE lower('%/geoserver/%') OR lower(best."key") LIKE lower('%/geowebcache/%')) THEN 'GeoServer' WHEN (lower(best."key") LIKE lower('%/arcgis/%') OR lower(best."key") LIKE lower('%/mapserver/wmsserver%') OR lower(best."key") LIKE lower('%/rest/services/%') OR lower(best."key") LIKE lower('%/wmsserver%')) THEN 'ArcGIS Server' WHEN (lower(best."key") LIKE lower('%qgis_mapserv%') OR lower(best."key") LIKE lower('%/qgis%') OR lower(best."key") LIKE lower('%lizmap%')) THEN 'QGIS Server' WHEN (lower(best."key") LIKE lower('%mapserv%')) THEN 'MapServer' WHEN (lower(best."key") LIKE lower('%/mapproxy%')) THEN 'MapProxy' WHEN (lower(best."key") LIKE lower('%/mapcache%')) THEN 'MapCache' WHEN (lower(best."key") LIKE lower('%deegree%')) THEN 'deegree' WHEN (lower(best."key") LIKE lower('%/iserver/%')) THEN 'SuperMap iServer' WHEN (lower(best."key") LIKE lower('%/igs/rest/%')) THEN 'MapGIS IGServer' WHEN (lower(best."key") LIKE lower('%/thredds/%')) THEN 'THREDDS' WHEN (lower(best."key") LIKE lower('%/geonetwork/%')) THEN 'GeoNetwork' WHEN (lower(best."key") LIKE lower('%erdas-iws%')) THEN 'ERDAS Apollo' WHEN (lower(best."key") LIKE lower('%pygeoapi%')) THEN 'pygeoapi' WHEN (lower(best."key") LIKE lower('%ldproxy%')) THEN 'ldproxy' ELSE '' END AS software, CAST(((coalesce(CASE WHEN (best.level = 'delivers') THEN 1.0 WHEN (best.level = 'answers') THEN 0.5 WHEN (best.level != '') THEN 0.0 END * 25, 0.0) + coalesce(CASE WHEN (best.health = 'alive') THEN 1.0 WHEN (best.health = 'degraded') THEN 0.5 WHEN (best.health = 'unconfirmed') THEN 0.25 WHEN (best.health IN ('down', 'gone')) THEN 0.0 END * 25, 0.0) + coalesce((CASE WHEN (service.title != '') THEN 0.25 ELSE 0.0 END + CASE WHEN (length(service.abstract) >= 120) THEN 0.25 ELSE 0.0 END + CASE WHEN (service.keywords != '[]') THEN 0.25 ELSE 0.0 END + CASE WHEN (service.west IS NOT NULL) THEN 0.25 ELSE 0.0 END) * 15, 0.0) + coalesce(CASE WHEN (coalesce((service.contact ->> 'email'), '') != '' OR coalesce((service.contact ->> 'phone'), '') != '') THEN 1.0 WHEN (service.contact != '{}' OR service.provider != '') THEN 0.5 ELSE 0.0 END * 10, 0.0) + coalesce(CASE WHEN (service.fees != '' OR service.access_constraints != '') THEN 1.0 ELSE 0.0 END * 5, 0.0) + coalesce(coalesce(CAST(best.https AS FLOAT), CASE WHEN (best.url LIKE 'https:%') THEN 1.0 WHEN (best.url LIKE 'http:%') THEN 0.0 END) * 5, 0.0) + coalesce(CASE WHEN (best.cors = '') THEN 0.0 WHEN (best.cors != '') THEN 1.0 END * 5, 0.0) + coalesce(CASE WHEN (best.deviations IS NOT NULL) THEN max(1.0 - ((length(best.deviations) - length(replace(best.deviations, '"code"', ''))) / (6.0 + 0.0)) / (4.0 + 0.0), 0.0) END * 10, 0.0)) * 100.0) / ((CASE WHEN (CASE WHEN (best.level = 'delivers') THEN 1.0 WHEN (best.level = 'answers') THEN 0.5 WHEN (best.level != '') THEN 0.0 END IS NOT NULL) THEN 25 ELSE 0 END + CASE WHEN (CASE WHEN (best.health = 'alive') THEN 1.0 WHEN (best.health = 'degraded') THEN 0.5 WHEN (best.health = 'unconfirmed') THEN 0.25 WHEN (best.health IN ('down', 'gone')) THEN 0.0 END IS NOT NULL) THEN 25 ELSE 0 END + CASE WHEN (CASE WHEN (service.title != '') THEN 0.25 ELSE 0.0 END + CASE WHEN (length(service.abstract) >= 120) THEN 0.25 ELSE 0.0 END + CASE WHEN (service.keywords != '[]') THEN 0.25 ELSE 0.0 END + CASE WHEN (service.west IS NOT NULL) THEN 0.25 ELSE 0.0 END IS NOT NULL) THEN 15 ELSE 0 END + CASE WHEN (CASE WHEN (coalesce((service.contact ->> 'email'), '') != '' OR coalesce((service.contact ->> 'phone'), '') != '') THEN 1.0 WHEN (service.contact != '{}' OR service.provider != '') THEN 0.5 ELSE 0.0 END IS NOT NULL) THEN 10 ELSE 0 END + CASE WHEN (CASE WHEN (service.fees != '' OR service.access_constraints != '') THEN 1.0 ELSE 0.0 END IS NOT NULL) THEN 5 ELSE 0 END + CASE WHEN (coalesce(CAST(best.https AS FLOAT), CASE WHEN (best.url LIKE 'https:%') THEN 1.0 WHEN (best.url LIKE 'http:%') THEN 0.0 END) IS NOT NULL) THEN 5 ELSE 0 END + CASE WHEN (CASE WHEN (best.cors = '') THEN 0.0 WHEN (best.cors != '') THEN 1.0 END IS NOT NULL) THEN 5 ELSE 0 END + CASE WHEN (CASE WHEN (best.deviations IS NOT NULL) THEN max(1.0 - ((length(best.deviations) - length(replace(best.deviations, '"code"', ''))) / (6.0 + 0.0)) / (4.0 + 0.0), 0.0) END IS NOT NULL) THEN 10 ELSE 0 END) + 0.0) + 0.5 AS INTEGER) AS quality, (SELECT json_group_array(twins.id) AS anon_4 
FROM (SELECT twin_service.id AS id 
FROM endpoint AS twin JOIN service AS twin_service ON twin_service.id = twin.service_id 
WHERE twin_service.best_id = twin.id AND twin.server = best.server AND twin_service.id != best.service_id ORDER BY twin_service.id) AS twins) AS twins, coalesce((SELECT coalesce(evidence.masked_page, evidence.page) AS coalesce_1 
FROM evidence JOIN endpoint AS named ON named.id = evidence.endpoint_id 
WHERE (named.id = best.id OR named.service_id = best.service_id) AND evidence.page LIKE 'http%' AND evidence.page != named.url AND (evidence.signal NOT IN ('document', 'redirect', 'sibling')) AND evidence.signal NOT LIKE 'guess:%' ORDER BY evidence.signal = 'answer', length(evidence.page), evidence.page
 LIMIT 1 OFFSET 0), '') AS page, service.licence AS licence, service.language AS language, strftime('%Y-%m-%dT%H:%M:%SZ', service.time_start, 'unixepoch') AS time_start, strftime('%Y-%m-%dT%H:%M:%SZ', service.time_end, 'unixepoch') AS time_end 
FROM service LEFT OUTER JOIN endpoint AS best ON best.id = coalesce(service.best_id, (SELECT endpoint.id 
FROM endpoint 
WHERE endpoint.service_id = service.id ORDER BY endpoint.status = 'valid' DESC NULLS LAST, endpoint.id
 LIMIT 1 OFFSET 0)) LEFT OUTER JOIN search_entry ON search_entry.service_id = service.id

CREATE VIEW v_layers AS SELECT layer.service_id AS service_id, layer.position AS position, layer.parent AS parent, layer.item AS item, layer.name AS name, layer.title AS title, layer.abstract AS abstract, layer.keywords AS keywords, layer.crs AS crs, layer.styles AS styles, layer.formats AS formats, layer.queryable AS queryable, layer.west AS west, layer.south AS south, layer.east AS east, layer.north AS north, service.kind AS kind, service.title AS service, strftime('%Y-%m-%dT%H:%M:%SZ', layer.time_start, 'unixepoch') AS time_start, strftime('%Y-%m-%dT%H:%M:%SZ', layer.time_end, 'unixepoch') AS time_end, layer.time_step AS time_step, layer.min_scale AS min_scale, layer.max_scale AS max_scale, layer.fields AS fields, layer.licence AS licence, layer.language AS language 
FROM layer JOIN service ON service.id = layer.service_id

CREATE VIEW v_health AS SELECT endpoint.id AS endpoint_id, endpoint.service_id AS service_id, endpoint.kind AS kind, endpoint.masked_url AS url, endpoint.host AS host, endpoint.site AS site, endpoint.status AS status, endpoint.reason AS reason, endpoint.http_status AS http_status, endpoint.health AS health, strftime('%Y-%m-%dT%H:%M:%SZ', endpoint.health_since, 'unixepoch') AS health_since, endpoint.in_a_row AS in_a_row, endpoint.probes AS probes, (SELECT CASE WHEN (sum(verdicts.probes) > 1 AND max(verdicts.last_at) - min(verdicts.first_at) >= 3600.0) THEN (sum(verdicts.valid) * 1.0) / (sum(verdicts.probes) + 0.0) END AS anon_1 
FROM (SELECT probe.at AS first_at, probe.at AS last_at, 1 AS probes, CAST(probe.status = 'valid' AS INTEGER) AS valid, CAST(probe.status = 'valid' AND probe.reason != 'not-modified' AS INTEGER) AS timed, CASE WHEN (probe.status = 'valid' AND probe.reason != 'not-modified') THEN probe.elapsed_ms ELSE 0.0 END AS total_ms 
FROM probe 
WHERE probe.endpoint_id = endpoint.id AND probe.status != 'unasked' UNION ALL SELECT probe_sum.first_at AS first_at, probe_sum.last_at AS last_at, probe_sum.probes AS probes, probe_sum.valid AS valid, probe_sum.timed AS timed, probe_sum.total_ms AS total_ms 
FROM probe_sum 
WHERE probe_sum.endpoint_id = endpoint.id AND probe_sum.probes > 0) AS verdicts) AS valid_share, (SELECT CASE WHEN (sum(verdicts.timed) > 1) THEN sum(verdicts.total_ms) / (sum(verdicts.timed) + 0.0) END AS anon_2 
FROM (SELECT probe.at AS first_at, probe.at AS last_at, 1 AS probes, CAST(probe.status = 'valid' AS INTEGER) AS valid, CAST(probe.status = 'valid' AND probe.reason != 'not-modified' AS INTEGER) AS timed, CASE WHEN (probe.status = 'valid' AND probe.reason != 'not-modified') THEN probe.elapsed_ms ELSE 0.0 END AS total_ms 
FROM probe 
WHERE probe.endpoint_id = endpoint.id AND probe.status != 'unasked' UNION ALL SELECT probe_sum.first_at AS first_at, probe_sum.last_at AS last_at, probe_sum.probes AS probes, probe_sum.valid AS valid, probe_sum.timed AS timed, probe_sum.total_ms AS total_ms 
FROM probe_sum 
WHERE probe_sum.endpoint_id = endpoint.id AND probe_sum.probes > 0) AS verdicts) AS mean_ms, coalesce(endpoint.level, '') AS level, strftime('%Y-%m-%dT%H:%M:%SZ', endpoint.first_seen, 'unixepoch') AS first_seen, strftime('%Y-%m-%dT%H:%M:%SZ', endpoint.last_probe, 'unixepoch') AS last_probe, strftime('%Y-%m-%dT%H:%M:%SZ', endpoint.last_ok, 'unixepoch') AS last_ok, strftime('%Y-%m-%dT%H:%M:%SZ', endpoint.due_at, 'unixepoch') AS next_probe 
FROM endpoint 
WHERE endpoint.status IS NOT NULL AND (endpoint.weak < 2 OR endpoint.last_ok IS NOT NULL)
