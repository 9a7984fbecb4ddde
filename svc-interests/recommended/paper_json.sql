-- name: paper_json_load(papers) (read)
-- Returns :papers, an array of ids, in this order, as svc-search lists them. OFFSET 0: one look-up for each.
SELECT p.updated_at, p.asset - 'abstract' AS asset, p.abstract
FROM jsonb_array_elements_text(:papers::jsonb) WITH ORDINALITY AS asked (arxiv_id, place)
CROSS JOIN LATERAL (SELECT updated_at, asset, abstract FROM paper WHERE arxiv_id = asked.arxiv_id OFFSET 0) p
ORDER BY asked.place;
