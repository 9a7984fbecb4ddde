-- The failed runs of a period. A function of its own, since the planner takes a period whose length it does not know for a
-- short one, and would sort the rows as text rather than hash them.
CREATE FUNCTION runs_failed(account uuid, from_time timestamptz, to_time timestamptz, repos text[])
RETURNS TABLE (repo_key text, cause text)
LANGUAGE sql STABLE ROWS 10000 SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
    SELECT r.repo_key, r.cause FROM run r
    WHERE r.account_id = account AND r.outcome_kind = 'failed' AND r.at >= from_time AND r.at < to_time
      AND (repos IS NULL OR r.repo_key = ANY (repos))
$$;

-- What the rules for findings look at (report/finding.h), beside what fleet_report() adds.
--
--   failures    causes of at least three failures of a repository, the most frequent first
--   rejections  reasons for which the newest 200 runs rejected candidates, and how many of these papers a run made a merged
--               pull request of all the same
--   unreviewed  pull requests that are open since a week and longer
--   pools       of each repository's newest ten runs, how many found fewer than three candidates
CREATE OR REPLACE FUNCTION fleet_facts(account uuid, since date, until date, repos text[]) RETURNS jsonb
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
                  WHERE n.place <= 10 GROUP BY n.repo_key) q)));
END $$;
