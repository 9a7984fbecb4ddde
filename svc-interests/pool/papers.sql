-- name: papers_load(papers, embedder) (read)
-- Returns those of :papers, an array of ids, that are stored, in this order. :embedder is the version of their vectors.
SELECT coalesce(jsonb_agg(content ORDER BY asked.place), '[]')
FROM jsonb_array_elements_text(:papers::jsonb) WITH ORDINALITY AS asked (arxiv_id, place) JOIN paper p USING (arxiv_id),
     paper_content(p, :embedder) AS content;

-- name: papers_frequencies (read)
-- Returns when the background was drawn, and its frequencies.
SELECT drawn_at, frequencies FROM background;
