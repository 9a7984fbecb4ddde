-- Taking a run back out of all that it was counted in.

-- Runs that were removed: what the code host goes on telling of them does not bring them back. A report of its own does.
CREATE TABLE run_removed (
    account_id uuid NOT NULL,
    repo_key   text NOT NULL,
    run_key    text NOT NULL,
    removed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, repo_key, run_key)
);

CREATE TRIGGER account_skipped BEFORE INSERT ON run_removed FOR EACH ROW EXECUTE FUNCTION account_skipped();

CREATE FUNCTION run_removed_forget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM run_removed WHERE account_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER run_removed_forget AFTER INSERT ON deleted_account FOR EACH ROW EXECUTE FUNCTION run_removed_forget();

-- As before, and a change whose `became` is null takes the run away.
CREATE OR REPLACE FUNCTION run_change_parts(changes run_change[])
RETURNS TABLE (sign int, account_id uuid, repo_key text, repo text, agent text, outcome_kind text) LANGUAGE sql IMMUTABLE AS $$
    SELECT 1, (c.became).account_id, (c.became).repo_key, (c.became).repo, (c.became).agent, (c.became).outcome_kind
    FROM unnest(changes) c WHERE (c.became).id IS NOT NULL
    UNION ALL
    SELECT -1, (c.was).account_id, (c.was).repo_key, (c.was).repo, (c.was).agent, (c.was).outcome_kind
    FROM unnest(changes) c WHERE (c.was).id IS NOT NULL
$$;

-- Take a run out of the sums of its repository.
CREATE FUNCTION run_repo_subtract(r run) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM run_repo s WHERE s.account_id = r.account_id AND s.repo_key = r.repo_key AND s.runs = 1;
    UPDATE run_repo s SET
        runs = s.runs - 1, pull_requests = s.pull_requests - (r.outcome_kind = 'pull_request')::int,
        issues = s.issues - (r.outcome_kind = 'issue')::int, branches = s.branches - (r.outcome_kind = 'branch')::int,
        skipped = s.skipped - (r.outcome_kind = 'skipped')::int, failed = s.failed - (r.outcome_kind = 'failed')::int,
        running = s.running - (r.outcome_kind = 'running')::int, other = s.other - (r.outcome_kind = 'other')::int,
        (last_at, last_id, last_first_at, last_outcome, last_status) = (
            SELECT x.at, x.id, x.first_at, x.outcome_kind, x.status FROM run x
            WHERE x.account_id = r.account_id AND x.repo_key = r.repo_key ORDER BY x.at DESC, x.id DESC LIMIT 1)
    WHERE s.account_id = r.account_id AND s.repo_key = r.repo_key;
END $$;

-- Take a run out of the sums of its day.
CREATE FUNCTION run_day_subtract(r run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    p run_day := run_day_of(r, 1);
BEGIN
    UPDATE run_day d SET
        runs = d.runs - p.runs, pull_requests = d.pull_requests - p.pull_requests, issues = d.issues - p.issues,
        branches = d.branches - p.branches, skipped = d.skipped - p.skipped, failed = d.failed - p.failed,
        running = d.running - p.running, other = d.other - p.other, cost_usd = d.cost_usd - p.cost_usd,
        cost_runs = d.cost_runs - p.cost_runs, input_tokens = d.input_tokens - p.input_tokens,
        output_tokens = d.output_tokens - p.output_tokens, token_runs = d.token_runs - p.token_runs,
        preflight_passed = d.preflight_passed - p.preflight_passed,
        preflight_stopped = d.preflight_stopped - p.preflight_stopped, lint_passed = d.lint_passed - p.lint_passed,
        lint_stopped = d.lint_stopped - p.lint_stopped, test_passed = d.test_passed - p.test_passed,
        test_stopped = d.test_stopped - p.test_stopped, integration_passed = d.integration_passed - p.integration_passed,
        integration_stopped = d.integration_stopped - p.integration_stopped,
        license_passed = d.license_passed - p.license_passed, license_stopped = d.license_stopped - p.license_stopped
    WHERE d.account_id = p.account_id AND d.repo_key = p.repo_key AND d.day = p.day;
END $$;

-- Remove a run, and take it out of all sums and lists. Nothing else is told of the account's runs meanwhile. Its run_id and
-- repository; null: there is none.
CREATE FUNCTION run_remove(account uuid, repo text, key text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    k run_key;
    r run;
    change run_change;
BEGIN
    PERFORM account_lock(account, true);
    DELETE FROM run_key x WHERE x.account_id = account AND x.repo_key = lower(repo) AND x.run_key = key RETURNING * INTO k;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    DELETE FROM run x WHERE x.id = k.id AND x.first_at = k.first_at RETURNING * INTO r;
    DELETE FROM run_detail x WHERE x.id = k.id AND x.first_at = k.first_at;
    DELETE FROM run_text x WHERE x.run = k.id;
    INSERT INTO run_removed VALUES (k.account_id, k.repo_key, k.run_key) ON CONFLICT DO NOTHING;
    change.was := r;
    PERFORM run_repo_subtract(r);
    PERFORM run_agent_add(ARRAY[change]);
    PERFORM run_day_subtract(r);
    PERFORM deliverables_follow(ARRAY[change]);
    RETURN jsonb_build_object('run_id', r.run_id, 'repo', r.repo, 'deleted', true);
END $$;

-- As before, and a run that was removed stays away until it reports itself.
CREATE OR REPLACE FUNCTION workflow_runs_tell(repo text, runs jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM repo_lock(repo);
    PERFORM account_lock(o.account_id, false)
    FROM (SELECT x.account_id FROM owned_repo x WHERE x.repo_key = lower(repo) ORDER BY 1) o;
    PERFORM runs_tell(jsonb_agg(jsonb_build_object(
        'account', o.account_id, 'repo', repo, 'run_id', w.run -> 'run_id',
        'report', jsonb_strip_nulls(jsonb_build_object('started_at', time_json((w.run ->> 'started_at')::timestamptz))),
        'host', jsonb_build_object('state', CASE w.run ->> 'status' WHEN 'completed' THEN 'ended' ELSE 'running' END,
                                   'outcome', w.run -> 'conclusion', 'told_at', w.run -> 'updated_at'))))
    FROM owned_repo o, jsonb_array_elements(runs) AS w (run)
    WHERE o.repo_key = lower(repo)
      AND (NOT EXISTS (SELECT FROM run_removed x WHERE x.account_id = o.account_id AND x.repo_key = o.repo_key
                                                   AND x.run_key = w.run ->> 'run_id')
           OR EXISTS (SELECT FROM run_key k WHERE k.account_id = o.account_id AND k.repo_key = o.repo_key
                                              AND k.run_key = w.run ->> 'run_id'));
END $$;
