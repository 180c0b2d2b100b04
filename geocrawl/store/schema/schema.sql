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

CREATE VIRTUAL TABLE service_text USING fts5(
	title, abstract, keywords, provider, layers,
	tokenize = 'porter unicode61 remove_diacritics 2'
)
