-- Papers, the truth from which every replica builds its index.
--
-- `change` numbers the states of all papers in the order in which they are committed: writers take an advisory lock
-- before they draw a number, so whoever has seen number n has seen all below it.
CREATE SEQUENCE asset_change;

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
    has_container     boolean NOT NULL GENERATED ALWAYS AS (container_status = 'ready') STORED
);

-- The first part of an abstract: at most 400 characters, cut behind a sentence, else behind a word.
CREATE FUNCTION abstract_start(abstract text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN char_length(abstract) <= 400 THEN abstract
                ELSE coalesce(substring(left(abstract, 400) FROM '^(.*[.!?])\s'),
                              substring(left(abstract, 399) FROM '^(.*)\s') || '…',
                              left(abstract, 399) || '…') END
$$;

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
        'environment_vars', a.environment_vars, 'license', a.license,
        'reference_summary', jsonb_build_object('total', a.reference_summary->'total',
                                                'classified', a.reference_summary->'classified',
                                                'by_class', a.reference_summary->'by_class'))
$$;

-- Tells an index on a replica's disk which database it was made from.
CREATE TABLE index_source (id uuid NOT NULL);
INSERT INTO index_source VALUES (uuid_v7());

-- What a paper is listed under: '' for all, its categories and the archives above them: `{cs.LG,stat.ML}` gives
-- `{'',cs.LG,stat.ML,cs,stat}`, each once.
CREATE FUNCTION list_keys(categories text[]) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT '' UNION SELECT unnest(categories) UNION SELECT split_part(c, '.', 1) FROM unnest(categories) c
$$;

-- The lists: papers under each key in their order, so that a page far behind costs no more than reading this index.
CREATE TABLE asset_key (
    arxiv_id      text COLLATE "C" REFERENCES asset,
    key           text COLLATE "C",
    published_at  timestamptz,
    has_container boolean NOT NULL,
    PRIMARY KEY (arxiv_id, key)
);
CREATE INDEX asset_key_order ON asset_key (key, published_at DESC NULLS LAST, arxiv_id DESC) INCLUDE (has_container);

-- How many papers there are, counted as they change: a list says how many it has in all without counting them.
CREATE TABLE asset_count (
    key           text COLLATE "C", -- as in asset_key
    has_container boolean,
    papers        bigint NOT NULL,  -- under the key
    named         bigint NOT NULL,  -- of them those that name the key itself, not only a category below it
    reference     numeric NOT NULL, -- references of those papers, counted under '' alone
    classified    numeric NOT NULL, -- of them those that are classified
    PRIMARY KEY (key, has_container)
);

-- Takes the rows of the transition table `counted` into the lists (argument 1) or out of them (argument -1).
CREATE FUNCTION asset_count_rows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign CONSTANT int := TG_ARGV[0];
BEGIN
    IF sign < 0 THEN
        DELETE FROM asset_key WHERE arxiv_id IN (SELECT arxiv_id FROM counted);
    ELSE
        INSERT INTO asset_key (arxiv_id, key, published_at, has_container)
        SELECT a.arxiv_id, key, a.published_at, a.has_container
        FROM counted a, list_keys(a.categories) key WHERE NOT a.is_deleted;
    END IF;
    INSERT INTO asset_count AS c (key, has_container, papers, named, reference, classified)
    SELECT key, a.has_container, sign * count(*), sign * count(*) FILTER (WHERE key = ANY (a.categories)),
           sign * coalesce(sum((a.reference_summary->>'total')::numeric) FILTER (WHERE key = ''), 0),
           sign * coalesce(sum((a.reference_summary->>'classified')::numeric) FILTER (WHERE key = ''), 0)
    FROM counted a, list_keys(a.categories) key
    WHERE NOT a.is_deleted
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (key, has_container) DO UPDATE
    SET papers = c.papers + excluded.papers, named = c.named + excluded.named,
        reference = c.reference + excluded.reference, classified = c.classified + excluded.classified;
    RETURN NULL;
END $$;

CREATE TRIGGER asset_count_inserted AFTER INSERT ON asset REFERENCING NEW TABLE AS counted
    FOR EACH STATEMENT EXECUTE FUNCTION asset_count_rows('1');
CREATE TRIGGER asset_count_updated_from AFTER UPDATE ON asset REFERENCING OLD TABLE AS counted
    FOR EACH STATEMENT EXECUTE FUNCTION asset_count_rows('-1');
CREATE TRIGGER asset_count_updated_to AFTER UPDATE ON asset REFERENCING NEW TABLE AS counted
    FOR EACH STATEMENT EXECUTE FUNCTION asset_count_rows('1');
