-- The report on an account's fleet: what happened in a period, from sums of days and from indexes, never from all runs.
--
-- since and until are days in UTC, both included. `repos`, in lower case, narrows to these; null: all.

-- The sums of a period; cost and tokens are null unless a run told them.
CREATE FUNCTION fleet_sums(account uuid, since date, until date, repos text[]) RETURNS json LANGUAGE sql STABLE AS $$
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
    FROM run_day d
    WHERE d.account_id = account AND d.day BETWEEN since AND until AND (repos IS NULL OR d.repo_key = ANY (repos))
$$;

-- Pull requests that were merged in a period, and the median of the hours from opening to merge.
CREATE FUNCTION fleet_merged(account uuid, from_time timestamptz, to_time timestamptz, repos text[],
                             OUT merged bigint, OUT median_hours double precision) LANGUAGE sql STABLE AS $$
    SELECT count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY date_part('epoch', d.closed_at - d.opened_at) / 3600)
    FROM deliverable d
    WHERE d.account_id = account AND d.stage = 'merged' AND d.kind = 'pull_request'
      AND d.closed_at >= from_time AND d.closed_at < to_time AND (repos IS NULL OR d.repo_key = ANY (repos))
$$;

-- The last run of each repository of an account.
CREATE FUNCTION fleet_last_runs(account uuid, in_repo text) RETURNS SETOF run LANGUAGE sql STABLE AS $$
    SELECT r.* FROM run_repo s JOIN run r ON r.id = s.last_id AND r.first_at = s.last_first_at
    WHERE s.account_id = account AND (in_repo IS NULL OR s.repo_key = in_repo)
$$;

-- The last run of a repository that started before a time.
CREATE FUNCTION last_run_before(account uuid, in_repo text, before timestamptz) RETURNS run LANGUAGE plpgsql STABLE
SET enable_seqscan = off AS $$
DECLARE
    found run;
BEGIN
    SELECT r.* INTO found FROM run r WHERE r.account_id = account AND r.repo_key = in_repo AND r.at < before
    ORDER BY r.at DESC, r.id DESC LIMIT 1;
    RETURN found;
END $$;

-- The repositories of a report, each with the sums of its days, weeks or months (`step`), its last run before the end of
-- the period and how its agent stands; and how many they are.
CREATE FUNCTION fleet_agents(account uuid, since date, until date, repos text[], step text, OUT agents json, OUT count bigint)
LANGUAGE sql STABLE AS $$
    WITH spans AS (
        SELECT d.repo_key, greatest(date_trunc(step, d.day::timestamp)::date, since) AS begins, sum(d.runs) AS runs,
               sum(d.pull_requests) AS pull_requests, sum(d.failed) AS failed,
               CASE WHEN sum(d.cost_runs) > 0 THEN sum(d.cost_usd) END AS cost_usd
        FROM run_day d
        WHERE d.account_id = account AND d.day BETWEEN since AND until AND (repos IS NULL OR d.repo_key = ANY (repos))
        GROUP BY 1, 2 HAVING sum(d.runs) > 0
    ), timelines AS (
        -- Thousands of steps: as text they are made in a quarter of the time that json_build_object() takes.
        SELECT s.repo_key, sum(s.runs) AS runs, ('[' || string_agg(
            '{"since":"' || s.begins || '","runs":' || s.runs || ',"pull_requests":' || s.pull_requests || ',"failed":'
            || s.failed || ',"cost_usd":' || coalesce(s.cost_usd::text, 'null') || '}', ',' ORDER BY s.begins) || ']')::json
            AS timeline
        FROM spans s GROUP BY 1
    ), installed AS (
        SELECT i.repo_key, max(i.repo) AS repo, bool_or(i.status = 'active') AS is_active
        FROM installation i WHERE i.account_id = account AND (repos IS NULL OR i.repo_key = ANY (repos)) GROUP BY 1
    ), known AS (
        SELECT a.*, s.repo AS name, s.last_at, s.last_outcome, s.last_status, s.last_at < p.to_time AS is_last,
               CASE WHEN s.last_at >= p.to_time THEN last_run_before(account, a.repo_key, p.to_time) END AS earlier
        FROM (SELECT * FROM timelines FULL JOIN installed USING (repo_key)) a
        LEFT JOIN run_repo s ON s.account_id = account AND s.repo_key = a.repo_key,
             (SELECT (until + 1)::timestamp AT TIME ZONE 'UTC' AS to_time) p
    ), agent AS (
        SELECT coalesce(k.name, k.repo) AS repo, k.repo_key, k.is_active, k.runs, k.timeline,
               CASE WHEN k.is_last THEN k.last_at ELSE (k.earlier).at END AS at,
               CASE WHEN k.is_last THEN k.last_outcome ELSE (k.earlier).outcome_kind END AS outcome,
               CASE WHEN k.is_last THEN k.last_status ELSE (k.earlier).status END AS status
        FROM known k
    )
    SELECT coalesce(json_agg(json_build_object(
        'repo', a.repo, 'state',
            CASE WHEN NOT a.is_active THEN 'revoked' WHEN a.outcome IS NULL THEN 'idle'
                 WHEN a.outcome = 'running' THEN 'running' WHEN a.outcome = 'failed' THEN 'failing' ELSE 'active' END,
        'runs', coalesce(a.runs, 0), 'timeline', coalesce(a.timeline, '[]'), 'last_outcome', a.outcome,
        'last_status', a.status, 'last_run_at', time_json(a.at)) ORDER BY a.at DESC NULLS LAST, a.repo_key), '[]'), count(*)
    FROM agent a
