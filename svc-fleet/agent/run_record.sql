-- name: run_record_get (read)
-- $1 account, $2 repository (NULL: any), $3 run id, or $4 link of its artifact. The run's record with the large
-- members, the stage of its artifact, its gates, what was said about this state of it (NULL: nothing), and its row.
SELECT run_json(r, d.detail), v.stage, run_gates(r.record), a.analysis, r.id, r.changed_at
FROM run_find($1, $2, $3, $4) r LEFT JOIN run_detail d ON d.id = r.id AND d.first_at = r.first_at
LEFT JOIN deliverable v ON v.account_id = $1 AND v.url = r.artifact_url
LEFT JOIN run_analysis a ON a.run = r.id AND a.changed_at = r.changed_at;

-- name: run_analysis_store
-- $1 row of the run, $2 account, $3 when the run had changed, $4 what is said.
INSERT INTO run_analysis AS a (run, account_id, changed_at, analysis) VALUES ($1, $2, $3, $4)
ON CONFLICT (run) DO UPDATE SET changed_at = excluded.changed_at, analysis = excluded.analysis
WHERE a.changed_at < excluded.changed_at;
