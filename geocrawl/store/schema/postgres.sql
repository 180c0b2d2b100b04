CREATE TABLE alembic_version (version_num text PRIMARY KEY);

CREATE TABLE alike (
	key BIGINT NOT NULL,
	services BIGINT NOT NULL,
	PRIMARY KEY (key)
);

CREATE TABLE blocked (
	host TEXT COLLATE "C" NOT NULL,
	reason TEXT COLLATE "C" NOT NULL,
	at FLOAT NOT NULL,
	PRIMARY KEY (host)
);

CREATE TABLE counter (
	name TEXT COLLATE "C" NOT NULL,
	value BIGINT NOT NULL,
	PRIMARY KEY (name)
);

CREATE TABLE daily (
	day TEXT COLLATE "C" NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	value BIGINT NOT NULL,
	PRIMARY KEY (day, name)
);

CREATE TABLE host (
	id BIGINT NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	next_at FLOAT DEFAULT '0' NOT NULL,
	errors BIGINT DEFAULT '0' NOT NULL,
	last_error_at FLOAT DEFAULT '0' NOT NULL,
	crawl_delay_s FLOAT,
	parked BIGINT DEFAULT '0' NOT NULL,
	waiting BIGINT DEFAULT '0' NOT NULL,
	best_tier BIGINT DEFAULT '0' NOT NULL,
	best_score FLOAT DEFAULT '0' NOT NULL,
	turn BIGINT DEFAULT '0' NOT NULL,
	pages BIGINT DEFAULT '0' NOT NULL,
	lease_until FLOAT DEFAULT '0' NOT NULL,
	lease_token BIGINT DEFAULT '0' NOT NULL,
	lease_url BIGINT,
	lease_owner TEXT COLLATE "C",
	asked_day BIGINT DEFAULT 0 NOT NULL,
	asked BIGINT DEFAULT 0 NOT NULL,
	troubled_at FLOAT DEFAULT 0 NOT NULL,
	troubled_address TEXT COLLATE "C" DEFAULT '' NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (name)
);

CREATE INDEX host_leased ON host (lease_until) WHERE lease_until > 0;

CREATE INDEX host_ready ON host (parked, best_tier DESC, best_score DESC, turn, next_at, id) WHERE waiting > 0 AND lease_until = 0;

CREATE INDEX host_rest ON host (parked, next_at) WHERE waiting > 0 AND lease_until = 0;

CREATE TABLE ip_place (
	ip TEXT COLLATE "C" NOT NULL,
	slot BIGINT NOT NULL,
	begins_at FLOAT NOT NULL,
	until FLOAT NOT NULL,
	owner TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (ip, slot)
);

CREATE INDEX ip_place_begins ON ip_place (begins_at);

CREATE TABLE lesson (
	number BIGSERIAL NOT NULL,
	url_id BIGINT NOT NULL,
	purpose TEXT COLLATE "C" NOT NULL,
	depth INTEGER NOT NULL,
	found_on BIGINT,
	state TEXT COLLATE "C" NOT NULL,
	reason TEXT COLLATE "C" NOT NULL,
	valid BIGINT,
	links BYTEA NOT NULL,
	memo BYTEA NOT NULL,
	PRIMARY KEY (number)
);

CREATE TABLE meta (
	name TEXT COLLATE "C" NOT NULL,
	value BYTEA NOT NULL,
	PRIMARY KEY (name)
);

CREATE TABLE outlinks (
	url_id BIGINT NOT NULL,
	links BYTEA NOT NULL,
	PRIMARY KEY (url_id)
);

CREATE TABLE pattern (
	key BIGINT NOT NULL,
	fruitless BIGINT NOT NULL,
	finds BIGINT NOT NULL,
	last_relevance BIGINT NOT NULL,
	late BIGINT DEFAULT 0 NOT NULL,
	PRIMARY KEY (key)
);

CREATE TABLE query_group (
	key BIGINT NOT NULL,
	seen BIGINT NOT NULL,
	PRIMARY KEY (key)
);