$$;

-- The newest runs of a period, from the index of the account or from those of the repositories.
CREATE FUNCTION runs_newest(account uuid, from_time timestamptz, to_time timestamptz, repos text[], max_count int)
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
CREATE FUNCTION fleet_deliverables(account uuid, from_time timestamptz, to_time timestamptz, repos text[]) RETURNS json
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
CREATE FUNCTION fleet_chronology(account uuid, from_time timestamptz, to_time timestamptz, repos text[]) RETURNS json
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN RETURN (
    WITH ended AS (
        SELECT coalesce(r.finished_at, r.at) AS at, r.repo, 'run_' || r.outcome_kind AS kind,
               'run ' || (r.run_id #>> '{}') || coalesce(' of ' || r.agent, '') || CASE r.outcome_kind
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

-- What the rules for findings look at (report/finding.h).
--
--   failures    causes of at least three failures of a repository, the most frequent first
--   halves      cost and merged pull requests of the first and the second half of the period
--   rejections  reasons for which the newest 200 runs rejected candidates, and how many of these papers a run made a merged
--               pull request of all the same
--   unreviewed  pull requests that are open since a week and longer
--   pools       of each repository's newest ten runs, how many found fewer than three candidates
--   silent      agents that are not revoked and ran at least three times in the period, but not in its last week
CREATE FUNCTION fleet_facts(account uuid, since date, until date, repos text[]) RETURNS jsonb
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    from_time timestamptz := since::timestamp AT TIME ZONE 'UTC';
    to_time timestamptz := (until + 1)::timestamp AT TIME ZONE 'UTC';
    week_ago timestamptz := least(to_time, now()) - interval '7 days';
    middle date := since + (until - since) / 2;
BEGIN RETURN (
    WITH days AS MATERIALIZED (
        SELECT d.repo_key, d.day, d.runs, d.cost_usd, d.cost_runs FROM run_day d
        WHERE d.account_id = account AND d.day BETWEEN since AND until AND (repos IS NULL OR d.repo_key = ANY (repos))
    ), newest AS MATERIALIZED (
        SELECT * FROM runs_newest(account, from_time, to_time, repos, 200)
    ), failures AS (
        SELECT r.repo_key, r.cause, count(*) AS runs
        FROM run r
        WHERE r.account_id = account AND r.outcome_kind = 'failed' AND r.at >= from_time AND r.at < to_time
          AND (repos IS NULL OR r.repo_key = ANY (repos))
        GROUP BY 1, 2 HAVING count(*) >= 3 ORDER BY 3 DESC, 1, 2 LIMIT 10
    ), rejections AS (
        SELECT lower(left(btrim(c.candidate ->> 'reason'), 100)) AS reason, count(*) AS times,
               jsonb_agg(DISTINCT n.run_id) AS run_ids, array_agg(DISTINCT c.candidate ->> 'arxiv_id') AS papers
        FROM newest n JOIN run_detail d ON d.id = n.id AND d.first_at = n.first_at,
             jsonb_array_elements(CASE WHEN jsonb_typeof(d.detail -> 'selection_rejected') = 'array'
                                       THEN d.detail -> 'selection_rejected' ELSE '[]' END) AS c (candidate)
        WHERE c.candidate ->> 'reason' <> ''
        GROUP BY 1 HAVING count(*) >= 10 ORDER BY 2 DESC, 1 LIMIT 5
    )
    SELECT jsonb_build_object(
        'failures', (SELECT coalesce(jsonb_agg(jsonb_build_object(
                'repo', f.repo_key, 'cause', f.cause, 'runs', f.runs, 'run_ids', (
                    SELECT jsonb_agg(x.run_id ORDER BY x.at DESC)
                    FROM (SELECT r.run_id, r.at FROM run r
                          WHERE r.account_id = account AND r.repo_key = f.repo_key AND r.outcome_kind = 'failed'
                            AND r.cause = f.cause AND r.at >= from_time AND r.at < to_time
                          ORDER BY r.at DESC, r.id DESC LIMIT 5) x)) ORDER BY f.runs DESC, f.repo_key, f.cause), '[]')
            FROM failures f),
        'halves', (SELECT jsonb_agg(jsonb_build_object(
                'since', h.since, 'until', h.until, 'cost_usd', (
                    SELECT CASE WHEN sum(d.cost_runs) > 0 THEN sum(d.cost_usd) END FROM days d
                    WHERE d.day BETWEEN h.since AND h.until),
                'merged', (
                    SELECT count(*) FROM deliverable d
                    WHERE d.account_id = account AND d.stage = 'merged' AND d.kind = 'pull_request'
                      AND d.closed_at >= h.since::timestamp AT TIME ZONE 'UTC'
                      AND d.closed_at < (h.until + 1)::timestamp AT TIME ZONE 'UTC'
                      AND (repos IS NULL OR d.repo_key = ANY (repos)))) ORDER BY h.since)
            FROM (VALUES (fleet_facts.since, middle), (middle + 1, fleet_facts.until)) AS h (since, until)),
        'rejections', (SELECT coalesce(jsonb_agg(jsonb_build_object(
                'reason', j.reason, 'times', j.times, 'run_ids', j.run_ids, 'merged_later', (
                    SELECT coalesce(jsonb_agg(DISTINCT r.arxiv_id), '[]')
                    FROM run r JOIN deliverable d ON d.account_id = account AND d.url = r.artifact_url AND d.stage = 'merged'
                    WHERE r.account_id = account AND r.arxiv_id = ANY (j.papers))) ORDER BY j.times DESC, j.reason), '[]')
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
                  WHERE n.place <= 10 GROUP BY n.repo_key) q),
        'silent', (SELECT coalesce(jsonb_agg(jsonb_build_object('repo', last.repo, 'runs', s.runs,
                                                                'last_run_at', time_json(last.at)) ORDER BY last.repo), '[]')
            FROM (SELECT d.repo_key, sum(d.runs) AS runs FROM days d GROUP BY 1
                  HAVING sum(d.runs) >= 3 AND coalesce(sum(d.runs) FILTER (
                             WHERE d.day > (week_ago AT TIME ZONE 'UTC')::date), 0) = 0
                  OFFSET 0) s,
                 last_run_before(account, s.repo_key, to_time) last
            WHERE last.at < week_ago
              AND NOT EXISTS (SELECT FROM installation i WHERE i.account_id = account AND i.repo_key = s.repo_key
                              HAVING bool_and(i.status = 'revoked')))));
END $$;
