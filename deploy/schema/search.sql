-- The tables of the schema search, as pg_dump shows them. Written by deploy/dev schema; do not edit.

CREATE SEQUENCE asset_change
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE asset (
    arxiv_id text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    abstract text DEFAULT ''::text NOT NULL,
    authors text[] DEFAULT '{}'::text[] NOT NULL,
    categories text[] DEFAULT '{}'::text[] NOT NULL,
    published_at timestamp with time zone,
    updated_at timestamp with time zone,
    github_url text,
    container_image text,
    container_status text DEFAULT 'none'::text NOT NULL,
    containerfile text,
    working_directory text,
    environment_vars jsonb DEFAULT '{}'::jsonb NOT NULL,
    reference_summary jsonb DEFAULT '{"total": 0, "by_class": {}, "classified": 0}'::jsonb NOT NULL,
    license text,
    is_deleted boolean DEFAULT false NOT NULL,
    change bigint DEFAULT nextval('asset_change'::regclass) NOT NULL,
    has_container boolean GENERATED ALWAYS AS ((container_status = 'ready'::text)) STORED NOT NULL,
    added_at timestamp with time zone DEFAULT now(),
    source_title text,
    source_abstract text,
    source_authors text[],
    text_version smallint DEFAULT 0 NOT NULL,
    comments text,
    upvotes integer,
    doi text,
    CONSTRAINT asset_container_status_check CHECK ((container_status = ANY (ARRAY['none'::text, 'queued'::text, 'building'::text, 'ready'::text, 'failed'::text]))),
    CONSTRAINT asset_title_check CHECK ((title <> ''::text)),
    CONSTRAINT asset_upvotes_check CHECK ((upvotes >= 0))
)
WITH (toast_tuple_target='4080');
ALTER TABLE asset
    ADD CONSTRAINT asset_arxiv_id_check CHECK ((arxiv_id ~ '^([0-9]{4}\.[0-9]{4,5}|[a-z-]+/[0-9]{7}|(biorxiv|medrxiv):10\.[0-9]{4,9}/[0-9]+(\.[0-9]+)*)$'::text)) NOT VALID;
ALTER TABLE ONLY asset
    ADD CONSTRAINT asset_change_key UNIQUE (change);
ALTER TABLE ONLY asset
    ADD CONSTRAINT asset_pkey PRIMARY KEY (arxiv_id);
CREATE INDEX asset_added ON asset USING btree (added_at) WHERE (NOT is_deleted);
CREATE INDEX asset_text_stale ON asset USING btree (arxiv_id) WHERE ((text_version < 1) AND has_markup(title, abstract, authors));
CREATE TRIGGER asset_list_inserted AFTER INSERT ON asset REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION asset_list_rows('1');
CREATE TRIGGER asset_list_updated_from AFTER UPDATE ON asset REFERENCING OLD TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION asset_list_rows('-1');
CREATE TRIGGER asset_list_updated_to AFTER UPDATE ON asset REFERENCING NEW TABLE AS counted FOR EACH STATEMENT EXECUTE FUNCTION asset_list_rows('1');
CREATE TRIGGER asset_lock BEFORE INSERT OR UPDATE ON asset FOR EACH STATEMENT EXECUTE FUNCTION asset_lock_changes();
CREATE TRIGGER asset_number BEFORE UPDATE ON asset FOR EACH ROW EXECUTE FUNCTION asset_number_change();
CREATE TRIGGER asset_tell AFTER INSERT OR UPDATE ON asset FOR EACH STATEMENT EXECUTE FUNCTION asset_tell_change();

CREATE TABLE source (
    name text NOT NULL,
    set text NOT NULL,
    is_scheduled boolean NOT NULL,
    state text DEFAULT 'idle'::text NOT NULL,
    cursor jsonb DEFAULT '{}'::jsonb NOT NULL,
    slot timestamp with time zone,
    repeats integer DEFAULT 0 NOT NULL,
    next_at timestamp with time zone,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    listed_at timestamp with time zone,
    response_date timestamp with time zone,
    records bigint DEFAULT 0 NOT NULL,
    added bigint DEFAULT 0 NOT NULL,
    changed bigint DEFAULT 0 NOT NULL,
    withdrawn bigint DEFAULT 0 NOT NULL,
    skipped bigint DEFAULT 0 NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    restarts integer DEFAULT 0 NOT NULL,
    error text,
    newest_published_at timestamp with time zone,
    fresh_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT source_name_check CHECK ((octet_length(name) <= 50)),
    CONSTRAINT source_set_check CHECK ((octet_length(set) <= 200)),
    CONSTRAINT source_state_check CHECK ((state = ANY (ARRAY['idle'::text, 'running'::text, 'waiting'::text, 'failed'::text])))
);
ALTER TABLE ONLY source
    ADD CONSTRAINT source_pkey PRIMARY KEY (name, set);

CREATE TABLE asset_change_order (
);

