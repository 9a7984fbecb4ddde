-- The report on an account's fleet: what happened in a period, from sums of days and from indexes, never from all runs.
--
-- since and until are days in UTC, both included. `repos`, in lower case, narrows to these; null: all.

-- The sums of a period; cost and tokens are null unless a run reported them.
CREATE OR REPLACE FUNCTION fleet_sums(account uuid, since date, until date, repos text[]) RETURNS json
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN RETURN (
    SELECT json_build_object(
        'runs', coalesce(sum(d.runs), 0), 'pull_requests', coalesce(sum(d.pull_requests), 0),
        'issues', coalesce(sum(d.issues), 0), 'branches', coalesce(sum(d.branches), 0),
        'skipped', coalesce(sum(d.skipped), 0), 'failed', coalesce(sum(d.failed), 0),
        'running', coalesce(sum(d.running), 0), 'other', coalesce(sum(d.other), 0),
        'cost_usd', CASE WHEN sum(d.cost_runs) > 0 THEN sum(d.cost_usd) END, 'cost_runs', coalesce(sum(d.cost_runs), 0),
        'input_tokens', CASE WHEN sum(d.token_runs) > 0 THEN sum(d.input_tokens) END,
        'output_tokens', CASE WHEN sum(d.token_runs) > 0 THEN sum(d.output_tokens) END,
        'gates', json_build_array(
            json_build_object('gate', 'preflight_decision', 'passed', sum(d.preflight_passed), 'stopped', sum(d.preflight_stopped)),
            json_build_object('gate', 'lint_status', 'passed', sum(d.lint_passed), 'stopped', sum(d.lint_stopped)),
            json_build_object('gate', 'test_status', 'passed', sum(d.test_passed), 'stopped', sum(d.test_stopped)),
            json_build_object('gate', 'test_integration_gate', 'passed', sum(d.integration_passed), 'stopped', sum(d.integration_stopped)),
            json_build_object('gate', 'license_compat', 'passed', sum(d.license_passed), 'stopped', sum(d.license_stopped))))
    FROM run_days(account, since, until, repos) d);
END $$;

-- Pull requests that were merged in a period, how many of them until the end of its first half, and the median of the hours
-- from opening to merge.
CREATE OR REPLACE FUNCTION fleet_merged(account uuid, from_time timestamptz, to_time timestamptz, repos text[],
                             middle timestamptz DEFAULT NULL,
                             OUT merged bigint, OUT merged_first bigint, OUT median_hours double precision)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    SELECT count(*), count(*) FILTER (WHERE d.closed_at < middle),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY date_part('epoch', d.closed_at) - date_part('epoch', d.opened_at)) / 3600
    INTO merged, merged_first, median_hours
    FROM deliverable d
    WHERE d.account_id = account AND d.stage = 'merged' AND d.kind = 'pull_request'
      AND d.closed_at >= from_time AND d.closed_at < to_time AND (repos IS NULL OR d.repo_key = ANY (repos));
END $$;

-- The last run of a repository that started before a time.
CREATE OR REPLACE FUNCTION last_run_before(account uuid, in_repo text, before timestamptz) RETURNS run LANGUAGE plpgsql STABLE
SET enable_seqscan = off AS $$
DECLARE
    found run;
BEGIN
    SELECT r.* INTO found FROM run r WHERE r.account_id = account AND r.repo_key = in_repo AND r.at < before
    ORDER BY r.at DESC, r.id DESC LIMIT 1;
    RETURN found;
END $$;

-- A step of a timeline. As text: json_build_object() takes four times as long, and there are thousands.
CREATE OR REPLACE FUNCTION timeline_step(since date, runs bigint, pull_requests bigint, merged bigint, failed bigint, cost_usd numeric)
RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN concat('{"since":"', since, '","runs":', runs, ',"pull_requests":', pull_requests, ',"merged":', merged, ',"failed":', failed,
              ',"cost_usd":', coalesce(cost_usd::text, 'null'), '}');

-- The pull requests of a repository that were merged in a period, by the step of a timeline in which they were.
CREATE OR REPLACE FUNCTION fleet_merges(account uuid, since date, until date, repos text[], step text)
RETURNS TABLE (repo_key text, steps date[], counts bigint[])
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN RETURN QUERY
    SELECT m.repo_key, array_agg(m.begins), array_agg(m.merged)
    FROM (SELECT d.repo_key, greatest(date_trunc(step, d.closed_at AT TIME ZONE 'UTC')::date, since) AS begins, count(*) AS merged
          FROM deliverable d
          WHERE d.account_id = account AND d.stage = 'merged' AND d.kind = 'pull_request'
            AND d.closed_at >= since::timestamp AT TIME ZONE 'UTC' AND d.closed_at < (until + 1)::timestamp AT TIME ZONE 'UTC'
            AND (repos IS NULL OR d.repo_key = ANY (repos))
          GROUP BY 1, 2) m
    GROUP BY 1;
