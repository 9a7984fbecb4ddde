-- Listing runs.

-- How many runs of a row of sums have that outcome; null: all.
CREATE FUNCTION outcome_count(outcome text, runs int, pull_requests int, issues int, branches int, skipped int, failed int,
                              running int, other int) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE outcome
    WHEN 'pull_request' THEN pull_requests WHEN 'issue' THEN issues WHEN 'branch' THEN branches
    WHEN 'skipped' THEN skipped WHEN 'failed' THEN failed WHEN 'running' THEN running WHEN 'other' THEN other
    ELSE runs END;

-- The runs that opened pull requests which were merged from one time on and before another. The tables of deliverables come
-- with a later migration.
CREATE FUNCTION runs_of_merged(account uuid, in_repo text, from_time timestamptz, to_time timestamptz) RETURNS uuid[]
LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN ARRAY(
    SELECT k.id FROM deliverable d
    JOIN run_key k ON k.account_id = account AND k.repo_key = d.repo_key AND k.run_key = d.run_id #>> '{}'
    WHERE d.account_id = account AND d.stage = 'merged' AND d.kind = 'pull_request' AND d.closed_at >= from_time
      AND d.closed_at < to_time AND (in_repo IS NULL OR d.repo_key = in_repo));
END $$;

-- A page of an account's runs, newest first, and how many there are. A null filter admits everything.
--
--   in_repo    in lower case
--   since, until  days in UTC, both included
--   merged_since, merged_until  likewise: runs that opened a pull request which was merged then
-- Planned anew for each call, so that the given filters choose the index. What the sums can tell is not counted again.
CREATE FUNCTION run_page(account uuid, in_repo text, with_outcome text, by_agent text, of_interest text, of_paper text,
                         since date, until date, merged_since date, merged_until date, has_detail boolean, page_limit bigint,
                         page_offset bigint,
                         OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
DECLARE
    from_time timestamptz := since::timestamp AT TIME ZONE 'UTC';
    to_time timestamptz := (until + 1)::timestamp AT TIME ZONE 'UTC';
    of_merged uuid[]; -- null: all
BEGIN
    IF coalesce(merged_since, merged_until) IS NOT NULL THEN
        of_merged := runs_of_merged(account, in_repo, coalesce(merged_since::timestamp AT TIME ZONE 'UTC', '-infinity'),
                                    coalesce((merged_until + 1)::timestamp AT TIME ZONE 'UTC', 'infinity'));
    END IF;
    IF coalesce(by_agent, of_interest, of_paper, with_outcome, since::text, until::text) IS NULL AND of_merged IS NOT NULL THEN
        total := cardinality(of_merged);
    ELSIF coalesce(by_agent, of_interest, of_paper, since::text, until::text) IS NULL AND of_merged IS NULL THEN
        SELECT coalesce(sum(outcome_count(with_outcome, s.runs, s.pull_requests, s.issues, s.branches, s.skipped, s.failed,
                                          s.running, s.other)), 0) INTO total FROM run_repo s
        WHERE s.account_id = account AND (in_repo IS NULL OR s.repo_key = in_repo);
    ELSIF coalesce(by_agent, of_interest, of_paper) IS NULL AND of_merged IS NULL THEN
        SELECT coalesce(sum(outcome_count(with_outcome, d.runs, d.pull_requests, d.issues, d.branches, d.skipped, d.failed,
                                          d.running, d.other)), 0) INTO total FROM run_day d
        WHERE d.account_id = account AND (in_repo IS NULL OR d.repo_key = in_repo)
          AND (since IS NULL OR d.day >= since) AND (until IS NULL OR d.day <= until);
    ELSE
        SELECT count(*) INTO total FROM run r
        WHERE r.account_id = account AND (in_repo IS NULL OR r.repo_key = in_repo)
          AND (with_outcome IS NULL OR r.outcome_kind = with_outcome)
          AND (by_agent IS NULL OR r.agent = by_agent) AND (of_interest IS NULL OR r.interest_id = of_interest)
          AND (of_paper IS NULL OR r.arxiv_id = of_paper)
          AND (since IS NULL OR r.at >= from_time) AND (until IS NULL OR r.at < to_time)
          AND (of_merged IS NULL OR r.id = ANY (of_merged));
    END IF;
    SELECT coalesce(json_agg(run_json(shown.r, d.detail) ORDER BY (shown.r).at DESC, (shown.r).id DESC), '[]') INTO page
    FROM (SELECT r FROM run r
          WHERE r.account_id = account AND (in_repo IS NULL OR r.repo_key = in_repo)
            AND (with_outcome IS NULL OR r.outcome_kind = with_outcome)
            AND (by_agent IS NULL OR r.agent = by_agent) AND (of_interest IS NULL OR r.interest_id = of_interest)
            AND (of_paper IS NULL OR r.arxiv_id = of_paper)
            AND (since IS NULL OR r.at >= from_time) AND (until IS NULL OR r.at < to_time)
            AND (of_merged IS NULL OR r.id = ANY (of_merged))
          ORDER BY r.at DESC, r.id DESC LIMIT page_limit OFFSET page_offset) AS shown (r)
    LEFT JOIN run_detail d ON has_detail AND d.id = (shown.r).id AND d.first_at = (shown.r).first_at;
END $$;
