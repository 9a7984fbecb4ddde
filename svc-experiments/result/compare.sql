-- name: compare_get(account, experiments) (read)
-- :experiments is a JSON array of ids. Returns those of them that there are, with their newest analyses.
SELECT coalesce(json_agg(experiment_json(e, p.name)::jsonb || jsonb_build_object(
           'source_type', e.source_type, 'source_ref', e.source_ref, 'launch_context', e.launch_context,
           'ab_test_config', e.ab_test_config, 'verdict', r.output -> 'verdict', 'analysis', r.output) ORDER BY i.place), '[]')
FROM jsonb_array_elements_text(:experiments::jsonb) WITH ORDINALITY AS i (id, place)
JOIN experiment e ON e.id = i.id::uuid AND e.account_id = :account
LEFT JOIN project p ON p.id = e.project_id LEFT JOIN experiment_result r ON r.id = e.analysis_id;