END $$;

-- The repositories of a report, each with the sums of its days, weeks or months (`step`), its last run before the end of
-- the period and how its agent stands; and how many of them had runs. From the same days:
--
--   cost_first, cost_second  cost of the first and the second half of the period, `middle` being the last day of the first;
--                            null: unknown
--   silent                   agents that are not revoked and ran at least three times in the period, but not in its last week
CREATE OR REPLACE FUNCTION fleet_agents(account uuid, since date, until date, repos text[], step text, middle date,
                             OUT agents text, OUT count bigint, OUT cost_first numeric, OUT cost_second numeric,
                             OUT silent jsonb)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    to_time timestamptz := (until + 1)::timestamp AT TIME ZONE 'UTC';
    week_ago timestamptz := least(to_time, now()) - interval '7 days';
    week_ago_day date := (week_ago AT TIME ZONE 'UTC')::date;
BEGIN
    WITH ran AS (
        SELECT s.repo_key, s.repo, s.last_at, s.last_outcome, s.last_status, t.*
        FROM run_repo s LEFT JOIN fleet_merges(account, since, until, repos, step) m ON m.repo_key = s.repo_key, LATERAL (
            SELECT sum(x.runs) AS runs, sum(x.recent) AS recent, sum(x.cost_first) AS cost_first, sum(x.cost_second) AS cost_second,
                   string_agg(timeline_step(coalesce(x.begins, g.begins), coalesce(x.runs, 0), coalesce(x.pull_requests, 0),
                                            coalesce(g.merged, 0), coalesce(x.failed, 0), x.cost_usd),
                              ',' ORDER BY coalesce(x.begins, g.begins)) AS timeline
            FROM (SELECT d.day AS begins, d.runs, d.pull_requests, d.failed, CASE WHEN d.cost_runs > 0 THEN d.cost_usd END AS cost_usd,
                         CASE WHEN d.day > week_ago_day THEN d.runs END AS recent,
                         CASE WHEN d.day <= middle AND d.cost_runs > 0 THEN d.cost_usd END AS cost_first,
                         CASE WHEN d.day > middle AND d.cost_runs > 0 THEN d.cost_usd END AS cost_second
                  FROM run_day d
                  WHERE step = 'day' AND d.account_id = account AND d.repo_key = s.repo_key AND d.day BETWEEN since AND until
                    AND d.runs > 0
                  UNION ALL
                  SELECT greatest(date_trunc(step, d.day::timestamp)::date, since), sum(d.runs), sum(d.pull_requests), sum(d.failed),
                         sum(d.cost_usd) FILTER (WHERE d.cost_runs > 0), sum(d.runs) FILTER (WHERE d.day > week_ago_day),
                         sum(d.cost_usd) FILTER (WHERE d.day <= middle AND d.cost_runs > 0),
                         sum(d.cost_usd) FILTER (WHERE d.day > middle AND d.cost_runs > 0)
                  FROM run_day d
                  WHERE step <> 'day' AND d.account_id = account AND d.repo_key = s.repo_key AND d.day BETWEEN since AND until
                    AND d.runs > 0
                  GROUP BY 1) x
            FULL JOIN unnest(m.steps, m.counts) AS g (begins, merged) ON g.begins = x.begins) t
        WHERE s.account_id = account AND (repos IS NULL OR s.repo_key = ANY (repos))
    ), installed AS (
        SELECT i.repo_key, max(i.repo) AS name, bool_or(i.status = 'active') AS is_active
        FROM installation i WHERE i.account_id = account AND (repos IS NULL OR i.repo_key = ANY (repos)) GROUP BY 1
    ), known AS (
        SELECT coalesce(r.repo, i.name) AS repo, repo_key, i.is_active, coalesce(r.runs, 0) AS runs, r.recent, r.cost_first,
               r.cost_second, r.timeline,
               CASE WHEN r.last_at < to_time THEN (r.last_at, r.last_outcome, r.last_status)::run_end
                    WHEN r.last_at >= to_time THEN (SELECT (e.at, e.outcome_kind, e.status)::run_end
                                                    FROM last_run_before(account, repo_key, to_time) e) END AS last
        FROM ran r FULL JOIN installed i USING (repo_key)
        WHERE r.timeline IS NOT NULL OR i.repo_key IS NOT NULL
        OFFSET 0
    )
    SELECT coalesce('[' || string_agg(concat(
               '{"repo":', to_json(k.repo), ',"state":"', CASE
                   WHEN NOT k.is_active THEN 'revoked' WHEN (k.last).outcome IS NULL THEN 'idle'
                   WHEN (k.last).outcome = 'running' THEN 'running' WHEN (k.last).outcome = 'failed' THEN 'failing' ELSE 'active' END,
               '","runs":', k.runs, ',"timeline":[', k.timeline, '],"last_outcome":', coalesce(to_json((k.last).outcome), 'null'),
               ',"last_status":', coalesce(to_json((k.last).status), 'null'),
               ',"last_run_at":', coalesce(to_json(time_json((k.last).at)), 'null'), '}'),
               ',' ORDER BY (k.last).at DESC NULLS LAST, k.repo_key) || ']', '[]'),
           count(*) FILTER (WHERE k.runs > 0), sum(k.cost_first), sum(k.cost_second),
           coalesce(jsonb_agg(jsonb_build_object('repo', k.repo, 'runs', k.runs, 'last_run_at', time_json((k.last).at))
                              ORDER BY k.repo)
                    FILTER (WHERE k.runs >= 3 AND coalesce(k.recent, 0) = 0 AND (k.last).at < week_ago
                                  AND k.is_active IS DISTINCT FROM false), '[]')
    INTO agents, count, cost_first, cost_second, silent
    FROM known k;