CREATE TABLE robots (
	origin TEXT COLLATE "C" NOT NULL,
	status BIGINT,
	body BYTEA,
	fetched_at FLOAT NOT NULL,
	expires_at FLOAT NOT NULL,
	PRIMARY KEY (origin)
);

CREATE TABLE run (
	id BIGSERIAL NOT NULL,
	started_at FLOAT NOT NULL,
	ended_at FLOAT,
	owner TEXT COLLATE "C" NOT NULL,
	strategy TEXT COLLATE "C" NOT NULL,
	settings TEXT COLLATE "C" NOT NULL,
	pages BIGINT,
	services BIGINT,
	stopped TEXT COLLATE "C",
	PRIMARY KEY (id)
);

CREATE TABLE search_change (
	seq BIGSERIAL NOT NULL,
	service_id BIGINT NOT NULL,
	PRIMARY KEY (seq),
	UNIQUE (service_id)
);

CREATE TABLE search_entry (
	service_id BIGINT NOT NULL,
	systems BIGINT NOT NULL,
	formats BIGINT NOT NULL,
	country TEXT COLLATE "C" NOT NULL,
	title_words BIGINT NOT NULL,
	words BIGINT NOT NULL,
	completeness BIGINT NOT NULL,
	evidence BIGINT NOT NULL,
	PRIMARY KEY (service_id)
);

CREATE TABLE search_list (
	id BIGSERIAL NOT NULL,
	digest TEXT COLLATE "C" NOT NULL,
	items TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (digest)
);

CREATE TABLE seed (
	identity TEXT COLLATE "C" NOT NULL,
	address TEXT COLLATE "C" NOT NULL,
	title TEXT COLLATE "C" NOT NULL,
	region TEXT COLLATE "C" NOT NULL,
	language TEXT COLLATE "C" NOT NULL,
	source TEXT COLLATE "C" NOT NULL,
	added_at FLOAT NOT NULL,
	PRIMARY KEY (identity)
);

CREATE TABLE service (
	id BIGSERIAL NOT NULL,
	kind TEXT COLLATE "C" NOT NULL,
	fingerprint TEXT COLLATE "C" NOT NULL,
	site TEXT COLLATE "C" NOT NULL,
	title TEXT COLLATE "C" NOT NULL,
	abstract TEXT COLLATE "C" NOT NULL,
	keywords TEXT COLLATE "C" NOT NULL,
	provider TEXT COLLATE "C" NOT NULL,
	contact TEXT COLLATE "C" NOT NULL,
	fees TEXT COLLATE "C" NOT NULL,
	access_constraints TEXT COLLATE "C" NOT NULL,
	version TEXT COLLATE "C" NOT NULL,
	formats TEXT COLLATE "C" NOT NULL,
	online_resource TEXT COLLATE "C" NOT NULL,
	layer_count BIGINT NOT NULL,
	west FLOAT,
	south FLOAT,
	east FLOAT,
	north FLOAT,
	first_seen FLOAT NOT NULL,
	last_ok FLOAT NOT NULL,
	best_id BIGINT,
	masked_online_resource TEXT COLLATE "C" DEFAULT '' NOT NULL,
	PRIMARY KEY (id)
);

CREATE INDEX service_same ON service (kind, fingerprint, site);

CREATE TABLE site (
	name TEXT COLLATE "C" NOT NULL,
	hosts BIGINT NOT NULL,
	held_at FLOAT,
	held_for TEXT COLLATE "C" NOT NULL,
	released BIGINT NOT NULL,
	PRIMARY KEY (name)
);

CREATE TABLE watch (
	id BIGSERIAL NOT NULL,
	service_id BIGINT,
	query TEXT COLLATE "C" NOT NULL,
	recipient TEXT COLLATE "C" NOT NULL,
	secret TEXT COLLATE "C" NOT NULL,
	created_at FLOAT NOT NULL,
	known TEXT COLLATE "C" NOT NULL,
	change_id BIGINT NOT NULL,
	sent_at FLOAT,
	failures BIGINT DEFAULT 0 NOT NULL,
	retry_at FLOAT DEFAULT 0 NOT NULL,
	busy_until FLOAT DEFAULT 0 NOT NULL,
	last_error TEXT COLLATE "C" DEFAULT '' NOT NULL,
	PRIMARY KEY (id)
);

