-- name: evidence_get(account, repository, run, url) (read)
-- Returns what a run reported of its gates, and of how faithful it was to its paper and its brief. :run is its id as JSON, or
-- :url is the link of its artifact. A :repository of NULL: any. Reads none of the large members (run_detail). No row: there is no
-- such run.
SELECT json_build_object(
    'artifact', json_build_object('url', r.artifact_url, 'repo', r.repo, 'outcome_kind', r.outcome_kind, 'stage', v.stage),
    'gates', run_gates(r.record),
    'fidelity', (SELECT coalesce(json_object_agg(m.name, r.record -> m.name ORDER BY m.place), '{}')
                 FROM unnest(
                     '{arxiv_id,selection_integration_shape,selection_coverage,stub_density,integration_violations}'::text[]
                     || '{files_touched,files_dropped_out_of_scope,touched_test_files,coverage_summary,chain}'::text[])
                     WITH ORDINALITY AS m (name, place)
                 WHERE r.record ? m.name),
    'run_id', r.run_id)
FROM run_find(:account, repository_now(:repository), :run, repository_link_now(:url)) r
LEFT JOIN deliverable v ON v.account_id = :account AND v.url = r.artifact_url;
