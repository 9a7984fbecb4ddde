-- Papers, the truth from which every replica builds its index.
--
-- `change` numbers the states of all papers in the order in which they are committed: writers take an advisory lock
-- before they draw a number, so whoever has seen number n has seen all below it.
CREATE SEQUENCE asset_change;

-- The categories and the archives above them: `{cs.LG,stat.ML}` gives `{cs.LG,stat.ML,cs,stat}`.
CREATE FUNCTION category_keys(categories text[]) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT categories || ARRAY(SELECT DISTINCT split_part(c, '.', 1) FROM unnest(categories) c WHERE c LIKE '%.%')
$$;

CREATE TABLE asset (
    arxiv_id          text COLLATE "C" PRIMARY KEY CHECK (arxiv_id ~ '^([0-9]{4}\.[0-9]{4,5}|[a-z-]+/[0-9]{7})$'),
    title             text NOT NULL CHECK (title <> ''),
    abstract          text NOT NULL DEFAULT '',
    authors           text[] NOT NULL DEFAULT '{}',
    categories        text[] NOT NULL DEFAULT '{}', -- the primary one first
    published_at      timestamptz,
    updated_at        timestamptz,
    github_url        text,
    container_image   text,
    container_status  text NOT NULL DEFAULT 'none'
                      CHECK (container_status IN ('none', 'queued', 'building', 'ready', 'failed')),
    containerfile     text,
    working_directory text,
    environment_vars  jsonb NOT NULL DEFAULT '{}',
    reference_summary jsonb NOT NULL DEFAULT '{"total": 0, "classified": 0, "by_class": {}}',
    license           text,
    is_deleted        boolean NOT NULL DEFAULT false, -- withdrawn at its source; kept so that replicas hear of it
    change            bigint NOT NULL UNIQUE,
    has_container     boolean NOT NULL GENERATED ALWAYS AS (container_status = 'ready') STORED,
    category_keys     text[] NOT NULL GENERATED ALWAYS AS (category_keys(categories)) STORED
);

-- The first part of an abstract: at most 400 characters, cut behind a sentence, else behind a word.
CREATE FUNCTION abstract_start(abstract text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN char_length(abstract) <= 400 THEN abstract
                ELSE coalesce(substring(left(abstract, 400) FROM '^(.*[.!?])\s'),
                              substring(left(abstract, 399) FROM '^(.*)\s') || '…',
                              left(abstract, 399) || '…') END
$$;

CREATE INDEX asset_published ON asset (published_at DESC NULLS LAST, arxiv_id DESC) WHERE NOT is_deleted;
CREATE INDEX asset_container ON asset (has_container, published_at DESC NULLS LAST, arxiv_id DESC) WHERE NOT is_deleted;
CREATE INDEX asset_category ON asset USING gin (category_keys) WHERE NOT is_deleted;

CREATE FUNCTION asset_lock_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(TG_TABLE_SCHEMA || '.asset_change', 0));
    RETURN NULL;
END $$;

CREATE FUNCTION asset_number_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.change := nextval('asset_change');
    RETURN NEW;
END $$;

CREATE FUNCTION asset_tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('asset_changed', '');
    RETURN NULL;
END $$;

CREATE TRIGGER asset_lock BEFORE INSERT OR UPDATE ON asset
    FOR EACH STATEMENT EXECUTE FUNCTION asset_lock_changes();
CREATE TRIGGER asset_number BEFORE INSERT OR UPDATE ON asset
    FOR EACH ROW EXECUTE FUNCTION asset_number_change();
CREATE TRIGGER asset_tell AFTER INSERT OR UPDATE ON asset
    FOR EACH STATEMENT EXECUTE FUNCTION asset_tell_change();

-- A paper as lists show it.
CREATE FUNCTION asset_json(a asset) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'arxiv_id', a.arxiv_id, 'title', a.title, 'abstract', abstract_start(a.abstract),
        'authors', to_jsonb(a.authors), 'categories', to_jsonb(a.categories),
        'url', 'https://arxiv.org/abs/' || a.arxiv_id,
        'published_at', time_json(a.published_at), 'updated_at', time_json(a.updated_at),
        'github_url', a.github_url, 'has_container', a.has_container,
        'container_image', a.container_image, 'container_status', a.container_status)
$$;

-- A paper with all that is known of it.
CREATE FUNCTION asset_detail_json(a asset) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT asset_json(a) || jsonb_build_object(
        'abstract', a.abstract, 'containerfile', a.containerfile, 'working_directory', a.working_directory,
        'environment_vars', a.environment_vars, 'reference_summary', a.reference_summary, 'license', a.license)
$$;

-- Tells an index on a replica's disk which database it was made from.
CREATE TABLE index_source (id uuid NOT NULL);
INSERT INTO index_source VALUES (uuid_v7());

-- The last figures of GET /search/stats, good for as long as `change` is the newest one.
CREATE TABLE asset_stats (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    change  bigint NOT NULL,
    figures jsonb NOT NULL
);
