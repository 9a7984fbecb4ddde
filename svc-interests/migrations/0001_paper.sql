-- What search told about a paper when it was last asked: common to all accounts, since papers are public.
CREATE TABLE paper (
    arxiv_id   text PRIMARY KEY,
    asset      jsonb NOT NULL,   -- as search lists it
    abstract   text NOT NULL,    -- whole
    vector     text,             -- base64 of one signed byte for each dimension; NULL: none
    scale      double precision, -- what a byte is multiplied by
    model      text,             -- the embedder that made the vector
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- A paper as the ranking code reads it, with the address of its authors' code.
CREATE FUNCTION paper_json(p paper) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object(
        'arxiv_id', p.arxiv_id, 'title', p.asset -> 'title', 'abstract', p.abstract,
        'categories', p.asset -> 'categories', 'published_at', p.asset -> 'published_at',
        'has_container', p.asset -> 'has_container', 'github_url', p.asset -> 'github_url',
        'vector', p.vector, 'scale', p.scale, 'model', p.model)
$$;

-- Keep the papers of an answer of svc-search: {"results": [...], "model": ...}. In the order of ids, so that two that
-- keep the same papers do not wait for each other in a circle.
CREATE FUNCTION paper_keep(answer jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO paper AS p (arxiv_id, asset, abstract, vector, scale, model)
    SELECT DISTINCT ON (r.arxiv_id) r.arxiv_id, r.asset, coalesce(r.abstract, ''), r.vector, r.scale, answer ->> 'model'
    FROM jsonb_to_recordset(answer -> 'results')
         AS r (arxiv_id text, asset jsonb, abstract text, vector text, scale double precision)
    ORDER BY r.arxiv_id
    ON CONFLICT (arxiv_id) DO UPDATE
    SET asset = excluded.asset, abstract = excluded.abstract, vector = excluded.vector, scale = excluded.scale,
        model = excluded.model, updated_at = now()
    WHERE (p.asset, p.abstract, p.vector, p.scale, p.model)
          IS DISTINCT FROM (excluded.asset, excluded.abstract, excluded.vector, excluded.scale, excluded.model)
$$;
