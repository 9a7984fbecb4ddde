-- The papers of an experiment are arXiv ids: what was stored before is made so, or left out.
UPDATE experiment e SET arxiv_ids = kept.ids
FROM (SELECT x.id, coalesce(array_agg(DISTINCT arxiv_id_of(named)) FILTER (WHERE arxiv_id_of(named) IS NOT NULL), '{}') AS ids
      FROM experiment x LEFT JOIN unnest(x.arxiv_ids) AS named ON true GROUP BY x.id) kept
WHERE kept.id = e.id AND (EXISTS (SELECT FROM unnest(e.arxiv_ids) AS named WHERE arxiv_id_of(named) IS DISTINCT FROM named));

-- An index row holds 2,704 bytes.
ALTER TABLE experiment_paper ADD CONSTRAINT arxiv_id_bytes CHECK (octet_length(arxiv_id) <= 64);
ALTER TABLE interest ADD CONSTRAINT interest_name_bytes CHECK (octet_length(name) <= 800);
