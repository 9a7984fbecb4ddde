-- What the code host tells of workflow runs.

-- The run of an account that a workflow run is; made if it is unknown, since the code host may tell of it before the run
-- reports itself. False: an event that happened later was told before.
CREATE FUNCTION run_hosted(account uuid, repo text, run_id bigint, state text, outcome text, told_at timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    r run;
BEGIN
    -- An empty report: it only makes the row.
    PERFORM run_report(account, repo, to_jsonb(run_id), '{}', '{}');
    SELECT x.* INTO r FROM run_key k JOIN run x ON x.id = k.id AND x.first_at = k.first_at
    WHERE k.account_id = account AND k.repo_key = lower(run_hosted.repo) AND k.run_key = run_hosted.run_id::text
    FOR UPDATE OF x;
    IF r.host_told_at > told_at THEN
        RETURN false;
    END IF;
    r.host_state := state;
    r.host_outcome := outcome;
    r.host_told_at := told_at;
    r := run_derive(r);
    UPDATE run x SET host_state = r.host_state, host_outcome = r.host_outcome, host_told_at = r.host_told_at,
        status = r.status, outcome_kind = r.outcome_kind, cause = r.cause, changed_at = clock_timestamp()
    WHERE x.id = r.id AND x.first_at = r.first_at;
    RETURN true;
END $$;

-- The same for every account that owns the repository; how many runs it concerned.
CREATE FUNCTION workflow_run_tell(repo text, run_id bigint, state text, outcome text, told_at timestamptz)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    told bigint;
BEGIN
    PERFORM repo_lock(repo);
    SELECT count(*) FILTER (WHERE run_hosted(o.account_id, repo, run_id, state, outcome, told_at)) INTO told
    FROM owned_repo o WHERE o.repo_key = lower(repo);
    RETURN told;
END $$;
