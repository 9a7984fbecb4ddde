-- Sums that no report can overflow or distort: tokens are summed without bound, and a cost that is not believed is left out.
ALTER TABLE run_day ALTER COLUMN input_tokens TYPE numeric, ALTER COLUMN output_tokens TYPE numeric;

-- What a run adds to sums of cost; null: it did not tell its cost, or one over 10,000 USD, which is kept and not believed.
CREATE FUNCTION run_cost(r run) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN CASE WHEN r.cost_usd <= 10000 THEN r.cost_usd END;
END $$;

-- As before, by run_cost().
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

UPDATE run_day d SET cost_usd = d.cost_usd - x.cost_usd, cost_runs = d.cost_runs - x.runs
FROM (SELECT r.account_id, r.repo_key, (r.at AT TIME ZONE 'UTC')::date AS day, sum(r.cost_usd) AS cost_usd, count(*) AS runs
      FROM run r WHERE r.cost_usd > 10000 GROUP BY 1, 2, 3) x
WHERE d.account_id = x.account_id AND d.repo_key = x.repo_key AND d.day = x.day;

-- A run as lists show it, and with its large members; `cost_excluded`: sums of cost leave it out.
CREATE OR REPLACE FUNCTION run_json(r run, detail jsonb DEFAULT NULL) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN r.record -> 'error' = 'null' THEN r.record - 'error' ELSE r.record END || coalesce(detail, '{}')
        || CASE WHEN run_is_lost(r) THEN jsonb_build_object('error', run_loss(r)) ELSE '{}' END
        || CASE WHEN r.cost_usd IS DISTINCT FROM run_cost(r) THEN '{"cost_excluded": true}' ELSE '{}' END::jsonb
        || jsonb_build_object('run_id', r.run_id, 'repo', r.repo, 'status', r.status, 'outcome_kind', r.outcome_kind,
                              'created_at', time_json(r.first_at), 'updated_at', time_json(r.changed_at))
$$;
