-- name: papers_load (read)
-- $1 ids, a JSON array, $2 version of the embedder: those that are stored, in this order.
SELECT coalesce(jsonb_agg(content ORDER BY asked.place), '[]')
FROM jsonb_array_elements_text($1::jsonb) WITH ORDINALITY AS asked (arxiv_id, place) JOIN paper p USING (arxiv_id),
     paper_content(p, $2) AS content;

-- name: papers_frequencies (read)
-- When the background was drawn, and its frequencies.
SELECT drawn_at, frequencies FROM background;
