-- The newest run of a repository, which the code host is asked for while a client waits.

-- Whether the account may ask the code host about the repository now: nobody with the same row did so in the last five
-- seconds. Then the next may not.
CREATE OR REPLACE FUNCTION run_status_ask(account uuid, repo text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO run_status AS s (repo_key, account_id, asked_at)
    VALUES (lower(repo), CASE WHEN NOT repo_is_owned(account, repo) THEN account END, clock_timestamp())
    ON CONFLICT (repo_key, account_id) DO UPDATE SET asked_at = excluded.asked_at
    WHERE s.asked_at IS NULL OR s.asked_at <= excluded.asked_at - interval '5 seconds';
    RETURN FOUND;
END $$;

-- The code host refused the account's request: another one may ask at once.
CREATE OR REPLACE FUNCTION run_status_give_up(account uuid, repo text) RETURNS void LANGUAGE sql AS $$
    UPDATE run_status s SET asked_at = NULL
    WHERE s.repo_key = lower(repo) AND s.account_id IS NULL AND repo_is_owned(account, repo)
$$;

-- What is known of the repository's runs is dropped, and the next may ask at once; `is_start`: a run was started from here. Without an
-- owner nothing is noted.
CREATE OR REPLACE FUNCTION run_status_drop(repo text, is_start boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM repo_lock(repo);
    INSERT INTO run_status AS s (repo_key, changed_at)
    SELECT lower(repo), CASE WHEN is_start THEN clock_timestamp() END
    WHERE EXISTS (SELECT FROM owned_repo o WHERE o.repo_key = lower(repo))
    ON CONFLICT (repo_key, account_id) DO UPDATE
    SET asked_at = NULL, told = NULL, told_at = NULL, changed_at = coalesce(excluded.changed_at, s.changed_at);
END $$;

-- The code host let the account start a run on the repository: `run`, at the time `at`; null: which one is not known. An answer that was
-- asked for before knows nothing of it. Whatever the code host says of the run is later than this, which is of our clock.
CREATE OR REPLACE FUNCTION run_started_note(account uuid, repo text, run bigint, at text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    is_claimed boolean := repo_claim(account, repo);
BEGIN
    PERFORM run_status_drop(repo, true);
    PERFORM workflow_runs_update(repo, jsonb_build_array(jsonb_build_object(
        'run_id', run, 'status', 'queued', 'started_at', at, 'updated_at', '-infinity'))) WHERE run IS NOT NULL;
    PERFORM deliverable_reconcile(account, lower(repo)) WHERE is_claimed;
END $$;

-- What the code host answered the account, which has proved so that it owns the repository; it was asked at the time `asked`. Of two
-- answers the one that was asked for later stays.
CREATE OR REPLACE FUNCTION run_status_update(account uuid, repo text, run jsonb, asked timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    is_claimed boolean := repo_claim(account, repo);
BEGIN
    PERFORM repo_lock(repo);
    INSERT INTO run_status AS s (repo_key, asked_at, told, told_at) VALUES (lower(repo), asked, run, asked)
    ON CONFLICT (repo_key, account_id) DO UPDATE SET told = excluded.told, told_at = excluded.told_at
    WHERE (greatest(s.told_at, s.changed_at) > asked) IS NOT TRUE;
    PERFORM workflow_runs_update(repo, jsonb_build_array(run)) WHERE jsonb_typeof(run) = 'object';
    PERFORM deliverable_reconcile(account, lower(repo)) WHERE is_claimed;
END $$;

-- The newest run of a repository in the account's footprint: as the code host answered an owner, unless a newer one is known; then as
-- that one reported itself. What was reported of a run before an event of its end, or of its next attempt, is not shown. `live`: the code
-- host was asked for it in the last five seconds.
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
