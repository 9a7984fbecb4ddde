-- An event of a run drops what was told before it, and need not refuse an answer that comes after it: which of the two is newer
-- shows when they are read. An answer that was asked for before a start knows nothing of that run.
--
--   changed_at  of run_status: when a run was last started from here
DROP FUNCTION run_status_drop;

-- What was told of the repository's runs is dropped, and the next may ask at once. Without an owner nobody is told.
CREATE FUNCTION run_status_drop(repo text, is_start boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM repo_lock(repo);
    INSERT INTO run_status AS s (repo_key, changed_at)
    SELECT lower(repo), CASE WHEN is_start THEN clock_timestamp() END
    WHERE EXISTS (SELECT FROM owned_repo o WHERE o.repo_key = lower(repo))
    ON CONFLICT (repo_key, account_id) DO UPDATE
    SET asked_at = NULL, told = NULL, told_at = NULL, changed_at = coalesce(excluded.changed_at, s.changed_at);
END $$;

-- As before.
CREATE OR REPLACE FUNCTION run_started_tell(account uuid, repo text, run bigint, at text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    is_claimed boolean := repo_claim(account, repo);
BEGIN
    PERFORM run_status_drop(repo, true);
    PERFORM workflow_runs_tell(repo, jsonb_build_array(jsonb_build_object(
        'run_id', run, 'status', 'queued', 'started_at', at, 'updated_at', at))) WHERE run IS NOT NULL;
    PERFORM deliverable_settle(account, lower(repo)) WHERE is_claimed;
END $$;

-- As before, and what was told of a run before an event of its end, or of its next attempt, is not shown.
CREATE OR REPLACE FUNCTION run_status_json(account uuid, repo text) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    s run_status;
    r run;
    newest run;
    is_newer boolean; -- the code host numbers its runs in their order; others go by when they started
    has_changed boolean;
BEGIN
    SELECT x.* INTO s FROM run_status x
    WHERE x.repo_key = lower(repo) AND x.account_id IS NULL AND repo_is_owned(account, repo);
    SELECT x.* INTO newest FROM run x WHERE x.account_id = account AND x.repo_key = lower(run_status_json.repo)
    ORDER BY x.at DESC, x.id DESC LIMIT 1;
    SELECT f.* INTO r FROM run_find(account, repo, s.told -> 'run_id', NULL) f WHERE jsonb_typeof(s.told) = 'object';
    is_newer := newest.id <> r.id AND CASE WHEN newest.host_state IS NULL THEN newest.at > r.at
                                           ELSE (newest.run_id #>> '{}')::bigint > (r.run_id #>> '{}')::bigint END;
    has_changed := r.host_told_at > (s.told ->> 'updated_at')::timestamptz
                   AND (r.host_state = 'ended') <> (s.told ->> 'status' = 'completed');
    IF is_newer OR has_changed OR jsonb_typeof(s.told) = 'null' THEN
        s.told := NULL;
        s.told_at := CASE WHEN newest.id IS NULL THEN s.told_at END;
    END IF;
    IF s.told IS NULL THEN
        r := newest;
    END IF;
    RETURN jsonb_build_object(
        'repo', repo_in_footprint(account, repo),
        'run_id', coalesce(r.run_id, s.told -> 'run_id'),
        'status', coalesce(s.told ->> 'status', r.status),
        'outcome_kind', coalesce(r.outcome_kind, CASE WHEN s.told IS NULL THEN NULL
                                                      WHEN s.told ->> 'status' <> 'completed' THEN 'running'
                                                      WHEN s.told ->> 'conclusion' = 'success' THEN 'other'
                                                      ELSE 'failed' END),
        'artifact_url', r.artifact_url,
        'html_url', s.told ->> 'html_url',
        'started_at', coalesce(time_json((s.told ->> 'started_at')::timestamptz), time_json(r.at)),
        'updated_at', coalesce(time_json((s.told ->> 'updated_at')::timestamptz), time_json(r.changed_at)),
        'as_of', coalesce(time_json(s.told_at), time_json(r.changed_at)),
        'live', coalesce(s.told_at > clock_timestamp() - interval '5 seconds', false));
END $$;
