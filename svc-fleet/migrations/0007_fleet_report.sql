-- The report on an account's fleet: what happened in a period, from sums of days and from indexes, never from all runs.
--
-- since and until are days in UTC, both included. `repos`, in lower case, narrows to these; null: all.

-- The sums of a period; cost and tokens are null unless a run told them.
CREATE FUNCTION fleet_sums(account uuid, since date, until date, repos text[]) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'runs', coalesce(sum(d.runs), 0), 'pull_requests', coalesce(sum(d.pull_requests), 0),
        'issues', coalesce(sum(d.issues), 0), 'branches', coalesce(sum(d.branches), 0),
        'skipped', coalesce(sum(d.skipped), 0), 'failed', coalesce(sum(d.failed), 0),
        'running', coalesce(sum(d.running), 0), 'other', coalesce(sum(d.other), 0),
        'cost_usd', CASE WHEN sum(d.cost_runs) > 0 THEN sum(d.cost_usd) END, 'cost_runs', coalesce(sum(d.cost_runs), 0),
        'input_tokens', CASE WHEN sum(d.token_runs) > 0 THEN sum(d.input_tokens) END,
        'output_tokens', CASE WHEN sum(d.token_runs) > 0 THEN sum(d.output_tokens) END,
        'gates', jsonb_build_array(
            jsonb_build_object('gate', 'preflight_decision', 'passed', sum(d.preflight_passed), 'stopped', sum(d.preflight_stopped)),
            jsonb_build_object('gate', 'lint_status', 'passed', sum(d.lint_passed), 'stopped', sum(d.lint_stopped)),
            jsonb_build_object('gate', 'test_status', 'passed', sum(d.test_passed), 'stopped', sum(d.test_stopped)),
            jsonb_build_object('gate', 'test_integration_gate', 'passed', sum(d.integration_passed), 'stopped', sum(d.integration_stopped)),
            jsonb_build_object('gate', 'license_compat', 'passed', sum(d.license_passed), 'stopped', sum(d.license_stopped))))
    FROM run_day d
    WHERE d.account_id = account AND d.day BETWEEN since AND until AND (repos IS NULL OR d.repo_key = ANY (repos))
$$;

-- Pull requests that were merged in a period, and the median of the hours from opening to merge.
CREATE FUNCTION fleet_merged(account uuid, from_time timestamptz, to_time timestamptz, repos text[],
                             OUT merged bigint, OUT median_hours double precision) LANGUAGE sql STABLE AS $$
    SELECT count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM d.closed_at - d.opened_at) / 3600)
    FROM deliverable d
    WHERE d.account_id = account AND d.stage = 'merged' AND d.kind = 'pull_request'
      AND d.closed_at >= from_time AND d.closed_at < to_time AND (repos IS NULL OR d.repo_key = ANY (repos))
$$;

-- The last run of each repository of an account. The repositories are found one after the other in the index, so this takes
-- as long as there are repositories, however many runs.
CREATE FUNCTION fleet_last_runs(account uuid, in_repo text) RETURNS SETOF run LANGUAGE sql STABLE AS $$
    WITH RECURSIVE known AS (
        (SELECT k.repo_key FROM run_key k
         WHERE k.account_id = account AND (in_repo IS NULL OR k.repo_key = in_repo) ORDER BY 1 LIMIT 1)
        UNION ALL
        SELECT next.repo_key FROM known, LATERAL (
            SELECT k.repo_key FROM run_key k
            WHERE k.account_id = account AND k.repo_key > known.repo_key AND in_repo IS NULL ORDER BY 1 LIMIT 1) next
    )
    SELECT last.* FROM known, LATERAL (
        SELECT r.* FROM run r WHERE r.account_id = account AND r.repo_key = known.repo_key
        ORDER BY r.at DESC, r.id DESC LIMIT 1) last
$$;

