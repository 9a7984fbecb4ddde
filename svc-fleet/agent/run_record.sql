-- name: run_record_get (read)
-- $1 account, $2 repository (NULL: any), $3 run id, or $4 link of its artifact, $5 kind of text (NULL: none is looked for). The run's
-- record, the stage of its artifact, its gates, the text of that kind about this state of it (NULL: none) and when that was made, its row
-- and its version. The record has the large members where a text is to be made, here or by the model: as few of them as the answer to a
-- report (run_detail_kept()), since a prompt shows the beginning of each. $6 whether a language model is configured: a text that was made
-- without it then counts for a minute only, so that the model is asked again, but not by every request while it is away.
SELECT run_json(r, CASE WHEN t.body IS NULL AND ($5::text IS NOT NULL OR $6::boolean) THEN run_detail_kept(r.id, r.first_at) END), v.stage,
       run_gates(r.record) AS gates, '{"model": null}'::jsonb || t.body AS text, time_json(t.made_at) AS made_at, r.id,
       run_version(r, v.stage) AS version
FROM run_find($1, repository_now($2), $3, repository_link_now($4)) r
LEFT JOIN deliverable v ON v.account_id = $1 AND v.url = r.artifact_url
LEFT JOIN run_text t ON t.run = r.id AND t.kind = $5::text AND t.version = run_version(r, v.stage)
    AND (NOT $6::boolean OR t.body ->> 'model' IS NOT NULL OR t.made_at > now() - interval '1 minute');

-- name: run_text_store
-- $1 row of the run, $2 kind, $3 account, $4 version, $5 text. What is stored now, and when that was made: a text of the
-- model that was stored meanwhile stays, unless this is one as well.
INSERT INTO run_text AS t (run, kind, account_id, version, body) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (run, kind) DO UPDATE SET version = excluded.version, made_at = excluded.made_at, body = CASE
    WHEN t.version = excluded.version AND t.body ->> 'model' IS NOT NULL AND excluded.body ->> 'model' IS NULL THEN t.body
    ELSE excluded.body END
RETURNING body, time_json(made_at) AS made_at;
