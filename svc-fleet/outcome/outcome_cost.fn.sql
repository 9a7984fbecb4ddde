-- What runs cost, beside what came of them. Unknown cost is said and never filled in: a quotient is of what is known.

-- The figures of some runs, of which all that is counted is in `x`.
--
--   cost_per_merged  known cost of all runs, of failed and skipped ones, too, for each merged pull request
--   cost_per_kept    the same of runs that are not `pending`, for each that was merged and not reverted for 30 days
CREATE OR REPLACE FUNCTION outcome_cost_json(runs bigint, runs_with_cost bigint, cost_usd numeric, estimated_usd numeric, failed_cost_usd numeric,
                                             pull_requests bigint, merged bigint, reverted bigint, kept bigint, pending bigint,
                                             settled_cost_usd numeric) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb_build_object(
    'runs', runs, 'runs_with_cost', runs_with_cost, 'cost_usd', cost_usd, 'estimated_usd', estimated_usd, 'failed_cost_usd', failed_cost_usd,
    'pull_requests', pull_requests, 'merged', merged, 'reverted', reverted, 'kept', kept, 'pending', pending,
    'cost_per_merged', round(cost_usd / nullif(merged, 0), 6), 'cost_per_kept', round(settled_cost_usd / nullif(kept, 0), 6));

-- The figures of a period, of all runs and of each group, those that cost most first; at most 500 groups. A pull request counts for the run
-- that opened it first.
--
--   pending  runs that started within the last 30 days, whose pull requests cannot be known to be kept
CREATE OR REPLACE FUNCTION fleet_outcome_costs(account uuid, since date, until date, group_by text, only_repo text) RETURNS jsonb
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
BEGIN RETURN (
    WITH ran AS MATERIALIZED (
        SELECT CASE group_by WHEN 'interest' THEN r.interest_id WHEN 'repo' THEN r.repo_key WHEN 'agent' THEN r.agent
                             WHEN 'model' THEN r.record ->> 'model' ELSE to_char(r.at AT TIME ZONE 'UTC', 'YYYY-MM') END AS name,
               run_known_spend(r.spend_usd, r.spend_basis) AS usd, r.spend_basis = 'estimated' AS is_estimated,
               r.outcome_kind = 'failed' AS is_failed, r.at > now() - interval '30 days' AS is_pending, d.url,
               coalesce(d.stage = 'merged', false) AS is_merged, coalesce(d.reverted_at IS NOT NULL AND d.reapplied_at IS NULL, false) AS is_reverted,
               coalesce(deliverable_verdict(d) = 'worked', false) AS is_kept
        FROM run r LEFT JOIN deliverable d ON d.account_id = account AND d.url = r.artifact_url AND d.kind = 'pull_request'
                                          AND d.repo_key = r.repo_key AND d.run_id = r.run_id
        WHERE r.account_id = account AND r.at >= since::timestamp AT TIME ZONE 'UTC' AND r.at < (until + 1)::timestamp AT TIME ZONE 'UTC'
          AND (only_repo IS NULL OR r.repo_key = only_repo)
    ), counted AS MATERIALIZED (
        SELECT grouping(ran.name) AS is_total, ran.name, sum(usd) AS usd, outcome_cost_json(
            count(*), count(usd), sum(usd), sum(usd) FILTER (WHERE is_estimated), sum(usd) FILTER (WHERE is_failed),
            count(url), count(*) FILTER (WHERE is_merged), count(*) FILTER (WHERE is_reverted),
            count(*) FILTER (WHERE is_kept AND NOT is_pending), count(*) FILTER (WHERE is_pending),
            sum(usd) FILTER (WHERE NOT is_pending)) AS figures
        FROM ran GROUP BY GROUPING SETS ((ran.name), ())
    ), listed AS (
        SELECT c.* FROM counted c WHERE c.is_total = 0 ORDER BY c.usd DESC NULLS LAST, c.name LIMIT 500
    )
    SELECT jsonb_build_object(
        'since', since, 'until', until, 'group_by', group_by,
        'total', (SELECT c.figures FROM counted c WHERE c.is_total = 1),
        'groups', (SELECT coalesce(jsonb_agg(jsonb_build_object('group', l.name) || l.figures ORDER BY l.usd DESC NULLS LAST, l.name), '[]') FROM listed l),
        'truncated', (SELECT count(*) > 500 FROM counted c WHERE c.is_total = 0)));
END $$;