END $$;

-- The newest runs of a period, from the index of the account or from those of the repositories.
CREATE OR REPLACE FUNCTION runs_newest(account uuid, from_time timestamptz, to_time timestamptz, repos text[], max_count int)
RETURNS SETOF run LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    IF repos IS NULL THEN
        RETURN QUERY SELECT r.* FROM run r WHERE r.account_id = account AND r.at >= from_time AND r.at < to_time
            ORDER BY r.at DESC, r.id DESC LIMIT max_count;
    ELSE
        RETURN QUERY SELECT newest.* FROM unnest(repos) AS one (repo), LATERAL (
                SELECT r.* FROM run r
                WHERE r.account_id = account AND r.repo_key = one.repo AND r.at >= from_time AND r.at < to_time
                ORDER BY r.at DESC, r.id DESC LIMIT max_count) newest
            ORDER BY newest.at DESC, newest.id DESC LIMIT max_count;
    END IF;
END $$;

-- The newest 200 that were opened in the period.
CREATE OR REPLACE FUNCTION fleet_deliverables(account uuid, from_time timestamptz, to_time timestamptz, repos text[]) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT coalesce(json_agg(json_build_object(
        'url', d.url, 'kind', d.kind, 'repo', d.repo, 'stage', d.stage, 'run_id', d.run_id,
        'opened_at', time_json(d.opened_at), 'closed_at', time_json(d.closed_at)) ORDER BY d.opened_at DESC, d.url), '[]')
    FROM (SELECT * FROM deliverable x
          WHERE x.account_id = account AND x.opened_at >= from_time AND x.opened_at < to_time
            AND (repos IS NULL OR x.repo_key = ANY (repos))
          ORDER BY x.opened_at DESC, x.url LIMIT 200) d
$$;

