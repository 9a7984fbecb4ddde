-- name: background_is_due(documents) (read)
-- :documents is the number of papers in the index.
SELECT background_is_due(:documents::integer);

-- name: background_save(documents, frequencies, answer, papers)
-- :documents is the number of papers in the index, :answer one of svc-search with the papers of the background, :papers their
-- ids.
WITH kept AS MATERIALIZED (
    SELECT paper_keep(:answer::jsonb)
)
INSERT INTO background (documents, frequencies, arxiv_ids)
SELECT :documents::integer, :frequencies, array(SELECT jsonb_array_elements_text(:papers::jsonb)) FROM kept
ON CONFLICT (is_only) DO UPDATE
SET documents = excluded.documents, frequencies = excluded.frequencies, arxiv_ids = excluded.arxiv_ids, drawn_at = now();
