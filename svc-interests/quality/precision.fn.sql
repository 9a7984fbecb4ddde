-- Whether recommendations were right: by what became of the papers, and by what people said.

-- What became of a recommended paper within 90 days, `worked` or `failed`; null: that is not known. What a person decided of an experiment
-- that names it counts before what the code host says of pull requests that runs opened for the interest, and that before what experiments
-- say of theirs. A merge tells after 30 days of its own; what has no time, of before it was kept, may have come later.
CREATE OR REPLACE FUNCTION recommendation_verdict(r recommendation) RETURNS text LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    last_day timestamptz := r.recommended_at + interval '90 days';
    has_worked boolean;
BEGIN
    SELECT bool_or(v.verdict = 'worked') INTO has_worked
    FROM experiment_paper p JOIN experiment e ON e.id = p.experiment_id, trial_verdict(e.outcome, e.status, NULL, NULL) AS v (verdict)
    WHERE p.account_id = r.account_id AND p.arxiv_id = r.arxiv_id AND NOT e.is_deleted AND v.verdict IN ('worked', 'failed')
      AND coalesce(e.decided_at, e.told_at) <= last_day;
    IF has_worked IS NULL THEN
        SELECT bool_or(v.verdict = 'worked') INTO has_worked
        FROM (SELECT o.* FROM run_outcome o WHERE o.recommendation_id = r.id AND coalesce(o.interest_id, r.interest_id) = r.interest_id
              UNION SELECT o.* FROM run_outcome o WHERE o.interest_id = r.interest_id AND o.arxiv_id = r.arxiv_id) o,
             trial_verdict(NULL, NULL, o.stage, CASE WHEN o.stage = 'merged' THEN o.stage_at END) AS v (verdict)
        WHERE o.account_id = r.account_id AND o.url LIKE '%/pull/%' AND v.verdict IN ('worked', 'failed')
          AND o.stage_at <= last_day - CASE WHEN o.stage = 'merged' THEN interval '30 days' ELSE interval '0' END;
    END IF;
    IF has_worked IS NULL THEN
        SELECT bool_or(v.verdict = 'worked') INTO has_worked
        FROM experiment_paper p JOIN experiment e ON e.id = p.experiment_id, coalesce(e.pr_status_at, e.told_at) AS since,
             trial_verdict(NULL, NULL, e.pr_status, CASE WHEN e.pr_status = 'merged' THEN since END) AS v (verdict)
        WHERE p.account_id = r.account_id AND p.arxiv_id = r.arxiv_id AND NOT e.is_deleted AND v.verdict IN ('worked', 'failed')
          AND since <= last_day - CASE WHEN e.pr_status = 'merged' THEN interval '30 days' ELSE interval '0' END;
    END IF;
    RETURN CASE has_worked WHEN true THEN 'worked' WHEN false THEN 'failed' END;
END $$;

-- Figures of some recommendations. `at_least`: as if all without a verdict had failed.
CREATE OR REPLACE FUNCTION precision_json(shown bigint, worked bigint, failed bigint, liked bigint, dismissed bigint) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb_build_object(
    'shown', shown, 'judged', worked + failed, 'worked', worked, 'failed', failed, 'liked', liked, 'dismissed', dismissed,
    'precision', jsonb_build_object('outcome', share_json(worked, worked + failed), 'at_least', share_json(worked, shown),
                                    'feedback', share_json(liked, liked + dismissed)));

-- The figures of the `k` best of each day (UTC) and interest: of each interest, of all, and by bands of the score, which show whether it
-- means what it says.
CREATE OR REPLACE FUNCTION recommendation_precision(account uuid, since date, until date, of_interest uuid, k int) RETURNS jsonb
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan AS $$
BEGIN RETURN (
    WITH placed AS (
        SELECT r, row_number() OVER (PARTITION BY r.interest_id, (r.recommended_at AT TIME ZONE 'UTC')::date
                                     ORDER BY r.relevance_score DESC, r.rank, r.id) AS place
        FROM recommendation r
        WHERE r.account_id = account AND r.recommended_at >= since::timestamp AT TIME ZONE 'UTC'
          AND r.recommended_at < (until + 1)::timestamp AT TIME ZONE 'UTC' AND (of_interest IS NULL OR r.interest_id = of_interest)
    ), shown AS MATERIALIZED (
        SELECT (p.r).interest_id AS interest,
               CASE WHEN (p.r).relevance_score >= 0.8 THEN 0.8 WHEN (p.r).relevance_score >= 0.6 THEN 0.6 WHEN (p.r).relevance_score >= 0.4 THEN 0.4
                    ELSE 0 END AS band,
               recommendation_verdict(p.r) AS verdict,
               EXISTS (SELECT FROM feedback f WHERE f.recommendation_id = (p.r).id AND f.signal IN ('like', 'save', 'implemented')) AS is_liked,
               EXISTS (SELECT FROM feedback f WHERE f.recommendation_id = (p.r).id AND f.signal IN ('dislike', 'dismiss')) AS is_dismissed
        FROM placed p WHERE p.place <= k
    ), counted AS MATERIALIZED (
        SELECT s.interest, s.band, grouping(s.interest) = 1 AS is_of_all, grouping(s.band) = 1 AS is_of_every_band,
               precision_json(count(*), count(*) FILTER (WHERE s.verdict = 'worked'), count(*) FILTER (WHERE s.verdict = 'failed'),
                              count(*) FILTER (WHERE s.is_liked), count(*) FILTER (WHERE s.is_dismissed)) AS figures
        FROM shown s GROUP BY GROUPING SETS ((s.interest, s.band), (s.interest), (s.band), ())
    ), whole AS (
        SELECT c.interest, c.is_of_all, c.figures || jsonb_build_object('bands', (
            SELECT coalesce(jsonb_agg(jsonb_build_object('from', b.band) || b.figures ORDER BY b.band DESC), '[]')
            FROM counted b WHERE NOT b.is_of_every_band AND b.is_of_all = c.is_of_all AND b.interest IS NOT DISTINCT FROM c.interest)) AS figures
        FROM counted c WHERE c.is_of_every_band
    )
    SELECT jsonb_build_object(
        'since', since, 'until', until, 'k', k,
        'total', (SELECT w.figures FROM whole w WHERE w.is_of_all),
        'interests', (SELECT coalesce(jsonb_agg(jsonb_build_object('interest_id', i.id, 'interest_name', i.name) || w.figures ORDER BY i.name, i.id), '[]')
                      FROM whole w JOIN interest i ON i.id = w.interest WHERE NOT w.is_of_all)));
END $$;
