SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA geocrawl;
CREATE FUNCTION geocrawl.instr(a text, b text) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN strpos(a, b);
CREATE FUNCTION geocrawl.json_each(list text) RETURNS TABLE(value text)
    LANGUAGE sql IMMUTABLE ROWS 20 PARALLEL SAFE
    AS $$
WITH given AS (SELECT CAST(replace(list, '\u0000', '\ufffd') AS json) AS l)
SELECT a.value FROM given, json_array_elements_text(CASE WHEN json_typeof(l) = 'array' THEN l ELSE '[]' END) a
UNION ALL SELECT o.value FROM given, json_each_text(CASE WHEN json_typeof(l) = 'object' THEN l ELSE '{}' END) o $$;
CREATE FUNCTION geocrawl.json_extract(a text, path text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN (path ~~ '$.%'::text) THEN ((replace(a, '\u0000'::text, '\ufffd'::text))::json ->> substr(path, 3)) ELSE ((replace(a, '\u0000'::text, '\ufffd'::text))::json ->> (btrim(path, '$[]'::text))::integer) END;
CREATE FUNCTION geocrawl.max(a double precision, b double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ((a IS NULL) OR (b IS NULL)) THEN NULL::double precision ELSE GREATEST(a, b) END;
CREATE FUNCTION geocrawl.max(a bigint, b bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ((a IS NULL) OR (b IS NULL)) THEN NULL::bigint ELSE GREATEST(a, b) END;
CREATE FUNCTION geocrawl.min(a double precision, b double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ((a IS NULL) OR (b IS NULL)) THEN NULL::double precision ELSE LEAST(a, b) END;
CREATE FUNCTION geocrawl.min(a bigint, b bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ((a IS NULL) OR (b IS NULL)) THEN NULL::bigint ELSE LEAST(a, b) END;
CREATE FUNCTION geocrawl.note_new() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  DELETE FROM search_change WHERE service_id = new.id;
  INSERT INTO search_change (service_id) VALUES (new.id);
  RETURN NULL;
END $$;
CREATE FUNCTION geocrawl.note_new_service() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  DELETE FROM search_change WHERE service_id = new.service_id;
  INSERT INTO search_change (service_id) VALUES (new.service_id);
  RETURN NULL;
END $$;
CREATE FUNCTION geocrawl.note_old() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  DELETE FROM search_change WHERE service_id = old.id;
  INSERT INTO search_change (service_id) VALUES (old.id);
  RETURN NULL;
END $$;
CREATE FUNCTION geocrawl.note_old_service() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN
  DELETE FROM search_change WHERE service_id = old.service_id;
  INSERT INTO search_change (service_id) VALUES (old.service_id);
  RETURN NULL;
END $$;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE geocrawl.alembic_version (
    version_num text NOT NULL
);
CREATE TABLE geocrawl.alike (
    key bigint NOT NULL,
    services bigint NOT NULL
);
CREATE TABLE geocrawl.blocked (
    host text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    at double precision NOT NULL
);
CREATE TABLE geocrawl.change (
    id bigint NOT NULL,
    endpoint_id bigint NOT NULL,
    service_id bigint NOT NULL,
    at double precision NOT NULL,
    what text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    before text NOT NULL COLLATE pg_catalog."C",
    after text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE geocrawl.change_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE geocrawl.change_id_seq OWNED BY geocrawl.change.id;
CREATE TABLE geocrawl.counter (
    name text NOT NULL COLLATE pg_catalog."C",
    value bigint NOT NULL
);
CREATE TABLE geocrawl.daily (
    day text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    value bigint NOT NULL
);
CREATE TABLE geocrawl.description (
    endpoint_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    family text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    items text NOT NULL COLLATE pg_catalog."C",
    telling bigint NOT NULL,
    calls_itself text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE geocrawl.endpoint (
    id bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    host text NOT NULL COLLATE pg_catalog."C",
    site text NOT NULL COLLATE pg_catalog."C",
    weak bigint NOT NULL,
    service_id bigint,
    status text COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    detail text COLLATE pg_catalog."C",
    version text COLLATE pg_catalog."C",
    deviations text COLLATE pg_catalog."C",
    http_status integer,
    first_seen double precision NOT NULL,
    last_probe double precision,
    last_ok double precision,
    probes bigint DEFAULT '0'::bigint NOT NULL,
    level text COLLATE pg_catalog."C",
    proved_at double precision,
    https bigint,
    cors text COLLATE pg_catalog."C",
    health text DEFAULT 'new'::text NOT NULL COLLATE pg_catalog."C",
    health_since double precision,
    in_a_row bigint DEFAULT 0 NOT NULL,
    interval_s double precision DEFAULT 0 NOT NULL,
    due_at double precision,
    masked_url text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE geocrawl.evidence (
    id bigint NOT NULL,
    endpoint_id bigint NOT NULL,
    signal text NOT NULL COLLATE pg_catalog."C",
    page text NOT NULL COLLATE pg_catalog."C",
    link text NOT NULL COLLATE pg_catalog."C",
    anchor text NOT NULL COLLATE pg_catalog."C",
    at double precision NOT NULL
);
CREATE SEQUENCE geocrawl.evidence_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE geocrawl.evidence_id_seq OWNED BY geocrawl.evidence.id;
CREATE TABLE geocrawl.health_event (
    id bigint NOT NULL,
    endpoint_id bigint NOT NULL,
    at double precision NOT NULL,
    before text NOT NULL COLLATE pg_catalog."C",
    after text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE geocrawl.health_event_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE geocrawl.health_event_id_seq OWNED BY geocrawl.health_event.id;
CREATE TABLE geocrawl.host (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    next_at double precision DEFAULT '0'::double precision NOT NULL,
    errors bigint DEFAULT '0'::bigint NOT NULL,
    last_error_at double precision DEFAULT '0'::double precision NOT NULL,
    crawl_delay_s double precision,
    parked bigint DEFAULT '0'::bigint NOT NULL,
    waiting bigint DEFAULT '0'::bigint NOT NULL,
    best_tier bigint DEFAULT '0'::bigint NOT NULL,
    best_score double precision DEFAULT '0'::double precision NOT NULL,
    turn bigint DEFAULT '0'::bigint NOT NULL,
    pages bigint DEFAULT '0'::bigint NOT NULL,
    lease_until double precision DEFAULT '0'::double precision NOT NULL,
    lease_token bigint DEFAULT '0'::bigint NOT NULL,
    lease_url bigint,
    lease_owner text COLLATE pg_catalog."C",
    asked_day bigint DEFAULT 0 NOT NULL,
    asked bigint DEFAULT 0 NOT NULL,
    troubled_at double precision DEFAULT 0 NOT NULL,
    troubled_address text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE geocrawl.layer (
    service_id bigint NOT NULL,
    "position" bigint NOT NULL,
    parent bigint,
    name text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    abstract text NOT NULL COLLATE pg_catalog."C",
    crs text NOT NULL COLLATE pg_catalog."C",
    styles text NOT NULL COLLATE pg_catalog."C",
    keywords text NOT NULL COLLATE pg_catalog."C",
    queryable bigint NOT NULL,
    west double precision,
    south double precision,
    east double precision,
    north double precision,
    item text DEFAULT 'layer'::text NOT NULL COLLATE pg_catalog."C",
    formats text DEFAULT '[]'::text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE geocrawl.lesson (
    number bigint NOT NULL,
    url_id bigint NOT NULL,
    purpose text NOT NULL COLLATE pg_catalog."C",
    depth integer NOT NULL,
    found_on bigint,
    state text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    valid bigint,
    links bytea NOT NULL,
    memo bytea NOT NULL
);
CREATE SEQUENCE geocrawl.lesson_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE geocrawl.lesson_number_seq OWNED BY geocrawl.lesson.number;
CREATE TABLE geocrawl.meta (
    name text NOT NULL COLLATE pg_catalog."C",
    value bytea NOT NULL
);
CREATE TABLE geocrawl.notice (
    id bigint NOT NULL,
    watch_id bigint NOT NULL,
    at double precision NOT NULL,
    what text NOT NULL COLLATE pg_catalog."C",
    service_id bigint NOT NULL,
    detail text NOT NULL COLLATE pg_catalog."C",
    sent_at double precision
);
CREATE SEQUENCE geocrawl.notice_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE geocrawl.notice_id_seq OWNED BY geocrawl.notice.id;
CREATE TABLE geocrawl.outlinks (
    url_id bigint NOT NULL,
    links bytea NOT NULL
);
CREATE TABLE geocrawl.page_store (
    url_id bigint NOT NULL,
    score double precision NOT NULL,
    stored_at double precision NOT NULL,
    encoding text NOT NULL COLLATE pg_catalog."C",
    size_bytes bigint NOT NULL,
    body bytea NOT NULL
);
CREATE TABLE geocrawl.pattern (
    key bigint NOT NULL,
    fruitless bigint NOT NULL,
    finds bigint NOT NULL,
    last_relevance bigint NOT NULL,
    late bigint DEFAULT 0 NOT NULL
);
CREATE TABLE geocrawl.probe (
    id bigint NOT NULL,
    endpoint_id bigint NOT NULL,
    at double precision NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    detail text NOT NULL COLLATE pg_catalog."C",
    http_status integer,
    content_type text NOT NULL COLLATE pg_catalog."C",
    first_bytes text NOT NULL COLLATE pg_catalog."C",
    elapsed_ms double precision NOT NULL,
    requests bigint NOT NULL,
    deviations text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE geocrawl.probe_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE geocrawl.probe_id_seq OWNED BY geocrawl.probe.id;
CREATE TABLE geocrawl.proof (
    endpoint_id bigint NOT NULL,
    "position" bigint NOT NULL,
    layer text NOT NULL COLLATE pg_catalog."C",
    crs text NOT NULL COLLATE pg_catalog."C",
    outcome text NOT NULL COLLATE pg_catalog."C",
    elapsed_ms double precision NOT NULL,
    detail text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL COLLATE pg_catalog."C",
    zoom bigint
);
CREATE TABLE geocrawl.query_group (
    key bigint NOT NULL,
    seen bigint NOT NULL
);
CREATE TABLE geocrawl.robots (
    origin text NOT NULL COLLATE pg_catalog."C",
    status bigint,
    body bytea,
    fetched_at double precision NOT NULL,
    expires_at double precision NOT NULL
);
CREATE TABLE geocrawl.run (
    id bigint NOT NULL,
    started_at double precision NOT NULL,
    ended_at double precision,
    owner text NOT NULL COLLATE pg_catalog."C",
    strategy text NOT NULL COLLATE pg_catalog."C",
    settings text NOT NULL COLLATE pg_catalog."C",
    pages bigint,
    services bigint,
    stopped text COLLATE pg_catalog."C"
);
CREATE SEQUENCE geocrawl.run_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE geocrawl.run_id_seq OWNED BY geocrawl.run.id;
CREATE TABLE geocrawl.same_service (
    first_id bigint NOT NULL,
    second_id bigint NOT NULL,
    signal text NOT NULL COLLATE pg_catalog."C",
    detail text NOT NULL COLLATE pg_catalog."C",
    same bigint NOT NULL,
    at double precision NOT NULL
);
CREATE TABLE geocrawl.search_change (
    seq bigint NOT NULL,
    service_id bigint NOT NULL
);
CREATE SEQUENCE geocrawl.search_change_seq_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE geocrawl.search_change_seq_seq OWNED BY geocrawl.search_change.seq;
CREATE TABLE geocrawl.search_entry (
    service_id bigint NOT NULL,
    systems bigint NOT NULL,
    formats bigint NOT NULL,
    country text NOT NULL COLLATE pg_catalog."C",
    title_words bigint NOT NULL,
    words bigint NOT NULL,
    completeness bigint NOT NULL,
    evidence bigint NOT NULL
);
CREATE TABLE geocrawl.search_list (
    id bigint NOT NULL,
    digest text NOT NULL COLLATE pg_catalog."C",
    items text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE geocrawl.search_list_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE geocrawl.search_list_id_seq OWNED BY geocrawl.search_list.id;
CREATE TABLE geocrawl.search_text (
    rowid bigint NOT NULL,
    title text NOT NULL COLLATE pg_catalog."C",
    keywords text NOT NULL COLLATE pg_catalog."C",
    layers text NOT NULL COLLATE pg_catalog."C",
    abstract text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    found text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    words tsvector NOT NULL
);
CREATE TABLE geocrawl.seed (
    identity text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    region text NOT NULL COLLATE pg_catalog."C",
    language text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    added_at double precision NOT NULL
);
CREATE TABLE geocrawl.service (
    id bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    site text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    abstract text NOT NULL COLLATE pg_catalog."C",
    keywords text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    contact text NOT NULL COLLATE pg_catalog."C",
    fees text NOT NULL COLLATE pg_catalog."C",
    access_constraints text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    formats text NOT NULL COLLATE pg_catalog."C",
    online_resource text NOT NULL COLLATE pg_catalog."C",
    layer_count bigint NOT NULL,
    west double precision,
    south double precision,
    east double precision,
    north double precision,
    first_seen double precision NOT NULL,
    last_ok double precision NOT NULL,
    best_id bigint,
    masked_online_resource text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE geocrawl.service_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE geocrawl.service_id_seq OWNED BY geocrawl.service.id;
CREATE TABLE geocrawl.site (
    name text NOT NULL COLLATE pg_catalog."C",
    hosts bigint NOT NULL,
    held_at double precision,
    held_for text NOT NULL COLLATE pg_catalog."C",
    released bigint NOT NULL
);
CREATE TABLE geocrawl.thumbnail (
    endpoint_id bigint NOT NULL,
    at double precision NOT NULL,
    image bytea NOT NULL
);
CREATE TABLE geocrawl.url (
    id bigint NOT NULL,
    key bigint NOT NULL,
    address text NOT NULL COLLATE pg_catalog."C",
    purpose text NOT NULL COLLATE pg_catalog."C",
    host_id bigint NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    depth integer NOT NULL,
    tier integer NOT NULL,
    score double precision NOT NULL,
    found_on bigint,
    anchor text COLLATE pg_catalog."C",
    found_in text COLLATE pg_catalog."C",
    hops integer DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    endpoint_id bigint,
    retry_at double precision,
    first_seen double precision NOT NULL,
    settled_at double precision,
    http_status integer,
    content_type text COLLATE pg_catalog."C",
    size_bytes bigint,
    elapsed_ms double precision,
    title text COLLATE pg_catalog."C",
    relevance integer,
    page_score double precision,
    digest bigint,
    changes integer DEFAULT 0 NOT NULL,
    revisit_s double precision,
    revisit_at double precision
);
CREATE VIEW geocrawl.v_health AS
 SELECT e.id AS endpoint_id,
    e.service_id,
    e.kind,
    e.masked_url AS url,
    e.host,
    e.site,
    e.status,
    e.reason,
    e.http_status,
    e.health,
    to_char((to_timestamp(floor(e.health_since)) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'::text) AS health_since,
    e.in_a_row,
    e.probes,
    ( SELECT avg(((p.status = 'valid'::text))::integer) AS avg
           FROM geocrawl.probe p
          WHERE (p.endpoint_id = e.id)) AS valid_share,
    ( SELECT avg(p.elapsed_ms) AS avg
           FROM geocrawl.probe p
          WHERE ((p.endpoint_id = e.id) AND (p.status = 'valid'::text) AND (p.reason <> 'not-modified'::text))) AS mean_ms,
    COALESCE(e.level, ''::text) AS level,
    to_char((to_timestamp(floor(e.first_seen)) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'::text) AS first_seen,
    to_char((to_timestamp(floor(e.last_probe)) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'::text) AS last_probe,
    to_char((to_timestamp(floor(e.last_ok)) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'::text) AS last_ok,
    to_char((to_timestamp(floor(e.due_at)) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'::text) AS next_probe
   FROM geocrawl.endpoint e
  WHERE ((e.status IS NOT NULL) AND ((e.weak < 2) OR (e.last_ok IS NOT NULL)));
CREATE VIEW geocrawl.v_layers AS
 SELECT l.service_id,
    l."position",
    l.parent,
    l.item,
    l.name,
    l.title,
    l.abstract,
    l.keywords,
    l.crs,
    l.styles,
    l.formats,
    l.queryable,
    l.west,
    l.south,
    l.east,
    l.north,
    s.kind,
    s.title AS service
   FROM (geocrawl.layer l
     JOIN geocrawl.service s ON ((s.id = l.service_id)));
CREATE VIEW geocrawl.v_services AS
 SELECT s.id,
    s.kind,
    s.title,
    s.abstract,
    s.provider,
    s.keywords,
    s.version,
    s.formats,
    COALESCE(e.masked_url, ''::text) AS url,
    COALESCE(e.host, ''::text) AS host,
    COALESCE(e.site, s.site) AS site,
    s.masked_online_resource AS online_resource,
    s.layer_count AS layers,
    ((EXISTS ( SELECT 1
           FROM geocrawl.endpoint v
          WHERE ((v.service_id = s.id) AND (v.status = 'valid'::text)))))::integer AS alive,
    COALESCE(e.health, 'new'::text) AS health,
    COALESCE(( SELECT max(v.level) AS max
           FROM geocrawl.endpoint v
          WHERE ((v.service_id = s.id) AND (v.status = 'valid'::text))), ''::text) AS level,
    e.https,
    COALESCE(e.cors, ''::text) AS cors,
    s.fees,
    s.access_constraints,
    ( SELECT count(*) AS count
           FROM geocrawl.endpoint v
          WHERE (v.service_id = s.id)) AS endpoints,
    ( SELECT (COALESCE(json_agg(geocrawl.json_extract(d.value, '$.code'::text)), '[]'::json))::text AS "coalesce"
           FROM geocrawl.json_each(COALESCE(e.deviations, '[]'::text)) d(value)) AS deviations,
    s.west,
    s.south,
    s.east,
    s.north,
    to_char((to_timestamp(floor(s.first_seen)) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'::text) AS first_seen,
    to_char((to_timestamp(floor(s.last_ok)) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'::text) AS last_ok,
    to_char((to_timestamp(floor(e.last_probe)) AT TIME ZONE 'UTC'::text), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'::text) AS last_probe
   FROM (geocrawl.service s
     LEFT JOIN geocrawl.endpoint e ON ((e.id = COALESCE(s.best_id, ( SELECT v.id
           FROM geocrawl.endpoint v
          WHERE (v.service_id = s.id)
          ORDER BY (v.status = 'valid'::text) DESC NULLS LAST, v.id
         LIMIT 1)))));
CREATE TABLE geocrawl.validator (
    url_id bigint NOT NULL,
    address text NOT NULL COLLATE pg_catalog."C",
    etag text NOT NULL COLLATE pg_catalog."C",
    modified text NOT NULL COLLATE pg_catalog."C",
    read_at double precision NOT NULL
);
CREATE TABLE geocrawl.watch (
    id bigint NOT NULL,
    service_id bigint,
    query text NOT NULL COLLATE pg_catalog."C",
    recipient text NOT NULL COLLATE pg_catalog."C",
    secret text NOT NULL COLLATE pg_catalog."C",
    created_at double precision NOT NULL,
    known text NOT NULL COLLATE pg_catalog."C",
    change_id bigint NOT NULL,
    sent_at double precision,
    failures bigint DEFAULT 0 NOT NULL,
    retry_at double precision DEFAULT 0 NOT NULL,
    busy_until double precision DEFAULT 0 NOT NULL,
    last_error text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);
CREATE SEQUENCE geocrawl.watch_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE geocrawl.watch_id_seq OWNED BY geocrawl.watch.id;
ALTER TABLE ONLY geocrawl.change ALTER COLUMN id SET DEFAULT nextval('geocrawl.change_id_seq'::regclass);
ALTER TABLE ONLY geocrawl.evidence ALTER COLUMN id SET DEFAULT nextval('geocrawl.evidence_id_seq'::regclass);
ALTER TABLE ONLY geocrawl.health_event ALTER COLUMN id SET DEFAULT nextval('geocrawl.health_event_id_seq'::regclass);
ALTER TABLE ONLY geocrawl.lesson ALTER COLUMN number SET DEFAULT nextval('geocrawl.lesson_number_seq'::regclass);
ALTER TABLE ONLY geocrawl.notice ALTER COLUMN id SET DEFAULT nextval('geocrawl.notice_id_seq'::regclass);
ALTER TABLE ONLY geocrawl.probe ALTER COLUMN id SET DEFAULT nextval('geocrawl.probe_id_seq'::regclass);
ALTER TABLE ONLY geocrawl.run ALTER COLUMN id SET DEFAULT nextval('geocrawl.run_id_seq'::regclass);
ALTER TABLE ONLY geocrawl.search_change ALTER COLUMN seq SET DEFAULT nextval('geocrawl.search_change_seq_seq'::regclass);
ALTER TABLE ONLY geocrawl.search_list ALTER COLUMN id SET DEFAULT nextval('geocrawl.search_list_id_seq'::regclass);
ALTER TABLE ONLY geocrawl.service ALTER COLUMN id SET DEFAULT nextval('geocrawl.service_id_seq'::regclass);
ALTER TABLE ONLY geocrawl.watch ALTER COLUMN id SET DEFAULT nextval('geocrawl.watch_id_seq'::regclass);
INSERT INTO geocrawl.alembic_version VALUES ('0015');
INSERT INTO geocrawl.alike VALUES (5820303596591830271, 1);
INSERT INTO geocrawl.counter VALUES ('stored-bytes', 16);
INSERT INTO geocrawl.counter VALUES ('probe:waiting:1000', 0);
INSERT INTO geocrawl.counter VALUES ('probe:visited', 1);
INSERT INTO geocrawl.counter VALUES ('page:waiting:9', 0);
INSERT INTO geocrawl.counter VALUES ('page:waiting:5', 31);
INSERT INTO geocrawl.counter VALUES ('turn', 8);
INSERT INTO geocrawl.counter VALUES ('page:visited', 7);
INSERT INTO geocrawl.description VALUES (1, 'maps.example/wms', 'wms', 'maps.example/wms', '', '', 0, '', '');
INSERT INTO geocrawl.endpoint VALUES (1, 'wms', 'maps.example/wms', 'http://maps.example/wms', 'maps.example', 'maps.example', 0, 1, 'valid', 'ok', '', '1.3.0', '[]', 200, 1000000, 1000000, 1000000, 1, NULL, NULL, NULL, NULL, 'alive', 1000000, 1, 86400, 1085970.3218315032, 'http://maps.example/wms');
INSERT INTO geocrawl.evidence VALUES (1, 1, 'query', 'http://a.example/', 'http://maps.example/wms?service=WMS', 'a map', 1000000);
INSERT INTO geocrawl.health_event VALUES (1, 1, 1000000, 'new', 'alive', 'ok');
INSERT INTO geocrawl.host VALUES (1, 'a.example', 0, 0, 0, NULL, 0, 0, 0, 0, 1, 1, 0, 1, NULL, 'test:1', 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (10, 'h6.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (11, 'h7.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (12, 'h8.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (13, 'h9.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (3, 'maps.example', 0, 0, 0, NULL, 0, 0, 0, 0, 2, 0, 0, 1, NULL, 'test:1', 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (2, 'b.example', 0, 0, 0, NULL, 0, 0, 0, 0, 3, 1, 0, 1, NULL, 'test:1', 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (4, 'h0.example', 0, 0, 0, NULL, 0, 0, 0, 0, 4, 1, 0, 1, NULL, 'test:1', 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (5, 'h1.example', 0, 0, 0, NULL, 0, 0, 0, 0, 5, 1, 0, 1, NULL, 'test:1', 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (6, 'h2.example', 0, 0, 0, NULL, 0, 0, 0, 0, 6, 1, 0, 1, NULL, 'test:1', 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (7, 'h3.example', 0, 0, 0, NULL, 0, 0, 0, 0, 7, 1, 0, 1, NULL, 'test:1', 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (8, 'h4.example', 0, 0, 0, NULL, 0, 0, 0, 0, 8, 1, 0, 1, NULL, 'test:1', 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (9, 'h5.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 1000300, 1, 9, 'test:1', 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (14, 'h10.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (15, 'h11.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (16, 'h12.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (17, 'h13.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (18, 'h14.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (19, 'h15.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (20, 'h16.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (21, 'h17.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (22, 'h18.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (23, 'h19.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (24, 'h20.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (25, 'h21.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (26, 'h22.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (27, 'h23.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (28, 'h24.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (29, 'h25.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (30, 'h26.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (31, 'h27.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (32, 'h28.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (33, 'h29.example', 0, 0, 0, NULL, 0, 1, 5, 0, 1, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (34, 'new0.example', 0, 0, 0, NULL, 0, 1, 5, 0, 3, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (35, 'new1.example', 0, 0, 0, NULL, 0, 1, 5, 0, 4, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (36, 'new2.example', 0, 0, 0, NULL, 0, 1, 5, 0, 5, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (37, 'new3.example', 0, 0, 0, NULL, 0, 1, 5, 0, 6, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (38, 'new4.example', 0, 0, 0, NULL, 0, 1, 5, 0, 7, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.host VALUES (39, 'new5.example', 0, 0, 0, NULL, 0, 1, 5, 0, 8, 1, 0, 0, NULL, NULL, 0, 0, 0, '');
INSERT INTO geocrawl.lesson VALUES (1, 1, 'page', 0, NULL, 'visited', 'ok', NULL, '\x690400000005000000060000000700000008000000090000000a0000000b0000000c0000000d0000000e0000000f000000100000001100000012000000130000001400000015000000160000001700000018000000190000001a0000001b0000001c0000001d0000001e0000001f0000002000000021000000', '\x');
INSERT INTO geocrawl.lesson VALUES (2, 3, 'probe', 0, 1, 'visited', 'ok', 1, '\x69', '\x');
INSERT INTO geocrawl.lesson VALUES (3, 2, 'page', 0, NULL, 'visited', 'ok', NULL, '\x6922000000', '\x');
INSERT INTO geocrawl.lesson VALUES (4, 4, 'page', 1, 1, 'visited', 'ok', NULL, '\x6923000000', '\x');
INSERT INTO geocrawl.lesson VALUES (5, 5, 'page', 1, 1, 'visited', 'ok', NULL, '\x6924000000', '\x');
INSERT INTO geocrawl.lesson VALUES (6, 6, 'page', 1, 1, 'visited', 'ok', NULL, '\x6925000000', '\x');
INSERT INTO geocrawl.lesson VALUES (7, 7, 'page', 1, 1, 'visited', 'ok', NULL, '\x6926000000', '\x');
INSERT INTO geocrawl.lesson VALUES (8, 8, 'page', 1, 1, 'visited', 'ok', NULL, '\x6927000000', '\x');
INSERT INTO geocrawl.meta VALUES ('max_depth', '\x35');
INSERT INTO geocrawl.outlinks VALUES (1, '\x69000000000400000005000000060000000700000008000000090000000a0000000b0000000c0000000d0000000e0000000f000000100000001100000012000000130000001400000015000000160000001700000018000000190000001a0000001b0000001c0000001d0000001e0000001f0000002000000021000000');
INSERT INTO geocrawl.outlinks VALUES (2, '\x690000000022000000');
INSERT INTO geocrawl.outlinks VALUES (4, '\x690000000023000000');
INSERT INTO geocrawl.outlinks VALUES (5, '\x690000000024000000');
INSERT INTO geocrawl.outlinks VALUES (6, '\x690000000025000000');
INSERT INTO geocrawl.outlinks VALUES (7, '\x690000000026000000');
INSERT INTO geocrawl.outlinks VALUES (8, '\x690000000027000000');
INSERT INTO geocrawl.page_store VALUES (1, 0.5, 1000000, 'utf-8', 16, '\x626f64792000206f6620612070616765');
INSERT INTO geocrawl.pattern VALUES (5820303596591830271, 0, 1, 0, 0);
INSERT INTO geocrawl.pattern VALUES (6951185290915939125, 5, 0, 1, 0);
INSERT INTO geocrawl.probe VALUES (1, 1, 1000000, 'valid', 'ok', '', 200, '', '', 0, 0, '[]');
INSERT INTO geocrawl.query_group VALUES (-6440100443354001338, 1);
INSERT INTO geocrawl.query_group VALUES (8530112863448505670, 1);
INSERT INTO geocrawl.query_group VALUES (-7762849827468647990, 1);
INSERT INTO geocrawl.query_group VALUES (-4929310102913287811, 1);
INSERT INTO geocrawl.query_group VALUES (1342211663637890143, 1);
INSERT INTO geocrawl.query_group VALUES (6497683774524260726, 1);
INSERT INTO geocrawl.query_group VALUES (8975771016100537670, 1);
INSERT INTO geocrawl.query_group VALUES (532940925579592739, 1);
INSERT INTO geocrawl.query_group VALUES (-1319059534561671115, 1);
INSERT INTO geocrawl.query_group VALUES (-595167876753437382, 1);
INSERT INTO geocrawl.query_group VALUES (-7071488873978782855, 1);
INSERT INTO geocrawl.query_group VALUES (-3402011128931428772, 1);
INSERT INTO geocrawl.query_group VALUES (-6958712242338282091, 1);
INSERT INTO geocrawl.query_group VALUES (-7717543233032906615, 1);
INSERT INTO geocrawl.query_group VALUES (6268382413574939196, 1);
INSERT INTO geocrawl.query_group VALUES (-6140706517459564527, 1);
INSERT INTO geocrawl.query_group VALUES (4400990147770791011, 1);
INSERT INTO geocrawl.query_group VALUES (-1624128176140370325, 1);
INSERT INTO geocrawl.query_group VALUES (400155812371479734, 1);
INSERT INTO geocrawl.query_group VALUES (1978345830731034861, 1);
INSERT INTO geocrawl.query_group VALUES (2636859978739881275, 1);
INSERT INTO geocrawl.query_group VALUES (3932611807348528360, 1);
INSERT INTO geocrawl.query_group VALUES (1439219010244699915, 1);
INSERT INTO geocrawl.query_group VALUES (6345531712042626242, 1);
INSERT INTO geocrawl.query_group VALUES (2232903009509223819, 1);
INSERT INTO geocrawl.query_group VALUES (3167993332462835494, 1);
INSERT INTO geocrawl.query_group VALUES (-6056685737886398810, 1);
INSERT INTO geocrawl.query_group VALUES (-3988246052902631213, 1);
INSERT INTO geocrawl.query_group VALUES (-1255980730570585090, 1);
INSERT INTO geocrawl.query_group VALUES (-3359887348399070224, 1);
INSERT INTO geocrawl.run VALUES (1, 1000000, 1000000, 'machine 00000000 4026531836 1:4711', 'gws', '{"delay_s": 0, "max_fruitless_per_pattern": 0}', 1, 1, 'ended');
INSERT INTO geocrawl.search_change VALUES (4, 1);
INSERT INTO geocrawl.search_entry VALUES (1, 1, 1, '', 1, 8, 38, 2);
INSERT INTO geocrawl.search_list VALUES (1, '7ebb3c7c2a87b1a2f8a7ed729ecb040d', '[]');
INSERT INTO geocrawl.search_text VALUES (1, ' boden ', ' 土 地 sols ', '', ' a b ', '', ' a map ', ' http maps example wms ', '''a'' ''b'' ''boden'' ''example'' ''http'' ''map'' ''maps'' ''sols'' ''wms'' ''土'' ''地''');
INSERT INTO geocrawl.service VALUES (1, 'wms', '', 'maps.example', 'Böden', 'a�b', '["土地", "sols"]', '', '{}', '', '', '1.3.0', '[]', '', 0, NULL, NULL, NULL, NULL, 1000000, 1000000, 1, '');
INSERT INTO geocrawl.site VALUES ('a.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('b.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('maps.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h0.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h1.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h2.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h3.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h4.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h5.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h6.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h7.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h8.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h9.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h10.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h11.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h12.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h13.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h14.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h15.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h16.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h17.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h18.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h19.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h20.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h21.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h22.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h23.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h24.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h25.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h26.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h27.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h28.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('h29.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('new0.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('new1.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('new2.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('new3.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('new4.example', 1, NULL, '', 0);
INSERT INTO geocrawl.site VALUES ('new5.example', 1, NULL, '', 0);
INSERT INTO geocrawl.url VALUES (9, -3925366671123075836, 'http://h5.example/Stra%C3%9Fe-5?q=5', 'page', 9, 'waiting', NULL, 1, 5, 0, 1, 'to h5.example/Straße-5?q=5', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (10, 6030328188248614302, 'http://h6.example/Stra%C3%9Fe-6?q=6', 'page', 10, 'waiting', NULL, 1, 5, 0, 1, 'to h6.example/Straße-6?q=6', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (11, -1968508341501716, 'http://h7.example/Stra%C3%9Fe-7?q=7', 'page', 11, 'waiting', NULL, 1, 5, 0, 1, 'to h7.example/Straße-7?q=7', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (12, 5761784637167938255, 'http://h8.example/Stra%C3%9Fe-8?q=8', 'page', 12, 'waiting', NULL, 1, 5, 0, 1, 'to h8.example/Straße-8?q=8', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (13, 4555444229585352560, 'http://h9.example/Stra%C3%9Fe-9?q=9', 'page', 13, 'waiting', NULL, 1, 5, 0, 1, 'to h9.example/Straße-9?q=9', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (14, -110471235358389507, 'http://h10.example/Stra%C3%9Fe-10?q=10', 'page', 14, 'waiting', NULL, 1, 5, 0, 1, 'to h10.example/Straße-10?q=10', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (15, -3951811119567907954, 'http://h11.example/Stra%C3%9Fe-11?q=11', 'page', 15, 'waiting', NULL, 1, 5, 0, 1, 'to h11.example/Straße-11?q=11', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (16, 6166019657240322285, 'http://h12.example/Stra%C3%9Fe-12?q=12', 'page', 16, 'waiting', NULL, 1, 5, 0, 1, 'to h12.example/Straße-12?q=12', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (17, 3983458847185839257, 'http://h13.example/Stra%C3%9Fe-13?q=13', 'page', 17, 'waiting', NULL, 1, 5, 0, 1, 'to h13.example/Straße-13?q=13', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (18, -8491091631079436858, 'http://h14.example/Stra%C3%9Fe-14?q=14', 'page', 18, 'waiting', NULL, 1, 5, 0, 1, 'to h14.example/Straße-14?q=14', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (19, 4374980557712749230, 'http://h15.example/Stra%C3%9Fe-15?q=15', 'page', 19, 'waiting', NULL, 1, 5, 0, 1, 'to h15.example/Straße-15?q=15', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (20, 6789621388224885817, 'http://h16.example/Stra%C3%9Fe-16?q=16', 'page', 20, 'waiting', NULL, 1, 5, 0, 1, 'to h16.example/Straße-16?q=16', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (21, 6797760994903981780, 'http://h17.example/Stra%C3%9Fe-17?q=17', 'page', 21, 'waiting', NULL, 1, 5, 0, 1, 'to h17.example/Straße-17?q=17', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (22, -5150187195613989241, 'http://h18.example/Stra%C3%9Fe-18?q=18', 'page', 22, 'waiting', NULL, 1, 5, 0, 1, 'to h18.example/Straße-18?q=18', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (23, -8420081397064461843, 'http://h19.example/Stra%C3%9Fe-19?q=19', 'page', 23, 'waiting', NULL, 1, 5, 0, 1, 'to h19.example/Straße-19?q=19', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (24, 1750889030170639612, 'http://h20.example/Stra%C3%9Fe-20?q=20', 'page', 24, 'waiting', NULL, 1, 5, 0, 1, 'to h20.example/Straße-20?q=20', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (25, 7044008158572971046, 'http://h21.example/Stra%C3%9Fe-21?q=21', 'page', 25, 'waiting', NULL, 1, 5, 0, 1, 'to h21.example/Straße-21?q=21', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (26, -8268426572995849059, 'http://h22.example/Stra%C3%9Fe-22?q=22', 'page', 26, 'waiting', NULL, 1, 5, 0, 1, 'to h22.example/Straße-22?q=22', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (27, -1379883276563926452, 'http://h23.example/Stra%C3%9Fe-23?q=23', 'page', 27, 'waiting', NULL, 1, 5, 0, 1, 'to h23.example/Straße-23?q=23', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (28, 6375960700036273016, 'http://h24.example/Stra%C3%9Fe-24?q=24', 'page', 28, 'waiting', NULL, 1, 5, 0, 1, 'to h24.example/Straße-24?q=24', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (29, 4157735198642026437, 'http://h25.example/Stra%C3%9Fe-25?q=25', 'page', 29, 'waiting', NULL, 1, 5, 0, 1, 'to h25.example/Straße-25?q=25', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (30, 6345125748578901257, 'http://h26.example/Stra%C3%9Fe-26?q=26', 'page', 30, 'waiting', NULL, 1, 5, 0, 1, 'to h26.example/Straße-26?q=26', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (31, 927605677913184174, 'http://h27.example/Stra%C3%9Fe-27?q=27', 'page', 31, 'waiting', NULL, 1, 5, 0, 1, 'to h27.example/Straße-27?q=27', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (32, -7541884041940870495, 'http://h28.example/Stra%C3%9Fe-28?q=28', 'page', 32, 'waiting', NULL, 1, 5, 0, 1, 'to h28.example/Straße-28?q=28', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (33, 3093209158752569586, 'http://h29.example/Stra%C3%9Fe-29?q=29', 'page', 33, 'waiting', NULL, 1, 5, 0, 1, 'to h29.example/Straße-29?q=29', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (1, -8079478727316388332, 'http://a.example/', 'page', 1, 'visited', 'ok', 0, 9, 0, NULL, NULL, 'seed', 0, 0, NULL, NULL, 1000000, 1000000, 200, NULL, 0, 0, NULL, 0, 0, NULL, 0, 604800, 1604800);
INSERT INTO geocrawl.url VALUES (3, -1648610752170088026, 'http://maps.example/wms', 'probe', 3, 'visited', 'ok', 0, 1000, 0, 1, 'a map', 'query', 0, 0, 1, NULL, 1000000, 1000000, 200, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (34, 4915118994152663882, 'http://new0.example/', 'page', 34, 'waiting', NULL, 1, 5, 0, 2, 'to new0.example/', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (2, -3597206761524782865, 'http://b.example/', 'page', 2, 'visited', 'ok', 0, 9, 0, NULL, NULL, 'seed', 0, 0, NULL, NULL, 1000000, 1000000, 200, NULL, 0, 0, NULL, 0, 0, NULL, 0, 604800, 1604800);
INSERT INTO geocrawl.url VALUES (4, -2493474819263271044, 'http://h0.example/Stra%C3%9Fe-0?q=0', 'page', 4, 'visited', 'ok', 1, 5, 0, 1, 'to h0.example/Straße-0?q=0', 'a', 0, 0, NULL, NULL, 1000000, 1000000, 200, NULL, 0, 0, NULL, 0, 0, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (35, 947085419279304107, 'http://new1.example/', 'page', 35, 'waiting', NULL, 2, 5, 0, 4, 'to new1.example/', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (5, 9136349055874000667, 'http://h1.example/Stra%C3%9Fe-1?q=1', 'page', 5, 'visited', 'ok', 1, 5, 0, 1, 'to h1.example/Straße-1?q=1', 'a', 0, 0, NULL, NULL, 1000000, 1000000, 200, NULL, 0, 0, NULL, 0, 0, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (36, -1234357219123535713, 'http://new2.example/', 'page', 36, 'waiting', NULL, 2, 5, 0, 5, 'to new2.example/', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (6, 8801818324135516026, 'http://h2.example/Stra%C3%9Fe-2?q=2', 'page', 6, 'visited', 'ok', 1, 5, 0, 1, 'to h2.example/Straße-2?q=2', 'a', 0, 0, NULL, NULL, 1000000, 1000000, 200, NULL, 0, 0, NULL, 0, 0, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (37, 1647009151308403693, 'http://new3.example/', 'page', 37, 'waiting', NULL, 2, 5, 0, 6, 'to new3.example/', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (7, -8217397955114148289, 'http://h3.example/Stra%C3%9Fe-3?q=3', 'page', 7, 'visited', 'ok', 1, 5, 0, 1, 'to h3.example/Straße-3?q=3', 'a', 0, 0, NULL, NULL, 1000000, 1000000, 200, NULL, 0, 0, NULL, 0, 0, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (38, 3883955589028539847, 'http://new4.example/', 'page', 38, 'waiting', NULL, 2, 5, 0, 7, 'to new4.example/', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (8, 8389628657296976813, 'http://h4.example/Stra%C3%9Fe-4?q=4', 'page', 8, 'visited', 'ok', 1, 5, 0, 1, 'to h4.example/Straße-4?q=4', 'a', 0, 0, NULL, NULL, 1000000, 1000000, 200, NULL, 0, 0, NULL, 0, 0, NULL, 0, NULL, NULL);
INSERT INTO geocrawl.url VALUES (39, 2477852005563204651, 'http://new5.example/', 'page', 39, 'waiting', NULL, 2, 5, 0, 8, 'to new5.example/', 'a', 0, 0, NULL, NULL, 1000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL);
SELECT pg_catalog.setval('geocrawl.change_id_seq', 1, false);
SELECT pg_catalog.setval('geocrawl.evidence_id_seq', 1, true);
SELECT pg_catalog.setval('geocrawl.health_event_id_seq', 1, true);
SELECT pg_catalog.setval('geocrawl.lesson_number_seq', 8, true);
SELECT pg_catalog.setval('geocrawl.notice_id_seq', 1, false);
SELECT pg_catalog.setval('geocrawl.probe_id_seq', 1, true);
SELECT pg_catalog.setval('geocrawl.run_id_seq', 1, true);
SELECT pg_catalog.setval('geocrawl.search_change_seq_seq', 4, true);
SELECT pg_catalog.setval('geocrawl.search_list_id_seq', 1, true);
SELECT pg_catalog.setval('geocrawl.service_id_seq', 1, true);
SELECT pg_catalog.setval('geocrawl.watch_id_seq', 1, false);
ALTER TABLE ONLY geocrawl.alembic_version
    ADD CONSTRAINT alembic_version_pkey PRIMARY KEY (version_num);
ALTER TABLE ONLY geocrawl.alike
    ADD CONSTRAINT alike_pkey PRIMARY KEY (key);
ALTER TABLE ONLY geocrawl.blocked
    ADD CONSTRAINT blocked_pkey PRIMARY KEY (host);
ALTER TABLE ONLY geocrawl.change
    ADD CONSTRAINT change_pkey PRIMARY KEY (id);
ALTER TABLE ONLY geocrawl.counter
    ADD CONSTRAINT counter_pkey PRIMARY KEY (name);
ALTER TABLE ONLY geocrawl.daily
    ADD CONSTRAINT daily_pkey PRIMARY KEY (day, name);
ALTER TABLE ONLY geocrawl.description
    ADD CONSTRAINT description_pkey PRIMARY KEY (endpoint_id);
ALTER TABLE ONLY geocrawl.endpoint
    ADD CONSTRAINT endpoint_kind_key_key UNIQUE (kind, key);
ALTER TABLE ONLY geocrawl.endpoint
    ADD CONSTRAINT endpoint_pkey PRIMARY KEY (id);
ALTER TABLE ONLY geocrawl.evidence
    ADD CONSTRAINT evidence_endpoint_id_page_link_key UNIQUE (endpoint_id, page, link);
ALTER TABLE ONLY geocrawl.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (id);
ALTER TABLE ONLY geocrawl.health_event
    ADD CONSTRAINT health_event_pkey PRIMARY KEY (id);
ALTER TABLE ONLY geocrawl.host
    ADD CONSTRAINT host_name_key UNIQUE (name);
ALTER TABLE ONLY geocrawl.host
    ADD CONSTRAINT host_pkey PRIMARY KEY (id);
ALTER TABLE ONLY geocrawl.layer
    ADD CONSTRAINT layer_pkey PRIMARY KEY (service_id, "position");
ALTER TABLE ONLY geocrawl.lesson
    ADD CONSTRAINT lesson_pkey PRIMARY KEY (number);
ALTER TABLE ONLY geocrawl.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY geocrawl.notice
    ADD CONSTRAINT notice_pkey PRIMARY KEY (id);
ALTER TABLE ONLY geocrawl.outlinks
    ADD CONSTRAINT outlinks_pkey PRIMARY KEY (url_id);
ALTER TABLE ONLY geocrawl.page_store
    ADD CONSTRAINT page_store_pkey PRIMARY KEY (url_id);
ALTER TABLE ONLY geocrawl.pattern
    ADD CONSTRAINT pattern_pkey PRIMARY KEY (key);
ALTER TABLE ONLY geocrawl.probe
    ADD CONSTRAINT probe_pkey PRIMARY KEY (id);
ALTER TABLE ONLY geocrawl.proof
    ADD CONSTRAINT proof_pkey PRIMARY KEY (endpoint_id, "position");
ALTER TABLE ONLY geocrawl.query_group
    ADD CONSTRAINT query_group_pkey PRIMARY KEY (key);
ALTER TABLE ONLY geocrawl.robots
    ADD CONSTRAINT robots_pkey PRIMARY KEY (origin);
ALTER TABLE ONLY geocrawl.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (id);
ALTER TABLE ONLY geocrawl.same_service
    ADD CONSTRAINT same_service_pkey PRIMARY KEY (first_id, second_id, signal);
ALTER TABLE ONLY geocrawl.search_change
    ADD CONSTRAINT search_change_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY geocrawl.search_change
    ADD CONSTRAINT search_change_service_id_key UNIQUE (service_id);
ALTER TABLE ONLY geocrawl.search_entry
    ADD CONSTRAINT search_entry_pkey PRIMARY KEY (service_id);
ALTER TABLE ONLY geocrawl.search_list
    ADD CONSTRAINT search_list_digest_key UNIQUE (digest);
ALTER TABLE ONLY geocrawl.search_list
    ADD CONSTRAINT search_list_pkey PRIMARY KEY (id);
ALTER TABLE ONLY geocrawl.search_text
    ADD CONSTRAINT search_text_pkey PRIMARY KEY (rowid);
ALTER TABLE ONLY geocrawl.seed
    ADD CONSTRAINT seed_pkey PRIMARY KEY (identity);
ALTER TABLE ONLY geocrawl.service
    ADD CONSTRAINT service_pkey PRIMARY KEY (id);
ALTER TABLE ONLY geocrawl.site
    ADD CONSTRAINT site_pkey PRIMARY KEY (name);
ALTER TABLE ONLY geocrawl.thumbnail
    ADD CONSTRAINT thumbnail_pkey PRIMARY KEY (endpoint_id);
ALTER TABLE ONLY geocrawl.url
    ADD CONSTRAINT url_key_key UNIQUE (key);
ALTER TABLE ONLY geocrawl.url
    ADD CONSTRAINT url_pkey PRIMARY KEY (id);
ALTER TABLE ONLY geocrawl.validator
    ADD CONSTRAINT validator_pkey PRIMARY KEY (url_id);
ALTER TABLE ONLY geocrawl.watch
    ADD CONSTRAINT watch_pkey PRIMARY KEY (id);
CREATE INDEX change_at ON geocrawl.change USING btree (at);
CREATE INDEX change_service ON geocrawl.change USING btree (service_id, at);
CREATE INDEX description_family ON geocrawl.description USING btree (kind, family);
CREATE INDEX description_fingerprint ON geocrawl.description USING btree (kind, fingerprint);
CREATE INDEX endpoint_due ON geocrawl.endpoint USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX endpoint_key ON geocrawl.endpoint USING btree (key);
CREATE INDEX endpoint_service ON geocrawl.endpoint USING btree (service_id);
CREATE INDEX health_event_at ON geocrawl.health_event USING btree (at);
CREATE INDEX health_event_endpoint ON geocrawl.health_event USING btree (endpoint_id, at);
CREATE INDEX host_leased ON geocrawl.host USING btree (lease_until) WHERE (lease_until > (0)::double precision);
CREATE INDEX host_ready ON geocrawl.host USING btree (parked, best_tier DESC, best_score DESC, turn, next_at, id) WHERE ((waiting > 0) AND (lease_until = (0)::double precision));
CREATE INDEX host_rest ON geocrawl.host USING btree (parked, next_at) WHERE ((waiting > 0) AND (lease_until = (0)::double precision));
CREATE INDEX notice_watch ON geocrawl.notice USING btree (watch_id, sent_at);
CREATE INDEX page_store_worst ON geocrawl.page_store USING btree (score, url_id);
CREATE INDEX probe_endpoint ON geocrawl.probe USING btree (endpoint_id, at);
CREATE INDEX same_service_second ON geocrawl.same_service USING btree (second_id);
CREATE INDEX search_text_words ON geocrawl.search_text USING gin (words);
CREATE INDEX service_same ON geocrawl.service USING btree (kind, fingerprint, site);
CREATE INDEX url_endpoint ON geocrawl.url USING btree (endpoint_id) WHERE (endpoint_id IS NOT NULL);
CREATE INDEX url_failed ON geocrawl.url USING btree (settled_at) WHERE (state = 'failed'::text);
CREATE INDEX url_queue ON geocrawl.url USING btree (host_id, tier DESC, score DESC, id) WHERE (state = 'waiting'::text);
CREATE INDEX url_retry ON geocrawl.url USING btree (purpose, retry_at) WHERE (retry_at IS NOT NULL);
CREATE INDEX url_revisit ON geocrawl.url USING btree (revisit_at) WHERE (revisit_at IS NOT NULL);
CREATE INDEX url_seed ON geocrawl.url USING btree (id) WHERE (depth = 0);
CREATE TRIGGER search_endpoint_deleted AFTER DELETE ON geocrawl.endpoint FOR EACH ROW WHEN ((old.service_id IS NOT NULL)) EXECUTE FUNCTION geocrawl.note_old_service();
CREATE TRIGGER search_endpoint_moved AFTER UPDATE OF service_id ON geocrawl.endpoint FOR EACH ROW WHEN (((old.service_id IS NOT NULL) AND (old.service_id IS DISTINCT FROM new.service_id))) EXECUTE FUNCTION geocrawl.note_old_service();
CREATE TRIGGER search_endpoint_written AFTER UPDATE OF service_id, status, health, level, url, deviations ON geocrawl.endpoint FOR EACH ROW WHEN ((new.service_id IS NOT NULL)) EXECUTE FUNCTION geocrawl.note_new_service();
CREATE TRIGGER search_entry_written AFTER INSERT OR UPDATE ON geocrawl.search_entry FOR EACH ROW EXECUTE FUNCTION geocrawl.note_new_service();
CREATE TRIGGER search_service_deleted AFTER DELETE ON geocrawl.service FOR EACH ROW EXECUTE FUNCTION geocrawl.note_old();
CREATE TRIGGER search_service_written AFTER UPDATE ON geocrawl.service FOR EACH ROW EXECUTE FUNCTION geocrawl.note_new();
