-- What became of papers that runs passed over, beside those that they chose.

-- What became of a pull request, and of an experiment by it. One that was reverted is as good as closed until it is merged again, which
-- counts from then on.
CREATE OR REPLACE FUNCTION told_verdict(outcome text, status text, stage text, closed_at timestamptz, reverted_at timestamptz,
                                        reapplied_at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN reverted_at IS NOT NULL AND reapplied_at IS NULL THEN trial_verdict(outcome, status, 'closed', NULL)
                ELSE trial_verdict(outcome, status, stage, CASE WHEN stage = 'merged' THEN coalesce(reapplied_at, closed_at) END) END
$$;

CREATE OR REPLACE FUNCTION deliverable_verdict(d deliverable) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT told_verdict(NULL, NULL, d.stage, d.closed_at, d.reverted_at, d.reapplied_at)
$$;

-- What a person decided counts first, then what the code host told of its pull request, then what the experiment says of that. Of an
-- experiment whose state of the pull request has no time, of before that was kept, the newest event has it.
CREATE OR REPLACE FUNCTION experiment_verdict(e experiment) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN p.stage IS NULL THEN told_verdict(e.outcome, e.status, lower(e.pr_status), coalesce(e.pr_status_at, e.told_at), NULL, NULL)
                ELSE told_verdict(e.outcome, e.status, p.stage, p.closed_at, p.reverted_at, p.reapplied_at) END
    FROM pull_request_told(e.account_id, e.pr_url) p
$$;

-- Who tried a paper: runs with the pull request that they opened, and experiments. A pull request that an experiment names counts by that.
-- `only_repo`: what a key that is limited to it may see, which is no experiment; null: everything. `unfilled`: candidates_to_choose() of the paper.
CREATE OR REPLACE FUNCTION paper_trials(account uuid, paper text, only_repo text, unfilled candidate[])
RETURNS TABLE (verdict text, repo_key text, at timestamptz, url text, repo text, experiment_id uuid) LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    RETURN QUERY
        SELECT CASE WHEN d.url IS NULL OR EXISTS (SELECT FROM experiment e WHERE e.account_id = account AND e.pr_url = d.url
                                                    AND e.arxiv_ids @> ARRAY[paper] AND NOT e.is_deleted)
                    THEN 'pending' ELSE deliverable_verdict(d) END, r.repo_key, r.at, d.url, r.repo, NULL::uuid
        FROM (SELECT c.run, c.first_at FROM candidate c WHERE c.account_id = account AND c.arxiv_id = paper AND c.gate IS NULL
              UNION ALL SELECT u.run, u.first_at FROM unnest(unfilled) u) c
        JOIN run r ON r.id = c.run AND r.first_at = c.first_at
        LEFT JOIN deliverable d ON d.account_id = account AND d.url = r.artifact_url AND d.kind = 'pull_request'
        WHERE only_repo IS NULL OR r.repo_key = only_repo
        UNION ALL
        SELECT experiment_verdict(e), NULL, e.made_at, e.pr_url, NULL, e.id
        FROM experiment e
        WHERE only_repo IS NULL AND e.account_id = account AND e.arxiv_ids @> ARRAY[paper] AND NOT e.is_deleted
          AND experiment_verdict(e) <> 'untried';
END $$;

-- Which of the papers a run made a merged pull request of.
CREATE OR REPLACE FUNCTION papers_merged(account uuid, papers text[]) RETURNS text[] LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN RETURN ARRAY(
    SELECT DISTINCT c.arxiv_id
    FROM (SELECT k.arxiv_id, k.run, k.first_at FROM candidate k
          WHERE k.account_id = account AND k.arxiv_id = ANY (papers) AND k.gate IS NULL
          UNION ALL SELECT u.arxiv_id, u.run, u.first_at FROM candidates_to_choose(account, papers, NULL) u) c
    JOIN run r ON r.id = c.run AND r.first_at = c.first_at
    JOIN deliverable d ON d.account_id = account AND d.url = r.artifact_url AND d.kind = 'pull_request' AND d.stage = 'merged'
    ORDER BY 1);
END $$;

-- The figures of a period: a paper counts once at each gate that passed it over, and was tried elsewhere if another repository or a later
-- run or experiment tried it.
CREATE OR REPLACE FUNCTION fleet_rejections(account uuid, since date, until date, with_gate text, in_repo text, of_interest text,
                                            only_repo text) RETURNS json
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
DECLARE
    begins timestamptz := since::timestamp AT TIME ZONE 'UTC';
    ends timestamptz := (until + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN RETURN (
    WITH unfilled AS MATERIALIZED (
        SELECT * FROM candidates_to_choose(account, NULL, NULL) UNION ALL SELECT * FROM candidates_to_reject(account, NULL, NULL, begins, ends)
    ), considered AS MATERIALIZED (
        SELECT c.arxiv_id, c.gate, c.reason, r.id, r.run_id, r.repo, r.repo_key, r.at
        FROM run r JOIN candidate c ON c.run = r.id
        WHERE r.account_id = account AND r.at >= begins AND r.at < ends
          AND (in_repo IS NULL OR r.repo_key = in_repo) AND (of_interest IS NULL OR r.interest_id = of_interest)
          AND (with_gate IS NULL OR c.gate IS NULL OR c.gate = with_gate)
        UNION ALL
        SELECT u.arxiv_id, u.gate, u.reason, r.id, r.run_id, r.repo, r.repo_key, r.at
        FROM unfilled u JOIN run r ON r.id = u.run AND r.first_at = u.first_at
        WHERE r.at >= begins AND r.at < ends
          AND (in_repo IS NULL OR r.repo_key = in_repo) AND (of_interest IS NULL OR r.interest_id = of_interest)
          AND (with_gate IS NULL OR u.gate IS NULL OR u.gate = with_gate)
    ), chosen_unfilled AS MATERIALIZED (
        SELECT u.arxiv_id, array_agg(u::candidate) AS runs FROM unfilled u WHERE u.gate IS NULL GROUP BY u.arxiv_id
    ), trial AS MATERIALIZED (
        SELECT p.arxiv_id, t.*
        FROM (SELECT DISTINCT arxiv_id FROM considered) p LEFT JOIN chosen_unfilled u USING (arxiv_id), paper_trials(account, p.arxiv_id, only_repo, u.runs) t
    ), passed AS MATERIALIZED (
        SELECT DISTINCT ON (c.gate, c.arxiv_id) c.gate, c.arxiv_id, c.reason, c.id, c.run_id, c.repo, c.repo_key, c.at
        FROM considered c WHERE c.gate IS NOT NULL ORDER BY c.gate, c.arxiv_id, c.at, c.id
    ), judged AS MATERIALIZED (
        SELECT p.gate, p.arxiv_id, count(t.arxiv_id) > 0 AS is_tried, coalesce(bool_or(t.verdict = 'worked'), false) AS worked,
               coalesce(bool_or(t.verdict = 'failed'), false) AS failed
        FROM passed p LEFT JOIN trial t ON t.arxiv_id = p.arxiv_id AND (t.at > p.at OR t.repo_key <> p.repo_key)
        GROUP BY p.gate, p.arxiv_id
    ), chosen AS (
        SELECT c.arxiv_id, coalesce(bool_or(t.verdict = 'worked'), false) AS worked, coalesce(bool_or(t.verdict = 'failed'), false) AS failed
        FROM (SELECT DISTINCT arxiv_id FROM considered WHERE gate IS NULL) c LEFT JOIN trial t USING (arxiv_id) GROUP BY c.arxiv_id
    ), gates AS (
        SELECT j.gate, (SELECT count(*) FROM considered c WHERE c.gate = j.gate) AS rejections, count(*) AS papers,
               count(*) FILTER (WHERE is_tried) AS tried, count(*) FILTER (WHERE worked) AS worked,
               count(*) FILTER (WHERE failed AND NOT worked) AS failed, count(*) FILTER (WHERE is_tried AND NOT worked AND NOT failed) AS pending
        FROM judged j GROUP BY j.gate
    ), accepted AS (
        SELECT count(*) AS papers, count(*) FILTER (WHERE worked) AS worked, count(*) FILTER (WHERE failed AND NOT worked) AS failed,
               count(*) FILTER (WHERE NOT worked AND NOT failed) AS pending FROM chosen
    ), mistake AS (
        SELECT DISTINCT ON (p.gate, p.arxiv_id) p.*, t.at AS worked_at, t.url, t.repo AS in_repo, t.experiment_id
        FROM passed p JOIN trial t ON t.arxiv_id = p.arxiv_id AND t.verdict = 'worked' AND (t.at > p.at OR t.repo_key <> p.repo_key)
        ORDER BY p.gate, p.arxiv_id, t.at
    )
    SELECT json_build_object(
        'since', since, 'until', until,
        'gates', (SELECT coalesce(json_agg(json_build_object(
                'gate', g.gate, 'rejections', g.rejections, 'papers', g.papers, 'tried_elsewhere', g.tried, 'worked', g.worked,
                'failed', g.failed, 'pending', g.pending, 'regret', share_json(g.worked, g.worked + g.failed)) ORDER BY g.rejections DESC, g.gate), '[]')
            FROM gates g),
        'accepted', (SELECT json_build_object('papers', a.papers, 'worked', a.worked, 'failed', a.failed, 'pending', a.pending,
                                              'success', share_json(a.worked, a.worked + a.failed)) FROM accepted a),
        'succeeded', (SELECT coalesce(json_agg(json_build_object(
                'arxiv_id', m.arxiv_id, 'gate', m.gate, 'reason', m.reason, 'run_id', m.run_id, 'repo', m.repo, 'rejected_at', time_json(m.at),
                'url', m.url, 'in_repo', m.in_repo, 'experiment_id', m.experiment_id, 'tried_at', time_json(m.worked_at))
                ORDER BY m.worked_at DESC, m.arxiv_id), '[]')
            FROM (SELECT * FROM mistake ORDER BY worked_at DESC, arxiv_id LIMIT 50) m),
        'note', 'Papers that were tried elsewhere are no random part of those that were passed over: this is a list of likely mistakes, not an error rate. Compare a gate with what was accepted in the same period.'));
END $$;