-- The newest 200 things that happened in the period.
CREATE OR REPLACE FUNCTION fleet_chronology(account uuid, from_time timestamptz, to_time timestamptz, repos text[]) RETURNS json
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN RETURN (
    WITH ended AS (
        SELECT coalesce(r.finished_at, r.at) AS at, r.repo, 'run_' || r.outcome_kind AS kind,
               'run ' || run_id_text(r.run_id) || coalesce(' of ' || r.agent, '') || CASE r.outcome_kind
                   WHEN 'pull_request' THEN ' opened a pull request' WHEN 'issue' THEN ' opened an issue'
                   WHEN 'branch' THEN ' pushed a branch' WHEN 'skipped' THEN ' changed nothing: ' || r.status
                   WHEN 'failed' THEN ' failed: ' || coalesce(r.cause, r.status) WHEN 'running' THEN ' started'
                   ELSE ' ended' || coalesce(': ' || r.status, '') END AS text,
               r.artifact_url AS url, r.run_id
        FROM runs_newest(account, from_time, to_time, repos, 200) r
    ), settled AS (
        SELECT d.closed_at, d.repo, d.kind || '_' || d.stage, replace(d.kind, '_', ' ') || ' ' || d.stage, d.url, d.run_id
        FROM deliverable d
        WHERE d.account_id = account AND d.closed_at >= from_time AND d.closed_at < to_time
          AND (repos IS NULL OR d.repo_key = ANY (repos))
        ORDER BY d.closed_at DESC LIMIT 200
    ), agents AS (
        SELECT e.at, i.repo, e.kind, e.text, NULL, NULL::jsonb
        FROM installation i, LATERAL (VALUES (i.installed_at, 'agent_installed', i.agent || ' was installed'),
                                             (i.revoked_at, 'agent_revoked', i.agent || ' was revoked')) AS e (at, kind, text)
        WHERE i.account_id = account AND e.at >= from_time AND e.at < to_time AND (repos IS NULL OR i.repo_key = ANY (repos))
        ORDER BY e.at DESC LIMIT 200
    )
    SELECT coalesce(json_agg(json_build_object('at', time_json(c.at), 'repo', c.repo, 'kind', c.kind, 'text', c.text,
                                                 'url', c.url, 'run_id', c.run_id) ORDER BY c.at DESC, c.repo, c.kind, c.text), '[]')
    FROM (SELECT * FROM (SELECT * FROM ended UNION ALL SELECT * FROM settled UNION ALL SELECT * FROM agents) u
          ORDER BY u.at DESC, u.repo, u.kind, u.text LIMIT 200) c);
END $$;

-- The failed runs of a period. A function of its own, since the planner takes a period whose length it does not know for a
-- short one, and would sort the rows as text rather than hash them.
CREATE OR REPLACE FUNCTION runs_failed(account uuid, from_time timestamptz, to_time timestamptz, repos text[])
RETURNS TABLE (repo_key text, cause text)
LANGUAGE sql STABLE ROWS 10000 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
    SELECT r.repo_key, r.cause FROM run r
    WHERE r.account_id = account AND r.outcome_kind = 'failed' AND r.at >= from_time AND r.at < to_time
      AND (repos IS NULL OR r.repo_key = ANY (repos))
$$;

-- What the rules for findings look at (report/finding.h), beside what fleet_report() adds.
--
--   failures    causes of at least three failures of a repository, the most frequent first
--   rejections  reasons for which the newest 200 runs rejected candidates, 500 of each (candidate/), and how many of these papers a run
--               made a merged pull request of all the same
--   unreviewed  pull requests that are open since a week and longer
--   spikes      what cost much more than what was before it (budget/unusual.fn.sql), the newest 20
--   differing   agents and models whose newest 200 runs told another cost than their tokens have by the list of prices, by more than a
--               quarter and a cent
--   pools       of each repository's newest ten runs, how many found fewer than three candidates
CREATE OR REPLACE FUNCTION fleet_found(account uuid, since date, until date, repos text[]) RETURNS jsonb
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    from_time timestamptz := since::timestamp AT TIME ZONE 'UTC';
    to_time timestamptz := (until + 1)::timestamp AT TIME ZONE 'UTC';
    week_ago timestamptz := least(to_time, now()) - interval '7 days';
