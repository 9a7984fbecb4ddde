-- name: run_record_get(account, repository, run, url, kind, has_model) (read)
-- Returns the run's record, the stage of its artifact, its gates, the text of the :kind about this state of it (NULL: none) and
-- when that was made, its row and its version. :run is its id as JSON, or :url is the link of its artifact. A :repository of
-- NULL: any. A :kind of NULL: no text is looked for.
--
-- The record has the large members where a text is to be made, here or by the model: as few of them as the answer to a report
-- (run_detail_kept()), since a prompt shows the beginning of each. :has_model: a language model is configured. A text that was
-- made without it then counts for a minute only, so that the model is asked again, but not by every request while it is away.
SELECT run_json(r, CASE WHEN t.body IS NULL AND (:kind::text IS NOT NULL OR :has_model::boolean)
                        THEN run_detail_kept(r.id, r.first_at) END),
       v.stage, run_gates(r.record) AS gates, '{"model": null}'::jsonb || t.body AS text, time_json(t.made_at) AS made_at, r.id,
       run_version(r, v.stage) AS version
FROM run_find(:account, repository_now(:repository), :run, repository_link_now(:url)) r
LEFT JOIN deliverable v ON v.account_id = :account AND v.url = r.artifact_url
LEFT JOIN run_text t ON t.run = r.id AND t.kind = :kind::text AND t.version = run_version(r, v.stage)
    AND (NOT :has_model::boolean OR t.body ->> 'model' IS NOT NULL OR t.made_at > now() - interval '1 minute');

-- name: run_text_store(run, kind, account, version, body)
-- :run is the row of the run, :body the text. Returns what is stored now, and when that was made: a text of the model that was
-- stored meanwhile stays, unless this is one as well.
INSERT INTO run_text AS t (run, kind, account_id, version, body) VALUES (:run, :kind, :account, :version, :body)
ON CONFLICT (run, kind) DO UPDATE SET version = excluded.version, made_at = excluded.made_at, body = CASE
    WHEN t.version = excluded.version AND t.body ->> 'model' IS NOT NULL AND excluded.body ->> 'model' IS NULL THEN t.body
    ELSE excluded.body END
RETURNING body, time_json(made_at) AS made_at;
