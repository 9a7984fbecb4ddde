-- What svc-search answered about papers.

-- Refuse rows whose paper is not stored. Papers stay, so that the look needs no lock; nothing changes the paper of a row.
--
-- OFFSET 0 and the setting have each paper looked up by its key, also where the plan was made while the table was small.
CREATE OR REPLACE FUNCTION paper_required() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF EXISTS (SELECT FROM made WHERE NOT EXISTS (SELECT FROM paper p WHERE p.arxiv_id = made.arxiv_id OFFSET 0)) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the paper is not stored', CONSTRAINT = 'paper_required';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER paper_required AFTER INSERT ON pool_entry REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION paper_required();
CREATE OR REPLACE TRIGGER paper_required AFTER INSERT ON recommendation REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION paper_required();
CREATE OR REPLACE TRIGGER paper_required AFTER INSERT ON paper_vector REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION paper_required();

CREATE OR REPLACE FUNCTION paper_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE foreign_key_violation USING MESSAGE = 'papers are not deleted', CONSTRAINT = 'paper_stays';
END $$;

CREATE OR REPLACE TRIGGER paper_stays BEFORE DELETE OR TRUNCATE ON paper FOR EACH STATEMENT EXECUTE FUNCTION paper_stays();

-- Note that svc-search named this version now. That of the newest note is not noted again: every refresh would wait for its row.
CREATE OR REPLACE FUNCTION embedder_seen(version text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF $1 IS DISTINCT FROM (SELECT newest.version FROM embedder newest ORDER BY seen_at DESC LIMIT 1) AND $1 IS NOT NULL THEN
        INSERT INTO embedder AS e (version) VALUES ($1)
        ON CONFLICT ON CONSTRAINT embedder_pkey DO UPDATE SET seen_at = clock_timestamp()
        WHERE e.seen_at < (SELECT max(seen_at) FROM embedder);
    END IF;
END $$;

-- Keep the papers of an answer of svc-search: {"results": [...], "model": ...}, where "model" is the version of the
-- embedder. A former process asks for papers without their version. In the order of ids, so that two that keep the same papers do not wait for each
-- other in a circle. An answer may be kept after a newer one: a paper, and its vector, that is stored in a later version stays. A
-- paper without any vector of the embedder gets that of the answer, or it would be asked for by every refresh. The asset of a former
-- svc-search has the abstract, which is kept once.
CREATE OR REPLACE FUNCTION paper_keep(answer jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT embedder_seen(answer ->> 'model');
    INSERT INTO paper AS p (arxiv_id, asset, abstract, version)
    SELECT DISTINCT ON (r.arxiv_id) r.arxiv_id, r.asset - 'abstract', coalesce(r.abstract, ''), coalesce(r.version, 0)
    FROM jsonb_to_recordset(answer -> 'results') AS r (arxiv_id text, asset jsonb, abstract text, version bigint)
    ORDER BY r.arxiv_id
    ON CONFLICT (arxiv_id) DO UPDATE
    SET asset = excluded.asset, abstract = excluded.abstract, version = excluded.version, updated_at = now()
    WHERE p.version <= excluded.version
      AND (p.asset - 'abstract', p.abstract, p.version) IS DISTINCT FROM (excluded.asset, excluded.abstract, excluded.version);
    INSERT INTO paper_vector AS v (arxiv_id, embedder, vector, scale)
    SELECT DISTINCT ON (r.arxiv_id) r.arxiv_id, answer ->> 'model', r.vector, r.scale
    FROM jsonb_to_recordset(answer -> 'results') AS r (arxiv_id text, version bigint, vector text, scale double precision)
    JOIN paper p ON p.arxiv_id = r.arxiv_id
         AND (p.version <= coalesce(r.version, 0)
              OR NOT EXISTS (SELECT FROM paper_vector x WHERE x.arxiv_id = r.arxiv_id AND x.embedder = answer ->> 'model' OFFSET 0))
    WHERE r.vector IS NOT NULL AND r.scale IS NOT NULL AND answer ->> 'model' IS NOT NULL
    ORDER BY r.arxiv_id
    ON CONFLICT (arxiv_id, embedder) DO UPDATE SET vector = excluded.vector, scale = excluded.scale
    WHERE (v.vector, v.scale) IS DISTINCT FROM (excluded.vector, excluded.scale);
$$;

-- A paper as the ranking code reads it, with the address of its authors' code and its vector by this version: one row, for FROM, where
-- Postgres makes a function of this form a part of the statement. An expression would be called for each paper, and each `->` of it would
-- decompress the asset: 300 papers took 12 ms, and take 8 (load 5). OFFSET 0 has each vector looked up by its key, also where the plan was
-- made while the table was small.
CREATE OR REPLACE FUNCTION paper_content(p paper, embedder text) RETURNS SETOF jsonb LANGUAGE sql STABLE ROWS 1 AS $$
    SELECT jsonb_build_object(
        'arxiv_id', p.arxiv_id, 'title', a.title, 'abstract', p.abstract, 'categories', a.categories, 'published_at', a.published_at,
        'has_container', a.has_container, 'github_url', a.github_url, 'withdrawn', a.withdrawn, 'version', p.version,
        'vector', v.vector, 'scale', v.scale, 'model', v.embedder)
    FROM jsonb_to_record(p.asset) AS a (title jsonb, categories jsonb, published_at jsonb, has_container jsonb, github_url jsonb,
                                        withdrawn jsonb)
    LEFT JOIN LATERAL (SELECT * FROM paper_vector v WHERE v.arxiv_id = p.arxiv_id AND v.embedder = $2 OFFSET 0) v ON true
$$;
