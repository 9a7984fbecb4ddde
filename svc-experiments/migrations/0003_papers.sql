-- The arXiv ids of the papers that an experiment is about, without version, however they are written: bare, `arXiv:`,
-- or an address of its abstract, PDF or HTML. The first is the one that it came from.
CREATE OR REPLACE FUNCTION experiment_papers(e experiment) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(paper ORDER BY place), '[]')
    FROM (SELECT regexp_replace(btrim(paper, E' \t\r\n'),
                                '^((https?://)?(www\.)?arxiv\.org/(abs|pdf|html)/|arxiv:\s*)|(v[0-9]+)?(\.pdf)?/?([?#].*)?$',
                                '', 'gi') AS paper,
                 min(place) AS place
          FROM (SELECT e.launch_context #>> '{resource,arxiv_id}' AS paper, 0 AS place
                UNION ALL SELECT e.source_ref, 1 WHERE e.source_type = 'arxiv_paper'
                UNION ALL SELECT r.link ->> 'id', 1 + r.place
                FROM jsonb_array_elements(e.linked_resources) WITH ORDINALITY AS r (link, place)
                WHERE r.link ->> 'type' = 'arxiv_paper') named
          WHERE paper <> '' GROUP BY 1) papers
$$;
