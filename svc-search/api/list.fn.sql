-- The lists of papers, kept as papers change.

-- What a paper is listed under: '' for all, its categories and the archives above them: `{cs.LG,stat.ML}` gives
-- `{'',cs.LG,stat.ML,cs,stat}`, each once.
CREATE OR REPLACE FUNCTION list_keys(categories text[]) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT '' UNION SELECT unnest(categories) UNION SELECT split_part(c, '.', 1) FROM unnest(categories) c
$$;

-- The categories that the index has of a paper: its own, and that of its source if it has none below it, so that a search can be
-- limited to sources. STABLE, and without a subquery, so that Postgres inlines it: it is called for every paper that changes.
CREATE OR REPLACE FUNCTION indexed_categories(arxiv_id text, categories text[]) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN paper_source(arxiv_id) = 'arxiv' OR ' ' || array_to_string(categories, ' ') || ' ' ~ (' ' || paper_source(arxiv_id) || '[. ]')
                THEN array_to_string(categories, ' ')
                ELSE concat_ws(' ', paper_source(arxiv_id), array_to_string(categories, ' ')) END
$$;

-- Takes the rows of the transition table `counted` into the lists (argument 1) or out of them (argument -1). An INSERT
-- with ON CONFLICT fires the triggers of UPDATE, too, often with no row. A plan that was made for few rows is kept for many: it has to
-- find each by the index.
CREATE OR REPLACE FUNCTION asset_list_rows() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    sign CONSTANT int := TG_ARGV[0];
BEGIN
    IF NOT EXISTS (SELECT FROM counted) THEN
        RETURN NULL;
    END IF;
    IF sign < 0 THEN
        DELETE FROM asset_key WHERE arxiv_id = ANY (ARRAY(SELECT arxiv_id FROM counted));
    END IF;
    WITH listed AS MATERIALIZED (
        SELECT a.arxiv_id, key, a.published_at, a.has_container, key = ANY (a.categories) AS is_named,
               CASE WHEN key = '' THEN (a.reference_summary->>'total')::numeric END AS reference,
               CASE WHEN key = '' THEN (a.reference_summary->>'classified')::numeric END AS classified
        FROM counted a, list_keys(a.categories) key WHERE NOT a.is_deleted
    ), inserted AS (
        INSERT INTO asset_key (arxiv_id, key, published_at, has_container)
        SELECT arxiv_id, key, published_at, has_container FROM listed WHERE sign > 0
    )
    INSERT INTO asset_count AS c (key, has_container, papers, named, reference, classified)
    SELECT key, has_container, sign * count(*), sign * count(*) FILTER (WHERE is_named),
           sign * coalesce(sum(reference), 0), sign * coalesce(sum(classified), 0)
    FROM listed GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (key, has_container) DO UPDATE
    SET papers = c.papers + excluded.papers, named = c.named + excluded.named,
        reference = c.reference + excluded.reference, classified = c.classified + excluded.classified;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER asset_list_inserted AFTER INSERT ON asset REFERENCING NEW TABLE AS counted
    FOR EACH STATEMENT EXECUTE FUNCTION asset_list_rows('1');
CREATE OR REPLACE TRIGGER asset_list_updated_from AFTER UPDATE ON asset REFERENCING OLD TABLE AS counted
    FOR EACH STATEMENT EXECUTE FUNCTION asset_list_rows('-1');
CREATE OR REPLACE TRIGGER asset_list_updated_to AFTER UPDATE ON asset REFERENCING NEW TABLE AS counted
    FOR EACH STATEMENT EXECUTE FUNCTION asset_list_rows('1');
