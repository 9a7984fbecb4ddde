-- Experiments as rows of a CSV: every member, and figures of each metric of their newest results.

-- {"accuracy.n": 1000, "accuracy.effect": 0.03, ...}: of each metric the arm that speaks for the experiment, or its first treatment, beside
-- the control. Null: there are no results.
CREATE OR REPLACE FUNCTION analysis_figures(analysis jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_object_agg((m.one ->> 'key') || '.' || f.name, f.value)
    FROM jsonb_array_elements(analysis -> 'metrics') AS m (one),
         LATERAL (SELECT c.one FROM jsonb_array_elements(m.one -> 'comparisons') WITH ORDINALITY AS c (one, place)
                  ORDER BY c.one -> 'arm' = analysis -> 'arm' DESC NULLS LAST, c.place LIMIT 1) AS c (one),
         LATERAL (SELECT a.one FROM jsonb_array_elements(m.one -> 'arms') AS a (one)
                  WHERE a.one -> 'arm' = c.one -> 'arm' LIMIT 1) AS a (one),
         LATERAL (VALUES ('n', a.one -> 'n'), ('mean', a.one -> 'mean'), ('effect', c.one -> 'effect'), ('low', c.one -> 'low'),
                         ('high', c.one -> 'high'), ('relative', c.one -> 'relative'), ('relative_low', c.one -> 'relative_low'),
                         ('relative_high', c.one -> 'relative_high'), ('p_adjusted', c.one -> 'p_adjusted')) AS f (name, value)
$$;

-- The experiments of the ids, in their order.
CREATE OR REPLACE FUNCTION experiment_rows(account uuid, ids jsonb) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(experiment_json(e, p.name)::jsonb || jsonb_build_object(
               'source_type', e.source_type, 'source_ref', e.source_ref, 'branch_name', e.branch_name,
               'pipeline_status', e.pipeline_status, 'launch_context', e.launch_context, 'ab_test_config', e.ab_test_config,
               'ab_test_results', e.ab_test_results, 'linked_resources', e.linked_resources, 'verdict', r.output -> 'verdict',
               'analysis_id', e.analysis_id, 'metrics', analysis_figures(r.output)) ORDER BY i.place), '[]')
    FROM jsonb_array_elements_text(ids) WITH ORDINALITY AS i (id, place)
    JOIN experiment e ON e.id = i.id::uuid AND e.account_id = account
    LEFT JOIN project p ON p.id = e.project_id LEFT JOIN experiment_result r ON r.id = e.analysis_id
$$;

-- The columns that the figures of these experiments have, at most a thousand.
CREATE OR REPLACE FUNCTION experiment_figure_names(found uuid[]) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(n.name ORDER BY n.name), '[]')
    FROM (SELECT DISTINCT f.name FROM experiment e JOIN experiment_result r ON r.id = e.analysis_id,
                 jsonb_object_keys(analysis_figures(r.output)) AS f (name)
          WHERE e.id = ANY (found) ORDER BY 1 LIMIT 1000) n
$$;

-- The newest ids of the list of experiments (page.fn.sql), at most `most`; of a limited key: `only_repo` and `only_project`.
CREATE OR REPLACE FUNCTION experiment_outline(account uuid, in_project uuid, with_status text, with_source text, with_ticket text, came_via text,
                                   with_tag text, is_limited boolean, only_repo text, only_project uuid, most int,
                                   OUT ids json, OUT names json, OUT total bigint)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
DECLARE
    found uuid[] := ARRAY(
        SELECT e.id FROM experiment_found(account, in_project, with_status, with_source, with_ticket, came_via, with_tag, false, NULL)
        JOIN experiment e USING (id)
        WHERE NOT is_limited OR experiment_is_of_key(e, only_repo, only_project)
        ORDER BY e.id DESC);
BEGIN
    total := cardinality(found);
    found := found[1:most];
    ids := to_json(found);
    names := experiment_figure_names(found);
END $$;
