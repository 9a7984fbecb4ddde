-- Listing runs.

-- How many runs of a day's row have that outcome; null: all.
CREATE FUNCTION run_day_outcomes(d run_day, outcome text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE outcome
    WHEN 'pull_request' THEN d.pull_requests WHEN 'issue' THEN d.issues WHEN 'branch' THEN d.branches
    WHEN 'skipped' THEN d.skipped WHEN 'failed' THEN d.failed WHEN 'running' THEN d.running WHEN 'other' THEN d.other
    ELSE d.runs END;

-- A page of an account's runs, newest first, and how many there are. A null filter admits everything.
--
--   in_repo    in lower case
--   since, until  days in UTC, both included
-- Planned anew for each call, so that the given filters choose the index. What the rows of run_day can tell is not
-- counted again.
CREATE FUNCTION run_page(account uuid, in_repo text, with_outcome text, with_status text, by_agent text, of_interest text,
                         of_paper text, since date, until date, has_detail boolean, page_limit bigint, page_offset bigint,
                         OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
DECLARE
    from_time timestamptz := since::timestamp AT TIME ZONE 'UTC';
    to_time timestamptz := (until + 1)::timestamp AT TIME ZONE 'UTC';
BEGIN
    IF with_status IS NULL AND by_agent IS NULL AND of_interest IS NULL AND of_paper IS NULL THEN
        SELECT coalesce(sum(run_day_outcomes(d, with_outcome)), 0) INTO total FROM run_day d
        WHERE d.account_id = account AND (in_repo IS NULL OR d.repo_key = in_repo)
          AND (since IS NULL OR d.day >= since) AND (until IS NULL OR d.day <= until);
    ELSE
        SELECT count(*) INTO total FROM run r
        WHERE r.account_id = account AND (in_repo IS NULL OR r.repo_key = in_repo)
          AND (with_outcome IS NULL OR r.outcome_kind = with_outcome) AND (with_status IS NULL OR r.status = with_status)
          AND (by_agent IS NULL OR r.agent = by_agent) AND (of_interest IS NULL OR r.interest_id = of_interest)
          AND (of_paper IS NULL OR r.arxiv_id = of_paper)
          AND (since IS NULL OR r.at >= from_time) AND (until IS NULL OR r.at < to_time);
    END IF;
    SELECT coalesce(json_agg(run_json(shown.r, d.detail) ORDER BY (shown.r).at DESC, (shown.r).id DESC), '[]') INTO page
    FROM (SELECT r FROM run r
          WHERE r.account_id = account AND (in_repo IS NULL OR r.repo_key = in_repo)
            AND (with_outcome IS NULL OR r.outcome_kind = with_outcome) AND (with_status IS NULL OR r.status = with_status)
            AND (by_agent IS NULL OR r.agent = by_agent) AND (of_interest IS NULL OR r.interest_id = of_interest)
            AND (of_paper IS NULL OR r.arxiv_id = of_paper)
            AND (since IS NULL OR r.at >= from_time) AND (until IS NULL OR r.at < to_time)
          ORDER BY r.at DESC, r.id DESC LIMIT page_limit OFFSET page_offset) AS shown (r)
    LEFT JOIN run_detail d ON has_detail AND d.id = (shown.r).id AND d.first_at = (shown.r).first_at;
END $$;
