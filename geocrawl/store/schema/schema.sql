CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE alike (
	"key" INTEGER NOT NULL,
	services INTEGER NOT NULL,
	PRIMARY KEY ("key")
);

CREATE TABLE blocked (
	host VARCHAR NOT NULL,
	reason VARCHAR NOT NULL,
	at FLOAT NOT NULL,
	PRIMARY KEY (host)
)
 WITHOUT ROWID;

CREATE TABLE counter (
	name VARCHAR NOT NULL,
	value INTEGER NOT NULL,
	PRIMARY KEY (name)
)
 WITHOUT ROWID;

CREATE TABLE daily (
	day VARCHAR NOT NULL,
	name VARCHAR NOT NULL,
	value INTEGER NOT NULL,
	PRIMARY KEY (day, name)
)
 WITHOUT ROWID;

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
	PRIMARY KEY (id),
	UNIQUE (name)
);

CREATE INDEX host_ready ON host (parked, best_tier DESC, best_score DESC, turn, next_at) WHERE waiting > 0 AND lease_until = 0;

CREATE INDEX host_rest ON host (parked, next_at) WHERE waiting > 0 AND lease_until = 0;

CREATE INDEX host_leased ON host (lease_until) WHERE lease_until > 0;

CREATE TABLE ip_place (
	ip VARCHAR NOT NULL,
	slot INTEGER NOT NULL,
	begins_at FLOAT NOT NULL,
	until FLOAT NOT NULL,
	owner VARCHAR NOT NULL,
	PRIMARY KEY (ip, slot)
)
 WITHOUT ROWID;

CREATE INDEX ip_place_begins ON ip_place (begins_at);

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
);

CREATE TABLE meta (
	name VARCHAR NOT NULL,
	value BLOB NOT NULL,
	PRIMARY KEY (name)
);

CREATE TABLE outlinks (
	url_id INTEGER NOT NULL,
	links BLOB NOT NULL,
	PRIMARY KEY (url_id)
);

CREATE TABLE pattern (
	"key" INTEGER NOT NULL,
	fruitless INTEGER NOT NULL,
	finds INTEGER NOT NULL,
	last_relevance INTEGER NOT NULL,
	late INTEGER DEFAULT 0 NOT NULL,
	PRIMARY KEY ("key")
);

CREATE TABLE query_group (
	"key" INTEGER NOT NULL,
	seen INTEGER NOT NULL,
	PRIMARY KEY ("key")
);

CREATE TABLE robots (
	origin VARCHAR NOT NULL,
	status INTEGER,
	body VARCHAR,
	fetched_at FLOAT NOT NULL,
	expires_at FLOAT NOT NULL,
	PRIMARY KEY (origin)
);

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
);

CREATE TABLE search_change (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
	service_id INTEGER NOT NULL,
	UNIQUE (service_id)
);

CREATE TABLE search_entry (
	service_id INTEGER NOT NULL,
	systems INTEGER NOT NULL,
	formats INTEGER NOT NULL,
	country VARCHAR NOT NULL,
	title_words INTEGER NOT NULL,
	words INTEGER NOT NULL,
	completeness INTEGER NOT NULL,
	evidence INTEGER NOT NULL,
	PRIMARY KEY (service_id)
);

CREATE TABLE search_list (
	id INTEGER NOT NULL,
	digest VARCHAR NOT NULL,
	items VARCHAR NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (digest)
);

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
 WITHOUT ROWID;

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
	PRIMARY KEY (id)
);

CREATE INDEX service_same ON service (kind, fingerprint, site);

CREATE TABLE site (
	name VARCHAR NOT NULL,
	hosts INTEGER NOT NULL,
	held_at FLOAT,
	held_for VARCHAR NOT NULL,
	released INTEGER NOT NULL,
	PRIMARY KEY (name)
)
 WITHOUT ROWID;

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
	PRIMARY KEY (id)
);

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
	PRIMARY KEY (id),
	UNIQUE (kind, "key"),
	FOREIGN KEY(service_id) REFERENCES service (id)
);

CREATE INDEX endpoint_key ON endpoint ("key");

CREATE INDEX endpoint_service ON endpoint (service_id);

CREATE INDEX endpoint_due ON endpoint (due_at) WHERE due_at IS NOT NULL;

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
	PRIMARY KEY (service_id, position),
	FOREIGN KEY(service_id) REFERENCES service (id)
);

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
);

CREATE INDEX notice_watch ON notice (watch_id, sent_at);

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
);

CREATE INDEX change_at ON change (at);

