-- Vectors of papers. They compare only within one version of the embedder of svc-search, so there is a vector for each
-- version that an interest uses: an interest goes over to a new version with all its papers and its model at once.
CREATE TABLE paper_vector (
    arxiv_id text REFERENCES paper ON DELETE CASCADE,
    embedder text CHECK (octet_length(embedder) <= 400), -- the version
    vector   text NOT NULL,             -- base64 of one signed byte for each dimension
    scale    double precision NOT NULL, -- what a byte is multiplied by
    PRIMARY KEY (arxiv_id, embedder)
);
CREATE INDEX paper_vector_of_embedder ON paper_vector (embedder);

-- The versions that svc-search has named; the one that it named last is current.
CREATE TABLE embedder (
    version text PRIMARY KEY CHECK (octet_length(version) <= 400),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

INSERT INTO paper_vector (arxiv_id, embedder, vector, scale)
SELECT arxiv_id, model, vector, scale FROM paper WHERE vector IS NOT NULL AND scale IS NOT NULL AND model IS NOT NULL;
INSERT INTO embedder (version) SELECT DISTINCT embedder FROM paper_vector;

ALTER TABLE interest ADD COLUMN embedder text, ADD COLUMN pool_embedder text;
ALTER TABLE preference_model ADD COLUMN embedder text;
COMMENT ON COLUMN interest.embedder IS 'the version whose vectors its papers are compared by; NULL: words only';
COMMENT ON COLUMN interest.pool_embedder IS 'the version that svc-search named with the candidates of the pool';
COMMENT ON COLUMN preference_model.embedder IS 'the version that it was fitted to; NULL: words only, or unknown';

UPDATE interest i SET (embedder, pool_embedder) = (v.embedder, v.embedder)
FROM (SELECT DISTINCT ON (e.interest_id) e.interest_id, v.embedder FROM pool_entry e JOIN paper_vector v USING (arxiv_id)) v
WHERE v.interest_id = i.id;

DROP FUNCTION paper_json(paper);
ALTER TABLE paper DROP COLUMN vector, DROP COLUMN scale, DROP COLUMN model;

-- Note that svc-search named this version now.
CREATE FUNCTION embedder_seen(version text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO embedder AS e (version) SELECT $1 WHERE $1 IS NOT NULL
    ON CONFLICT (version) DO UPDATE SET seen_at = clock_timestamp()
    WHERE e.seen_at < (SELECT max(seen_at) FROM embedder)
$$;

-- A paper as the ranking code reads it, with the address of its authors' code and its vector by this version.
CREATE FUNCTION paper_json(p paper, embedder text) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'arxiv_id', p.arxiv_id, 'title', p.asset -> 'title', 'abstract', p.abstract,
        'categories', p.asset -> 'categories', 'published_at', p.asset -> 'published_at',
        'has_container', p.asset -> 'has_container', 'github_url', p.asset -> 'github_url')
        || coalesce((SELECT jsonb_build_object('vector', v.vector, 'scale', v.scale, 'model', v.embedder)
                     FROM paper_vector v WHERE v.arxiv_id = p.arxiv_id AND v.embedder = $2), '{}')
$$;

-- Keep the papers of an answer of svc-search: {"results": [...], "model": ...}, where "model" is the version of the
-- embedder. In the order of ids, so that two that keep the same papers do not wait for each other in a circle.
CREATE OR REPLACE FUNCTION paper_keep(answer jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT embedder_seen(answer ->> 'model');
    INSERT INTO paper AS p (arxiv_id, asset, abstract)
    SELECT DISTINCT ON (r.arxiv_id) r.arxiv_id, r.asset, coalesce(r.abstract, '')
    FROM jsonb_to_recordset(answer -> 'results') AS r (arxiv_id text, asset jsonb, abstract text)
    ORDER BY r.arxiv_id
    ON CONFLICT (arxiv_id) DO UPDATE
    SET asset = excluded.asset, abstract = excluded.abstract, updated_at = now()
    WHERE (p.asset, p.abstract) IS DISTINCT FROM (excluded.asset, excluded.abstract);
    INSERT INTO paper_vector AS v (arxiv_id, embedder, vector, scale)
    SELECT DISTINCT ON (r.arxiv_id) r.arxiv_id, answer ->> 'model', r.vector, r.scale
    FROM jsonb_to_recordset(answer -> 'results') AS r (arxiv_id text, vector text, scale double precision)
    WHERE r.vector IS NOT NULL AND r.scale IS NOT NULL AND answer ->> 'model' IS NOT NULL
    ORDER BY r.arxiv_id
    ON CONFLICT (arxiv_id, embedder) DO UPDATE SET vector = excluded.vector, scale = excluded.scale
    WHERE (v.vector, v.scale) IS DISTINCT FROM (excluded.vector, excluded.scale);
$$;