-- The repositories of a report, each with the sums of its days, weeks or months (`step`), its last run of the period and
-- how its agent stands.
CREATE FUNCTION fleet_agents(account uuid, since date, until date, repos text[], step text) RETURNS jsonb
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    WITH spans AS (
        SELECT d.repo_key, greatest(date_trunc(step, d.day)::date, since) AS begins, sum(d.runs) AS runs,
               sum(d.pull_requests) AS pull_requests, sum(d.failed) AS failed,
               CASE WHEN sum(d.cost_runs) > 0 THEN sum(d.cost_usd) END AS cost_usd
        FROM run_day d
        WHERE d.account_id = account AND d.day BETWEEN since AND until AND (repos IS NULL OR d.repo_key = ANY (repos))
        GROUP BY 1, 2 HAVING sum(d.runs) > 0
    ), timelines AS (
        SELECT s.repo_key, sum(s.runs) AS runs, jsonb_agg(jsonb_build_object(
            'since', s.begins, 'runs', s.runs, 'pull_requests', s.pull_requests, 'failed', s.failed,
            'cost_usd', s.cost_usd) ORDER BY s.begins) AS timeline
        FROM spans s GROUP BY 1
    ), installed AS (
        SELECT i.repo_key, max(i.repo) AS repo, bool_or(i.status = 'active') AS is_active
        FROM installation i WHERE i.account_id = account AND (repos IS NULL OR i.repo_key = ANY (repos)) GROUP BY 1
    )
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'repo', coalesce(last.repo, a.repo), 'state',
            CASE WHEN NOT a.is_active THEN 'revoked' WHEN last.outcome_kind IS NULL THEN 'idle'
                 WHEN last.outcome_kind = 'running' THEN 'running' WHEN last.outcome_kind = 'failed' THEN 'failing'
                 ELSE 'active' END,
        'runs', coalesce(a.runs, 0), 'timeline', coalesce(a.timeline, '[]'), 'last_outcome', last.outcome_kind,
        'last_status', last.status, 'last_run_at', time_json(last.at)) ORDER BY last.at DESC NULLS LAST, a.repo_key), '[]')
    FROM (SELECT * FROM timelines FULL JOIN installed USING (repo_key)) a
    LEFT JOIN LATERAL (
        SELECT r.repo, r.outcome_kind, r.status, r.at FROM run r
        WHERE r.account_id = account AND r.repo_key = a.repo_key AND r.at < (until + 1)::timestamp AT TIME ZONE 'UTC'
        ORDER BY r.at DESC, r.id DESC LIMIT 1
    ) last ON true
$$;

-- The newest 200 that were opened in the period.
CREATE FUNCTION fleet_deliverables(account uuid, from_time timestamptz, to_time timestamptz, repos text[]) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'url', d.url, 'kind', d.kind, 'repo', d.repo, 'stage', d.stage, 'run_id', d.run_id,
        'opened_at', time_json(d.opened_at), 'closed_at', time_json(d.closed_at)) ORDER BY d.opened_at DESC, d.url), '[]')
    FROM (SELECT * FROM deliverable x
          WHERE x.account_id = account AND x.opened_at >= from_time AND x.opened_at < to_time
            AND (repos IS NULL OR x.repo_key = ANY (repos))
          ORDER BY x.opened_at DESC, x.url LIMIT 200) d
$$;