CREATE INDEX change_service ON change (service_id, at);

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
);

CREATE INDEX description_fingerprint ON description (kind, fingerprint);

CREATE INDEX description_family ON description (kind, family);

CREATE TABLE evidence (
	id INTEGER NOT NULL,
	endpoint_id INTEGER NOT NULL,
	signal VARCHAR NOT NULL,
	page VARCHAR NOT NULL,
	link VARCHAR NOT NULL,
	anchor VARCHAR NOT NULL,
	at FLOAT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (endpoint_id, page, link),
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
);

CREATE TABLE health_event (
	id INTEGER NOT NULL,
	endpoint_id INTEGER NOT NULL,
	at FLOAT NOT NULL,
	"before" VARCHAR NOT NULL,
	"after" VARCHAR NOT NULL,
	reason VARCHAR NOT NULL,
	PRIMARY KEY (id),
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
);

CREATE INDEX health_event_endpoint ON health_event (endpoint_id, at);

CREATE INDEX health_event_at ON health_event (at);

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
);

CREATE INDEX probe_endpoint ON probe (endpoint_id, at);

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
);

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
);

CREATE INDEX same_service_second ON same_service (second_id);

CREATE TABLE thumbnail (
	endpoint_id INTEGER NOT NULL,
	at FLOAT NOT NULL,
	image BLOB NOT NULL,
	PRIMARY KEY (endpoint_id),
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
);

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
	PRIMARY KEY (id),
	UNIQUE ("key"),
	FOREIGN KEY(host_id) REFERENCES host (id),
	FOREIGN KEY(endpoint_id) REFERENCES endpoint (id)
);

CREATE INDEX url_queue ON url (host_id, tier DESC, score DESC) WHERE state = 'waiting';

CREATE INDEX url_retry ON url (purpose, retry_at) WHERE retry_at IS NOT NULL;

CREATE INDEX url_endpoint ON url (endpoint_id) WHERE endpoint_id IS NOT NULL;

CREATE INDEX url_failed ON url (settled_at) WHERE state = 'failed';

CREATE INDEX url_seed ON url (id) WHERE depth = 0;

CREATE INDEX url_revisit ON url (revisit_at) WHERE revisit_at IS NOT NULL;

CREATE TABLE page_store (
	url_id INTEGER NOT NULL,
	score FLOAT NOT NULL,
	stored_at FLOAT NOT NULL,
	encoding VARCHAR NOT NULL,
	size_bytes INTEGER NOT NULL,
	body BLOB NOT NULL,
	PRIMARY KEY (url_id),
	FOREIGN KEY(url_id) REFERENCES url (id)
);

CREATE INDEX page_store_worst ON page_store (score, url_id);

CREATE TABLE validator (
	url_id INTEGER NOT NULL,
	address VARCHAR NOT NULL,
	etag VARCHAR NOT NULL,
	modified VARCHAR NOT NULL,
	read_at FLOAT NOT NULL,
	PRIMARY KEY (url_id),
	FOREIGN KEY(url_id) REFERENCES url (id)
);

CREATE VIRTUAL TABLE search_text USING fts5(
	title, keywords, layers, abstract, provider, found, address,
	tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'"
);

CREATE VIRTUAL TABLE search_word USING fts5vocab(search_text, row);

CREATE TRIGGER search_service_written AFTER UPDATE ON service BEGIN DELETE FROM search_change WHERE service_id = new.id; INSERT INTO search_change (service_id) VALUES (new.id); END;

CREATE TRIGGER search_service_deleted AFTER DELETE ON service BEGIN DELETE FROM search_change WHERE service_id = old.id; INSERT INTO search_change (service_id) VALUES (old.id); END;

CREATE TRIGGER search_entry_added AFTER INSERT ON search_entry BEGIN DELETE FROM search_change WHERE service_id = new.service_id; INSERT INTO search_change (service_id) VALUES (new.service_id); END;

CREATE TRIGGER search_entry_written AFTER UPDATE ON search_entry BEGIN DELETE FROM search_change WHERE service_id = new.service_id; INSERT INTO search_change (service_id) VALUES (new.service_id); END;

CREATE TRIGGER search_endpoint_written AFTER UPDATE OF service_id, status, health, level, url, deviations ON endpoint WHEN new.service_id IS NOT NULL BEGIN DELETE FROM search_change WHERE service_id = new.service_id; INSERT INTO search_change (service_id) VALUES (new.service_id); END;