BEGIN RETURN (
    WITH newest AS MATERIALIZED (
        SELECT * FROM runs_newest(account, from_time, to_time, repos, 200)
    ), failures AS (
        SELECT repo_key, cause, count(*) AS runs
        FROM runs_failed(account, from_time, to_time, repos)
        GROUP BY 1, 2 HAVING count(*) >= 3 ORDER BY 3 DESC, 1, 2 LIMIT 10
    ), rejections AS (
        SELECT lower(left(btrim(c.reason), 100)) AS reason, count(*) AS times,
               jsonb_agg(DISTINCT n.run_id) AS run_ids, array_agg(DISTINCT c.arxiv_id) AS papers
        FROM newest n JOIN candidate c ON c.run = n.id AND c.gate IS NOT NULL
        WHERE c.reason <> ''
        GROUP BY 1 HAVING count(*) >= 10 ORDER BY 2 DESC, 1 LIMIT 5
    ), differing AS (
        SELECT n.agent, n.record ->> 'model' AS model, count(*) AS runs, sum(n.cost_usd) AS told_usd, sum(e.usd) AS estimated_usd,
               max(e.price_date) AS price_date, jsonb_path_query_array(jsonb_agg(n.run_id ORDER BY n.at DESC), '$[0 to 4]') AS run_ids
        FROM newest n, spend_estimate(n::run) AS e
        WHERE cost_believed(n.cost_usd) IS NOT NULL AND abs(e.usd - n.cost_usd) > greatest(0.25 * n.cost_usd, 0.01)
        GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 5
    )
    SELECT jsonb_build_object(
        'spikes', (SELECT coalesce(jsonb_agg(cost_unusual_json(u) ORDER BY u.at DESC, u.kind, u.subject), '[]')
            FROM (SELECT x.* FROM cost_unusual x
                  WHERE x.account_id = account AND x.at >= from_time AND x.at < to_time AND (repos IS NULL OR x.repo_key = ANY (repos))
                  ORDER BY x.at DESC, x.kind, x.subject LIMIT 20) u),
        'differing', (SELECT coalesce(jsonb_agg(to_jsonb(d) ORDER BY d.runs DESC, d.agent, d.model), '[]') FROM differing d),
        'failures', (SELECT coalesce(jsonb_agg(jsonb_build_object(
                'repo', f.repo_key, 'cause', f.cause, 'runs', f.runs, 'run_ids', (
                    SELECT jsonb_agg(x.run_id ORDER BY x.at DESC)
                    FROM (SELECT r.run_id, r.at FROM run r
                          WHERE r.account_id = account AND r.repo_key = f.repo_key AND r.outcome_kind = 'failed'
                            AND r.cause = f.cause AND r.at >= from_time AND r.at < to_time
                          ORDER BY r.at DESC, r.id DESC LIMIT 5) x)) ORDER BY f.runs DESC, f.repo_key, f.cause), '[]')
            FROM failures f),
        'rejections', (SELECT coalesce(jsonb_agg(jsonb_build_object(
                'reason', j.reason, 'times', j.times, 'run_ids', j.run_ids, 'merged_later', papers_merged(account, j.papers)) ORDER BY j.times DESC, j.reason), '[]')
            FROM rejections j),
        'unreviewed', (SELECT coalesce(jsonb_agg(jsonb_build_object(
                'repo', d.repo, 'url', d.url, 'run_id', d.run_id, 'opened_at', time_json(d.opened_at)) ORDER BY d.opened_at), '[]')
            FROM (SELECT x.* FROM deliverable x
                  WHERE x.account_id = account AND x.stage = 'open' AND x.kind = 'pull_request'
                    AND x.opened_at < week_ago AND x.opened_at >= from_time
                    AND (repos IS NULL OR x.repo_key = ANY (repos))
                  ORDER BY x.opened_at LIMIT 50) d),
        'pools', (SELECT coalesce(jsonb_agg(jsonb_build_object('repo', q.repo, 'runs', q.runs, 'dry', q.dry,
                                                               'run_ids', q.run_ids) ORDER BY q.repo), '[]')
            FROM (SELECT max(n.repo) AS repo, count(*) AS runs,
                         count(*) FILTER (WHERE (n.record ->> 'broad_pool_size')::numeric < 3) AS dry,
                         jsonb_agg(n.run_id ORDER BY n.at DESC) AS run_ids
                  FROM (SELECT *, row_number() OVER (PARTITION BY repo_key ORDER BY at DESC, id DESC) AS place FROM newest
                        WHERE record ? 'broad_pool_size') n
                  WHERE n.place <= 10 GROUP BY n.repo_key) q)));
END $$;

-- The figures of a report, and what its findings are made from.
CREATE OR REPLACE FUNCTION fleet_report(account uuid, since date, until date, repos text[], step text,
                                        OUT sums json, OUT merged bigint, OUT median_hours numeric, OUT agents text,
                                        OUT agents_count bigint, OUT facts jsonb) LANGUAGE plpgsql STABLE AS $$
DECLARE
    from_time timestamptz := since::timestamp AT TIME ZONE 'UTC';
    to_time timestamptz := (until + 1)::timestamp AT TIME ZONE 'UTC';
    middle date := since + (until - since) / 2;
    m record;
    a record;
BEGIN
    m := fleet_merged(account, from_time, to_time, repos, (middle + 1)::timestamp AT TIME ZONE 'UTC');
    a := fleet_agents(account, since, until, repos, step, middle);
    sums := fleet_sums(account, since, until, repos);
    merged := m.merged;
    median_hours := round(m.median_hours::numeric, 2);
    agents := a.agents;
    agents_count := a.count;
    facts := fleet_found(account, since, until, repos) || jsonb_build_object(
        'silent', a.silent, 'halves', jsonb_build_array(
            jsonb_build_object('since', since, 'until', middle, 'cost_usd', a.cost_first, 'merged', m.merged_first),
            jsonb_build_object('since', middle + 1, 'until', until, 'cost_usd', a.cost_second,
                               'merged', m.merged - m.merged_first)));
END $$;