CREATE TABLE asset_count (
    key text NOT NULL COLLATE pg_catalog."C",
    has_container boolean NOT NULL,
    papers bigint NOT NULL,
    named bigint NOT NULL,
    reference numeric NOT NULL,
    classified numeric NOT NULL
);
ALTER TABLE ONLY asset_count
    ADD CONSTRAINT asset_count_pkey PRIMARY KEY (key, has_container);

CREATE TABLE asset_key (
    arxiv_id text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    published_at timestamp with time zone,
    has_container boolean NOT NULL
);
ALTER TABLE ONLY asset_key
    ADD CONSTRAINT asset_key_pkey PRIMARY KEY (arxiv_id, key);
CREATE INDEX asset_key_order ON asset_key USING btree (key, published_at DESC NULLS LAST, arxiv_id DESC) INCLUDE (has_container);

CREATE TABLE asset_vector (
    space text NOT NULL,
    arxiv_id text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    vector bytea NOT NULL,
    change bigint NOT NULL
);
ALTER TABLE ONLY asset_vector ALTER COLUMN vector SET STORAGE EXTERNAL;
ALTER TABLE ONLY asset_vector
    ADD CONSTRAINT asset_vector_pkey PRIMARY KEY (space, arxiv_id);
ALTER TABLE ONLY asset_vector
    ADD CONSTRAINT asset_vector_space_change_key UNIQUE (space, change);
CREATE TRIGGER asset_vector_lock BEFORE INSERT OR UPDATE ON asset_vector FOR EACH STATEMENT EXECUTE FUNCTION asset_lock_changes();
CREATE TRIGGER asset_vector_number BEFORE INSERT OR UPDATE ON asset_vector FOR EACH ROW EXECUTE FUNCTION asset_number_change();
ALTER TABLE ONLY asset_vector
    ADD CONSTRAINT asset_vector_arxiv_id_fkey FOREIGN KEY (arxiv_id) REFERENCES asset(arxiv_id);
ALTER TABLE ONLY asset_vector
    ADD CONSTRAINT asset_vector_space_fkey FOREIGN KEY (space) REFERENCES vector_space(name) ON DELETE CASCADE;

CREATE TABLE embedder (
    version text NOT NULL,
    number bigint NOT NULL,
    format integer NOT NULL,
    bytes integer NOT NULL,
    fingerprint bytea NOT NULL,
    trained_at timestamp with time zone DEFAULT now() NOT NULL,
    papers integer NOT NULL,
    change bigint NOT NULL,
    checked_at timestamp with time zone DEFAULT now() NOT NULL,
    recipe integer DEFAULT 1 NOT NULL,
    CONSTRAINT embedder_bytes_check CHECK (((bytes >= 1) AND (bytes <= 33554432))),
    CONSTRAINT embedder_version_check CHECK (((octet_length(version) >= 1) AND (octet_length(version) <= 100)))
);
ALTER TABLE ONLY embedder
    ADD CONSTRAINT embedder_number_key UNIQUE (number);
ALTER TABLE ONLY embedder
    ADD CONSTRAINT embedder_pkey PRIMARY KEY (version);
CREATE TRIGGER embedder_tell AFTER INSERT OR UPDATE ON embedder FOR EACH STATEMENT EXECUTE FUNCTION asset_tell_change();

CREATE TABLE embedder_chunk (
    version text NOT NULL,
    number integer NOT NULL,
    data bytea NOT NULL,
    CONSTRAINT embedder_chunk_data_check CHECK (((octet_length(data) >= 1) AND (octet_length(data) <= 262144))),
    CONSTRAINT embedder_chunk_number_check CHECK (((number >= 0) AND (number <= 127)))
);
ALTER TABLE ONLY embedder_chunk ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE ONLY embedder_chunk
    ADD CONSTRAINT embedder_chunk_pkey PRIMARY KEY (version, number);
ALTER TABLE ONLY embedder_chunk
    ADD CONSTRAINT embedder_chunk_version_fkey FOREIGN KEY (version) REFERENCES embedder(version) ON DELETE CASCADE;

ALTER TABLE embedder ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME embedder_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE index_source (
    id uuid NOT NULL
);

CREATE TABLE repository (
    number bigint NOT NULL,
    name text NOT NULL,
    version bigint NOT NULL
);

CREATE TABLE source_pace (
    name text NOT NULL,
    next_request_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY source_pace
    ADD CONSTRAINT source_pace_pkey PRIMARY KEY (name);

CREATE TABLE vector_space (
    name text NOT NULL,
    dimension integer,
    done bigint DEFAULT 0 NOT NULL,
    holder text,
    held_until timestamp with time zone,
    CONSTRAINT vector_space_dimension_check CHECK (((dimension >= 1) AND (dimension <= 4096)))
);
ALTER TABLE ONLY vector_space
    ADD CONSTRAINT vector_space_pkey PRIMARY KEY (name);