CREATE TRIGGER search_endpoint_moved AFTER UPDATE OF service_id ON endpoint WHEN old.service_id IS NOT NULL AND old.service_id IS NOT new.service_id BEGIN DELETE FROM search_change WHERE service_id = old.service_id; INSERT INTO search_change (service_id) VALUES (old.service_id); END;

CREATE TRIGGER search_endpoint_deleted AFTER DELETE ON endpoint WHEN old.service_id IS NOT NULL BEGIN DELETE FROM search_change WHERE service_id = old.service_id; INSERT INTO search_change (service_id) VALUES (old.service_id); END;

CREATE VIEW v_services AS SELECT
	s.id AS id,
	s.kind AS kind,
	s.title AS title,
	s.abstract AS abstract,
	s.provider AS provider,
	s.keywords AS keywords,
	s.version AS version,
	s.formats AS formats,
	coalesce(e.masked_url, '') AS url,
	coalesce(e.host, '') AS host,
	coalesce(e.site, s.site) AS site,
	s.masked_online_resource AS online_resource,
	s.layer_count AS layers,
	EXISTS (SELECT 1 FROM endpoint v WHERE v.service_id = s.id AND v.status = 'valid') AS alive,
	coalesce(e.health, 'new') AS health,
	coalesce((SELECT max(v.level) FROM endpoint v WHERE v.service_id = s.id AND v.status = 'valid'), '') AS level,
	e.https AS https,
	coalesce(e.cors, '') AS cors,
	s.fees AS fees,
	s.access_constraints AS access_constraints,
	(SELECT count(*) FROM endpoint v WHERE v.service_id = s.id) AS endpoints,
	(SELECT json_group_array(d.value ->> '$.code') FROM json_each(coalesce(e.deviations, '[]')) d) AS deviations,
	s.west AS west,
	s.south AS south,
	s.east AS east,
	s.north AS north,
	strftime('%Y-%m-%dT%H:%M:%SZ', s.first_seen, 'unixepoch') AS first_seen,
	strftime('%Y-%m-%dT%H:%M:%SZ', s.last_ok, 'unixepoch') AS last_ok,
	strftime('%Y-%m-%dT%H:%M:%SZ', e.last_probe, 'unixepoch') AS last_probe
FROM service s LEFT JOIN endpoint e ON e.id = coalesce(s.best_id, (SELECT v.id FROM endpoint v WHERE v.service_id = s.id ORDER BY v.status = 'valid' DESC, v.id LIMIT 1));

CREATE VIEW v_layers AS SELECT
	l.service_id AS service_id,
	l.position AS position,
	l.parent AS parent,
	l.item AS item,
	l.name AS name,
	l.title AS title,
	l.abstract AS abstract,
	l.keywords AS keywords,
	l.crs AS crs,
	l.styles AS styles,
	l.formats AS formats,
	l.queryable AS queryable,
	l.west AS west,
	l.south AS south,
	l.east AS east,
	l.north AS north,
	s.kind AS kind,
	s.title AS service
FROM layer l JOIN service s ON s.id = l.service_id;

CREATE VIEW v_health AS SELECT
	e.id AS endpoint_id,
	e.service_id AS service_id,
	e.kind AS kind,
	e.masked_url AS url,
	e.host AS host,
	e.site AS site,
	e.status AS status,
	e.reason AS reason,
	e.http_status AS http_status,
	e.health AS health,
	strftime('%Y-%m-%dT%H:%M:%SZ', e.health_since, 'unixepoch') AS health_since,
	e.in_a_row AS in_a_row,
	e.probes AS probes,
	(SELECT avg(p.status = 'valid') FROM probe p WHERE p.endpoint_id = e.id) AS valid_share,
	(SELECT avg(p.elapsed_ms) FROM probe p WHERE p.endpoint_id = e.id AND p.status = 'valid' AND p.reason <> 'not-modified') AS mean_ms,
	coalesce(e.level, '') AS level,
	strftime('%Y-%m-%dT%H:%M:%SZ', e.first_seen, 'unixepoch') AS first_seen,
	strftime('%Y-%m-%dT%H:%M:%SZ', e.last_probe, 'unixepoch') AS last_probe,
	strftime('%Y-%m-%dT%H:%M:%SZ', e.last_ok, 'unixepoch') AS last_ok,
	strftime('%Y-%m-%dT%H:%M:%SZ', e.due_at, 'unixepoch') AS next_probe
FROM endpoint e WHERE e.status IS NOT NULL AND (e.weak < 2 OR e.last_ok IS NOT NULL)
