-- name: evidence_get (read)
-- $1 account, $2 repository (NULL: any), $3 run id, or $4 link of its artifact. What the run reported of its gates, and of how faithful it was
-- to its paper and its brief. Reads none of the large members (run_detail). No row: there is no such run.
SELECT json_build_object(
    'artifact', json_build_object('url', r.artifact_url, 'repo', r.repo, 'outcome_kind', r.outcome_kind, 'stage', v.stage),
    'gates', run_gates(r.record),
    'fidelity', (SELECT coalesce(json_object_agg(m.name, r.record -> m.name ORDER BY m.place), '{}')
                 FROM unnest('{arxiv_id,selection_integration_shape,selection_coverage,stub_density,integration_violations}'::text[]
                             || '{files_touched,files_dropped_out_of_scope,touched_test_files,coverage_summary,chain}'::text[])
                     WITH ORDINALITY AS m (name, place)
                 WHERE r.record ? m.name),
    'run_id', r.run_id)
FROM run_find($1, repository_now($2), $3, repository_link_now($4)) r
LEFT JOIN deliverable v ON v.account_id = $1 AND v.url = r.artifact_url;
