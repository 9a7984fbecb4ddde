-- The sums that follow the runs, in the same transaction: by day, by repository and by agent.

-- What a run adds to the sums of its day (`sign` 1), or takes out of them (-1).
CREATE OR REPLACE FUNCTION run_day_of(r run, sign int) RETURNS run_day LANGUAGE plpgsql STABLE AS $$
DECLARE
    cost numeric := run_cost(r);
    preflight int := gate_verdict(r.record ->> 'preflight_decision');
    lint int := gate_verdict(r.record ->> 'lint_status');
    test int := gate_verdict(r.record ->> 'test_status');
    integration int := gate_verdict(r.record ->> 'test_integration_gate');
    license int := gate_verdict(r.record ->> 'license_compat');
BEGIN
    RETURN ROW(
        r.account_id, (r.at AT TIME ZONE 'UTC')::date, r.repo_key, sign,
        sign * (r.outcome_kind = 'pull_request')::int, sign * (r.outcome_kind = 'issue')::int,
        sign * (r.outcome_kind = 'branch')::int, sign * (r.outcome_kind = 'skipped')::int,
        sign * (r.outcome_kind = 'failed')::int, sign * (r.outcome_kind = 'running')::int,
        sign * (r.outcome_kind = 'other')::int,
        sign * coalesce(cost, 0), sign * (cost IS NOT NULL)::int,
        sign * coalesce(r.input_tokens, 0), sign * coalesce(r.output_tokens, 0),
        sign * (coalesce(r.input_tokens, r.output_tokens) IS NOT NULL)::int,
        sign * (preflight = 1)::int, sign * (preflight = -1)::int, sign * (lint = 1)::int, sign * (lint = -1)::int,
        sign * (test = 1)::int, sign * (test = -1)::int, sign * (integration = 1)::int, sign * (integration = -1)::int,
        sign * (license = 1)::int, sign * (license = -1)::int)::run_day;
END $$;