-- The newest 200 things that happened in the period.
CREATE FUNCTION fleet_chronology(account uuid, from_time timestamptz, to_time timestamptz, repos text[]) RETURNS jsonb
LANGUAGE sql STABLE AS $$
    WITH ended AS (
        SELECT coalesce(r.finished_at, r.at) AS at, r.repo, 'run_' || r.outcome_kind AS kind,
               'run ' || (r.run_id #>> '{}') || coalesce(' of ' || r.agent, '') || CASE r.outcome_kind
                   WHEN 'pull_request' THEN ' opened a pull request' WHEN 'issue' THEN ' opened an issue'
                   WHEN 'branch' THEN ' pushed a branch' WHEN 'skipped' THEN ' changed nothing: ' || r.status
                   WHEN 'failed' THEN ' failed: ' || coalesce(r.cause, r.status) WHEN 'running' THEN ' started'
                   ELSE ' ended' || coalesce(': ' || r.status, '') END AS text,
               r.artifact_url AS url, r.run_id
        FROM run r
        WHERE r.account_id = account AND r.at >= from_time AND r.at < to_time AND (repos IS NULL OR r.repo_key = ANY (repos))
        ORDER BY r.at DESC, r.id DESC LIMIT 200
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
    SELECT coalesce(jsonb_agg(jsonb_build_object('at', time_json(c.at), 'repo', c.repo, 'kind', c.kind, 'text', c.text,
                                                 'url', c.url, 'run_id', c.run_id) ORDER BY c.at DESC, c.repo, c.kind, c.text), '[]')
    FROM (SELECT * FROM (SELECT * FROM ended UNION ALL SELECT * FROM settled UNION ALL SELECT * FROM agents) u
          ORDER BY u.at DESC, u.repo, u.kind, u.text LIMIT 200) c
$$;

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
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    WITH period AS (
        SELECT since::timestamp AT TIME ZONE 'UTC' AS from_time, (until + 1)::timestamp AT TIME ZONE 'UTC' AS to_time,
               least((until + 1)::timestamp AT TIME ZONE 'UTC', now()) AS end_time, since + (until - since) / 2 AS middle
    ), newest AS MATERIALIZED (
        SELECT r.* FROM run r, period p
        WHERE r.account_id = account AND r.at >= p.from_time AND r.at < p.to_time
          AND (repos IS NULL OR r.repo_key = ANY (repos))
        ORDER BY r.at DESC, r.id DESC LIMIT 200
    ), failures AS (
        SELECT r.repo_key, r.cause, count(*) AS runs
        FROM run r, period p
        WHERE r.account_id = account AND r.outcome_kind = 'failed' AND r.at >= p.from_time AND r.at < p.to_time
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
                            AND r.cause = f.cause AND r.at >= p.from_time AND r.at < p.to_time
                          ORDER BY r.at DESC, r.id DESC LIMIT 5) x)) ORDER BY f.runs DESC, f.repo_key, f.cause), '[]')
            FROM failures f, period p),
        'halves', (SELECT jsonb_agg(jsonb_build_object(
                'since', h.since, 'until', h.until, 'cost_usd', fleet_sums(account, h.since, h.until, repos) -> 'cost_usd',
                'merged', (fleet_merged(account, h.since::timestamp AT TIME ZONE 'UTC',
                                        (h.until + 1)::timestamp AT TIME ZONE 'UTC', repos)).merged) ORDER BY h.since)
            FROM period p, LATERAL (VALUES (since, p.middle), (p.middle + 1, until)) AS h (since, until)),
        'rejections', (SELECT coalesce(jsonb_agg(jsonb_build_object(
                'reason', j.reason, 'times', j.times, 'run_ids', j.run_ids, 'merged_later', (
                    SELECT coalesce(jsonb_agg(DISTINCT r.arxiv_id), '[]')
                    FROM run r JOIN deliverable d ON d.account_id = account AND d.url = r.artifact_url AND d.stage = 'merged'
                    WHERE r.account_id = account AND r.arxiv_id = ANY (j.papers))) ORDER BY j.times DESC, j.reason), '[]')
            FROM rejections j),
        'unreviewed', (SELECT coalesce(jsonb_agg(jsonb_build_object(
                'repo', d.repo, 'url', d.url, 'run_id', d.run_id, 'opened_at', time_json(d.opened_at)) ORDER BY d.opened_at), '[]')
            FROM (SELECT x.* FROM deliverable x, period p
                  WHERE x.account_id = account AND x.stage = 'open' AND x.kind = 'pull_request'
                    AND x.opened_at < p.end_time - interval '7 days' AND x.opened_at >= p.from_time
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
        'silent', (SELECT coalesce(jsonb_agg(jsonb_build_object('repo', s.repo, 'runs', s.runs,
                                                                'last_run_at', time_json(s.last_at)) ORDER BY s.repo), '[]')
            FROM (SELECT last.repo, known.runs, last.at AS last_at
                  FROM (SELECT d.repo_key, sum(d.runs) AS runs FROM run_day d
                        WHERE d.account_id = account AND d.day BETWEEN since AND until
                          AND (repos IS NULL OR d.repo_key = ANY (repos))
                          AND NOT EXISTS (SELECT FROM installation i
                                          WHERE i.account_id = account AND i.repo_key = d.repo_key
                                          HAVING bool_and(i.status = 'revoked'))
                        GROUP BY 1 HAVING sum(d.runs) >= 3) known, period p, LATERAL (
                      SELECT r.repo, r.at FROM run r
                      WHERE r.account_id = account AND r.repo_key = known.repo_key AND r.at < p.to_time
                      ORDER BY r.at DESC LIMIT 1) last
                  WHERE last.at < p.end_time - interval '7 days') s))
$$;