CREATE TABLE endpoint (
	id BIGINT NOT NULL,
	kind TEXT COLLATE "C" NOT NULL,
	key TEXT COLLATE "C" NOT NULL,
	url TEXT COLLATE "C" NOT NULL,
	host TEXT COLLATE "C" NOT NULL,
	site TEXT COLLATE "C" NOT NULL,
	weak BIGINT NOT NULL,
	service_id BIGINT,
	status TEXT COLLATE "C",
	reason TEXT COLLATE "C",
	detail TEXT COLLATE "C",
	version TEXT COLLATE "C",
	deviations TEXT COLLATE "C",
	http_status INTEGER,
	first_seen FLOAT NOT NULL,
	last_probe FLOAT,
	last_ok FLOAT,
	probes BIGINT DEFAULT '0' NOT NULL,
	level TEXT COLLATE "C",
	proved_at FLOAT,
	https BIGINT,
	cors TEXT COLLATE "C",
	health TEXT COLLATE "C" DEFAULT 'new' NOT NULL,
	health_since FLOAT,
	in_a_row BIGINT DEFAULT 0 NOT NULL,
	interval_s FLOAT DEFAULT 0 NOT NULL,
	due_at FLOAT,
	masked_url TEXT COLLATE "C" DEFAULT '' NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (kind, key)
);