-- Add the changes to the sums of the days.
CREATE OR REPLACE FUNCTION run_day_add(changes run_change[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    c run_change;
    added run_day;
    parts run_day[] := '{}';
BEGIN
    FOREACH c IN ARRAY changes LOOP
        added := run_day_of(c.became, 1);
        CONTINUE WHEN (c.was).id IS NOT NULL AND added = run_day_of(c.was, 1);
        parts := parts || added;
        IF (c.was).id IS NOT NULL THEN
            parts := parts || run_day_of(c.was, -1);
        END IF;
    END LOOP;
    INSERT INTO run_day AS d
    SELECT p.account_id, p.day, p.repo_key, sum(p.runs), sum(p.pull_requests), sum(p.issues), sum(p.branches), sum(p.skipped),
           sum(p.failed), sum(p.running), sum(p.other), sum(p.cost_usd), sum(p.cost_runs), sum(p.input_tokens),
           sum(p.output_tokens), sum(p.token_runs), sum(p.preflight_passed), sum(p.preflight_stopped), sum(p.lint_passed),
           sum(p.lint_stopped), sum(p.test_passed), sum(p.test_stopped), sum(p.integration_passed), sum(p.integration_stopped),
           sum(p.license_passed), sum(p.license_stopped)
    FROM unnest(parts) AS p GROUP BY p.account_id, p.repo_key, p.day ORDER BY p.account_id, p.repo_key, p.day
    ON CONFLICT (account_id, repo_key, day) DO UPDATE SET
        runs = d.runs + excluded.runs, pull_requests = d.pull_requests + excluded.pull_requests,
        issues = d.issues + excluded.issues, branches = d.branches + excluded.branches,
        skipped = d.skipped + excluded.skipped, failed = d.failed + excluded.failed,
        running = d.running + excluded.running, other = d.other + excluded.other,
        cost_usd = d.cost_usd + excluded.cost_usd, cost_runs = d.cost_runs + excluded.cost_runs,
        input_tokens = d.input_tokens + excluded.input_tokens,
        output_tokens = d.output_tokens + excluded.output_tokens, token_runs = d.token_runs + excluded.token_runs,
        preflight_passed = d.preflight_passed + excluded.preflight_passed,
        preflight_stopped = d.preflight_stopped + excluded.preflight_stopped,
        lint_passed = d.lint_passed + excluded.lint_passed, lint_stopped = d.lint_stopped + excluded.lint_stopped,
        test_passed = d.test_passed + excluded.test_passed, test_stopped = d.test_stopped + excluded.test_stopped,
        integration_passed = d.integration_passed + excluded.integration_passed,
        integration_stopped = d.integration_stopped + excluded.integration_stopped,
        license_passed = d.license_passed + excluded.license_passed,
        license_stopped = d.license_stopped + excluded.license_stopped;
END $$;

-- Take a run out of the sums of its day.
CREATE OR REPLACE FUNCTION run_day_subtract(r run) RETURNS void LANGUAGE plpgsql AS $$
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

-- What changes add to the sums of repositories and agents, and take out of them. A change whose `became` is null takes the run away.
CREATE OR REPLACE FUNCTION run_change_parts(changes run_change[])
RETURNS TABLE (sign int, account_id uuid, repo_key text, repo text, agent text, outcome_kind text) LANGUAGE sql IMMUTABLE AS $$
    SELECT 1, (c.became).account_id, (c.became).repo_key, (c.became).repo, (c.became).agent, (c.became).outcome_kind
    FROM unnest(changes) c WHERE (c.became).id IS NOT NULL
    UNION ALL
    SELECT -1, (c.was).account_id, (c.was).repo_key, (c.was).repo, (c.was).agent, (c.was).outcome_kind
    FROM unnest(changes) c WHERE (c.was).id IS NOT NULL
$$;

-- Add the changes to the sums of the repositories, and see which runs are the last.
CREATE OR REPLACE FUNCTION run_repo_add(changes run_change[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    c run_change;
BEGIN
    INSERT INTO run_repo AS s
    SELECT p.account_id, p.repo_key, min(p.repo), sum(p.sign),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'pull_request'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'issue'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'branch'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'skipped'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'failed'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'running'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'other'), 0),
           last.at, last.id, last.first_at, last.outcome_kind, last.status
    FROM run_change_parts(changes) p
    JOIN (SELECT DISTINCT ON ((x.became).account_id, (x.became).repo_key) (x.became).account_id, (x.became).repo_key,
                 (x.became).at, (x.became).id, (x.became).first_at, (x.became).outcome_kind, (x.became).status
          FROM unnest(changes) x
          ORDER BY (x.became).account_id, (x.became).repo_key, (x.became).at DESC, (x.became).id DESC) last
        ON last.account_id = p.account_id AND last.repo_key = p.repo_key
    GROUP BY p.account_id, p.repo_key, last.at, last.id, last.first_at, last.outcome_kind, last.status
    ORDER BY p.account_id, p.repo_key
    ON CONFLICT (account_id, repo_key) DO UPDATE SET
        runs = s.runs + excluded.runs, pull_requests = s.pull_requests + excluded.pull_requests,
        issues = s.issues + excluded.issues, branches = s.branches + excluded.branches,
        skipped = s.skipped + excluded.skipped, failed = s.failed + excluded.failed,
        running = s.running + excluded.running, other = s.other + excluded.other,
        (last_at, last_id, last_first_at, last_outcome, last_status) = (
            SELECT n.* FROM (VALUES
                (excluded.last_at, excluded.last_id, excluded.last_first_at, excluded.last_outcome, excluded.last_status),
                (s.last_at, s.last_id, s.last_first_at, s.last_outcome, s.last_status)) AS n (at, id, first_at, outcome, status)
            ORDER BY n.at DESC, n.id DESC LIMIT 1);
    FOREACH c IN ARRAY changes LOOP
        CONTINUE WHEN (c.became).at >= (c.was).at IS NOT FALSE;
        -- It started earlier than was thought: another one is perhaps the last.
        UPDATE run_repo s SET (last_at, last_id, last_first_at, last_outcome, last_status) = (
            SELECT r.at, r.id, r.first_at, r.outcome_kind, r.status FROM run r
            WHERE r.account_id = s.account_id AND r.repo_key = s.repo_key ORDER BY r.at DESC, r.id DESC LIMIT 1)
        WHERE s.account_id = (c.became).account_id AND s.repo_key = (c.became).repo_key AND s.last_id = (c.became).id;
    END LOOP;
END $$;

-- Take a run out of the sums of its repository.
CREATE OR REPLACE FUNCTION run_repo_subtract(r run) RETURNS void LANGUAGE plpgsql AS $$
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

-- Add the changes to the sums of the agents.
CREATE OR REPLACE FUNCTION run_agent_add(changes run_change[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    INSERT INTO run_agent AS s
    SELECT p.account_id, p.agent, p.repo_key, p.outcome_kind, sum(p.sign) FROM run_change_parts(changes) p
    WHERE p.agent IS NOT NULL GROUP BY 1, 2, 3, 4 HAVING sum(p.sign) <> 0 ORDER BY 1, 2, 3, 4
    ON CONFLICT (account_id, agent, repo_key, outcome_kind) DO UPDATE SET runs = s.runs + excluded.runs;
END $$;
