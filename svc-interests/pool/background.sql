-- name: background_is_due (read)
-- $1 papers in the index.
SELECT background_is_due($1::integer);

-- name: background_save
-- $1 papers in the index, $2 frequencies, $3 an answer of svc-search with the papers of the background, $4 their ids.
WITH kept AS MATERIALIZED (
    SELECT paper_keep($3::jsonb)
)
INSERT INTO background (documents, frequencies, arxiv_ids)
SELECT $1::integer, $2, array(SELECT jsonb_array_elements_text($4::jsonb)) FROM kept
ON CONFLICT (is_only) DO UPDATE
SET documents = excluded.documents, frequencies = excluded.frequencies, arxiv_ids = excluded.arxiv_ids, drawn_at = now();