CREATE INDEX endpoint_due ON endpoint (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX endpoint_key ON endpoint (key);

CREATE INDEX endpoint_service ON endpoint (service_id);

CREATE TABLE layer (
	service_id BIGINT NOT NULL,
	position BIGINT NOT NULL,
	parent BIGINT,
	name TEXT COLLATE "C" NOT NULL,
	title TEXT COLLATE "C" NOT NULL,
	abstract TEXT COLLATE "C" NOT NULL,
	crs TEXT COLLATE "C" NOT NULL,
	styles TEXT COLLATE "C" NOT NULL,
	keywords TEXT COLLATE "C" NOT NULL,
	queryable BIGINT NOT NULL,
	west FLOAT,
	south FLOAT,
	east FLOAT,
	north FLOAT,
	item TEXT COLLATE "C" DEFAULT 'layer' NOT NULL,
	formats TEXT COLLATE "C" DEFAULT '[]' NOT NULL,
	PRIMARY KEY (service_id, position)
);

CREATE TABLE notice (
	id BIGSERIAL NOT NULL,
	watch_id BIGINT NOT NULL,
	at FLOAT NOT NULL,
	what TEXT COLLATE "C" NOT NULL,
	service_id BIGINT NOT NULL,
	detail TEXT COLLATE "C" NOT NULL,
	sent_at FLOAT,
	PRIMARY KEY (id)
);

CREATE INDEX notice_watch ON notice (watch_id, sent_at);

CREATE TABLE change (
	id BIGSERIAL NOT NULL,
	endpoint_id BIGINT NOT NULL,
	service_id BIGINT NOT NULL,
	at FLOAT NOT NULL,
	what TEXT COLLATE "C" NOT NULL,
	name TEXT COLLATE "C" NOT NULL,
	before TEXT COLLATE "C" NOT NULL,
	after TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (id)
);

CREATE INDEX change_at ON change (at);

CREATE INDEX change_service ON change (service_id, at);

CREATE TABLE description (
	endpoint_id BIGINT NOT NULL,
	key TEXT COLLATE "C" NOT NULL,
	kind TEXT COLLATE "C" NOT NULL,
	family TEXT COLLATE "C" NOT NULL,
	fingerprint TEXT COLLATE "C" NOT NULL,
	items TEXT COLLATE "C" NOT NULL,
	telling BIGINT NOT NULL,
	calls_itself TEXT COLLATE "C" NOT NULL,
	provider TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (endpoint_id)
);

CREATE INDEX description_family ON description (kind, family);

CREATE INDEX description_fingerprint ON description (kind, fingerprint);

CREATE TABLE evidence (
	id BIGSERIAL NOT NULL,
	endpoint_id BIGINT NOT NULL,
	signal TEXT COLLATE "C" NOT NULL,
	page TEXT COLLATE "C" NOT NULL,
	link TEXT COLLATE "C" NOT NULL,
	anchor TEXT COLLATE "C" NOT NULL,
	at FLOAT NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (endpoint_id, page, link)
);

CREATE TABLE health_event (
	id BIGSERIAL NOT NULL,
	endpoint_id BIGINT NOT NULL,
	at FLOAT NOT NULL,
	before TEXT COLLATE "C" NOT NULL,
	after TEXT COLLATE "C" NOT NULL,
	reason TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (id)
);

CREATE INDEX health_event_at ON health_event (at);

CREATE INDEX health_event_endpoint ON health_event (endpoint_id, at);

CREATE TABLE probe (
	id BIGSERIAL NOT NULL,
	endpoint_id BIGINT NOT NULL,
	at FLOAT NOT NULL,
	status TEXT COLLATE "C" NOT NULL,
	reason TEXT COLLATE "C" NOT NULL,
	detail TEXT COLLATE "C" NOT NULL,
	http_status INTEGER,
	content_type TEXT COLLATE "C" NOT NULL,
	first_bytes TEXT COLLATE "C" NOT NULL,
	elapsed_ms FLOAT NOT NULL,
	requests BIGINT NOT NULL,
	deviations TEXT COLLATE "C" NOT NULL,
	PRIMARY KEY (id)
);

CREATE INDEX probe_endpoint ON probe (endpoint_id, at);

CREATE TABLE proof (
	endpoint_id BIGINT NOT NULL,
	position BIGINT NOT NULL,
	layer TEXT COLLATE "C" NOT NULL,
	crs TEXT COLLATE "C" NOT NULL,
	outcome TEXT COLLATE "C" NOT NULL,
	elapsed_ms FLOAT NOT NULL,
	detail TEXT COLLATE "C" NOT NULL,
	url TEXT COLLATE "C" NOT NULL,
	zoom BIGINT,
	PRIMARY KEY (endpoint_id, position)
);

CREATE TABLE same_service (
	first_id BIGINT NOT NULL,
	second_id BIGINT NOT NULL,
	signal TEXT COLLATE "C" NOT NULL,
	detail TEXT COLLATE "C" NOT NULL,
	same BIGINT NOT NULL,
	at FLOAT NOT NULL,
	PRIMARY KEY (first_id, second_id, signal)
);

CREATE INDEX same_service_second ON same_service (second_id);

CREATE TABLE thumbnail (
	endpoint_id BIGINT NOT NULL,
	at FLOAT NOT NULL,
	image BYTEA NOT NULL,
	PRIMARY KEY (endpoint_id)
);

CREATE TABLE url (
	id BIGINT NOT NULL,
	key BIGINT NOT NULL,
	address TEXT COLLATE "C" NOT NULL,
	purpose TEXT COLLATE "C" NOT NULL,
	host_id BIGINT NOT NULL,
	state TEXT COLLATE "C" NOT NULL,
	reason TEXT COLLATE "C",
	depth INTEGER NOT NULL,
	tier INTEGER NOT NULL,
	score FLOAT NOT NULL,
	found_on BIGINT,
	anchor TEXT COLLATE "C",
	found_in TEXT COLLATE "C",
	hops INTEGER DEFAULT '0' NOT NULL,
	attempts INTEGER DEFAULT '0' NOT NULL,
	endpoint_id BIGINT,
	retry_at FLOAT,
	first_seen FLOAT NOT NULL,
	settled_at FLOAT,
	http_status INTEGER,
	content_type TEXT COLLATE "C",
	size_bytes BIGINT,
	elapsed_ms FLOAT,
	title TEXT COLLATE "C",
	relevance INTEGER,
	page_score FLOAT,
	digest BIGINT,
	changes INTEGER DEFAULT 0 NOT NULL,
	revisit_s FLOAT,
	revisit_at FLOAT,
	kills BIGINT DEFAULT 0 NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (key)
);

CREATE INDEX url_endpoint ON url (endpoint_id) WHERE endpoint_id IS NOT NULL;

CREATE INDEX url_failed ON url (settled_at) WHERE state = 'failed';

CREATE INDEX url_queue ON url (host_id, tier DESC, score DESC, id) WHERE state = 'waiting';

CREATE INDEX url_retry ON url (purpose, retry_at) WHERE retry_at IS NOT NULL;

CREATE INDEX url_revisit ON url (revisit_at) WHERE revisit_at IS NOT NULL;

CREATE INDEX url_seed ON url (id) WHERE depth = 0;

CREATE TABLE page_store (
	url_id BIGINT NOT NULL,
	score FLOAT NOT NULL,
	stored_at FLOAT NOT NULL,
	encoding TEXT COLLATE "C" NOT NULL,
	size_bytes BIGINT NOT NULL,
	body BYTEA NOT NULL,
	PRIMARY KEY (url_id)
);

CREATE INDEX page_store_worst ON page_store (score, url_id);

CREATE TABLE validator (
	url_id BIGINT NOT NULL,
	address TEXT COLLATE "C" NOT NULL,
	etag TEXT COLLATE "C" NOT NULL,
	modified TEXT COLLATE "C" NOT NULL,
	read_at FLOAT NOT NULL,
	PRIMARY KEY (url_id)
);

CREATE SEQUENCE turn_number MINVALUE 0 START 0;

SELECT nextval('turn_number');

CREATE SEQUENCE url_number MINVALUE 0 START 0;

SELECT nextval('url_number');

CREATE SEQUENCE host_number MINVALUE 0 START 0;

SELECT nextval('host_number');

CREATE FUNCTION max(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE greatest(a, b) END;

CREATE FUNCTION max(a double precision, b double precision) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE greatest(a, b) END;

CREATE FUNCTION min(a bigint, b bigint) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE least(a, b) END;

CREATE FUNCTION min(a double precision, b double precision) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN a IS NULL OR b IS NULL THEN NULL ELSE least(a, b) END;

CREATE FUNCTION instr(a text, b text) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN strpos(a, b);

CREATE FUNCTION json_extract(a text, path text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN path LIKE '$.%' THEN CAST(replace(a, '\u0000', '\ufffd') AS json) ->> substr(path, 3) ELSE CAST(replace(a, '\u0000', '\ufffd') AS json) ->> CAST(btrim(path, '$[]') AS integer) END;

CREATE FUNCTION json_each(list text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 20 AS $$
WITH given AS (SELECT CAST(replace(list, '\u0000', '\ufffd') AS json) AS l)
SELECT a.value FROM given, json_array_elements_text(CASE WHEN json_typeof(l) = 'array' THEN l ELSE '[]' END) a
UNION ALL SELECT o.value FROM given, json_each_text(CASE WHEN json_typeof(l) = 'object' THEN l ELSE '{}' END) o $$;

CREATE TABLE search_text (rowid bigint PRIMARY KEY, title text COLLATE "C" NOT NULL, keywords text COLLATE "C" NOT NULL, layers text COLLATE "C" NOT NULL, abstract text COLLATE "C" NOT NULL, provider text COLLATE "C" NOT NULL, found text COLLATE "C" NOT NULL, address text COLLATE "C" NOT NULL, words tsvector NOT NULL, fields tsvector NOT NULL);

CREATE INDEX search_text_words ON search_text USING gin (words);

CREATE INDEX search_text_fields ON search_text USING gin (fields);

CREATE FUNCTION note_new() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM search_change WHERE service_id = new.id;
  INSERT INTO search_change (service_id) VALUES (new.id);
  RETURN NULL;
END $$;

CREATE FUNCTION note_old() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM search_change WHERE service_id = old.id;
  INSERT INTO search_change (service_id) VALUES (old.id);
  RETURN NULL;
END $$;

CREATE FUNCTION note_new_service() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM search_change WHERE service_id = new.service_id;
  INSERT INTO search_change (service_id) VALUES (new.service_id);
  RETURN NULL;
END $$;

CREATE FUNCTION note_old_service() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  DELETE FROM search_change WHERE service_id = old.service_id;
  INSERT INTO search_change (service_id) VALUES (old.service_id);
  RETURN NULL;
END $$;

CREATE TRIGGER search_service_written AFTER UPDATE ON service FOR EACH ROW EXECUTE FUNCTION note_new();

CREATE TRIGGER search_service_deleted AFTER DELETE ON service FOR EACH ROW EXECUTE FUNCTION note_old();

CREATE TRIGGER search_entry_written AFTER INSERT OR UPDATE ON search_entry FOR EACH ROW EXECUTE FUNCTION note_new_service();

CREATE TRIGGER search_endpoint_written AFTER UPDATE OF service_id, status, health, level, url, deviations ON endpoint FOR EACH ROW WHEN (new.service_id IS NOT NULL) EXECUTE FUNCTION note_new_service();

CREATE TRIGGER search_endpoint_moved AFTER UPDATE OF service_id ON endpoint FOR EACH ROW WHEN (old.service_id IS NOT NULL AND old.service_id IS DISTINCT FROM new.service_id) EXECUTE FUNCTION note_old_service();

CREATE TRIGGER search_endpoint_deleted AFTER DELETE ON endpoint FOR EACH ROW WHEN (old.service_id IS NOT NULL) EXECUTE FUNCTION note_old_service();

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
	CAST(EXISTS (SELECT 1 FROM endpoint v WHERE v.service_id = s.id AND v.status = 'valid') AS integer) AS alive,
	coalesce(e.health, 'new') AS health,
	coalesce((SELECT max(v.level) FROM endpoint v WHERE v.service_id = s.id AND v.status = 'valid'), '') AS level,
	e.https AS https,
	coalesce(e.cors, '') AS cors,
	s.fees AS fees,
	s.access_constraints AS access_constraints,
	(SELECT count(*) FROM endpoint v WHERE v.service_id = s.id) AS endpoints,
	(SELECT CAST(coalesce(json_agg(json_extract(d.value, '$.code')), '[]') AS text) FROM json_each(coalesce(e.deviations, '[]')) d) AS deviations,
	s.west AS west,
	s.south AS south,
	s.east AS east,
	s.north AS north,
	to_char(to_timestamp(floor(s.first_seen)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS first_seen,
	to_char(to_timestamp(floor(s.last_ok)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last_ok,
	to_char(to_timestamp(floor(e.last_probe)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last_probe
FROM service s LEFT JOIN endpoint e ON e.id = coalesce(s.best_id, (SELECT v.id FROM endpoint v WHERE v.service_id = s.id ORDER BY v.status = 'valid' DESC NULLS LAST, v.id LIMIT 1));

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
	to_char(to_timestamp(floor(e.health_since)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS health_since,
	e.in_a_row AS in_a_row,
	e.probes AS probes,
	(SELECT avg(CAST(p.status = 'valid' AS integer)) FROM probe p WHERE p.endpoint_id = e.id) AS valid_share,
	(SELECT avg(p.elapsed_ms) FROM probe p WHERE p.endpoint_id = e.id AND p.status = 'valid' AND p.reason <> 'not-modified') AS mean_ms,
	coalesce(e.level, '') AS level,
	to_char(to_timestamp(floor(e.first_seen)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS first_seen,
	to_char(to_timestamp(floor(e.last_probe)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last_probe,
	to_char(to_timestamp(floor(e.last_ok)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last_ok,
	to_char(to_timestamp(floor(e.due_at)) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS next_probe
FROM endpoint e WHERE e.status IS NOT NULL AND (e.weak < 2 OR e.last_ok IS NOT NULL);
