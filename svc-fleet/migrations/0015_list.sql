-- Listing runs of several repositories, and counting those of an agent from the sums that are kept.

DROP FUNCTION run_page, runs_of_merged;

-- The repositories that a parameter names, in lower case: a JSON array of texts, each of which may name several with commas.
-- Null: it is not given.
CREATE FUNCTION repos_named(given jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN given IS NOT NULL THEN ARRAY(
        SELECT DISTINCT lower(btrim(name)) FROM jsonb_array_elements_text(given) AS t (names),
                                                string_to_table(t.names, ',') AS name) END
$$;

-- The runs that opened pull requests which were merged from one time on and before another.
CREATE FUNCTION runs_of_merged(account uuid, repos text[], from_time timestamptz, to_time timestamptz) RETURNS uuid[]
LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN ARRAY(
    SELECT k.id FROM deliverable d
    JOIN run_key k ON k.account_id = account AND k.repo_key = d.repo_key AND k.run_key = d.run_id #>> '{}'
    WHERE d.account_id = account AND d.stage = 'merged' AND d.kind = 'pull_request' AND d.closed_at >= from_time
      AND d.closed_at < to_time AND (repos IS NULL OR d.repo_key = ANY (repos)));
END $$;

-- A page of an account's runs, newest first, and how many there are. A null filter admits everything.
--
--   in_repo, in_repos  in lower case; a run must be in both
--   since, until  days in UTC, both included
--   merged_since, merged_until  likewise: runs that opened a pull request which was merged then
-- Planned anew for each call, so that the given filters choose the index. What the sums can tell is not counted again.
CREATE FUNCTION run_page(account uuid, in_repo text, in_repos text[], with_outcome text, by_agent text, of_interest text,
                         of_paper text, since date, until date, merged_since date, merged_until date, has_detail boolean, page_limit bigint,
                         page_offset bigint,
                         OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
DECLARE
    from_time timestamptz := since::timestamp AT TIME ZONE 'UTC';
    to_time timestamptz := (until + 1)::timestamp AT TIME ZONE 'UTC';
    of_merged uuid[]; -- null: all
    repos text[] := CASE WHEN in_repo IS NULL THEN in_repos
                         WHEN in_repos IS NULL OR in_repo = ANY (in_repos) THEN ARRAY[in_repo] ELSE '{}' END; -- null: all
    one_repo text := CASE WHEN cardinality(repos) = 1 THEN repos[1] END; -- which an index starts with
BEGIN
    IF coalesce(merged_since, merged_until) IS NOT NULL THEN
        of_merged := runs_of_merged(account, repos, coalesce(merged_since::timestamp AT TIME ZONE 'UTC', '-infinity'),
                                    coalesce((merged_until + 1)::timestamp AT TIME ZONE 'UTC', 'infinity'));
    END IF;
    IF coalesce(by_agent, of_interest, of_paper, with_outcome, since::text, until::text) IS NULL AND of_merged IS NOT NULL THEN
        total := cardinality(of_merged);
    ELSIF coalesce(of_interest, of_paper, since::text, until::text) IS NULL AND of_merged IS NULL THEN
        IF by_agent IS NULL THEN
            SELECT coalesce(sum(outcome_count(with_outcome, s.runs, s.pull_requests, s.issues, s.branches, s.skipped, s.failed,
                                              s.running, s.other)), 0) INTO total FROM run_repo s
            WHERE s.account_id = account AND (repos IS NULL OR s.repo_key = ANY (repos));
        ELSE
            SELECT coalesce(sum(s.runs), 0) INTO total FROM run_agent s
            WHERE s.account_id = account AND s.agent = by_agent AND (repos IS NULL OR s.repo_key = ANY (repos))
              AND (with_outcome IS NULL OR s.outcome_kind = with_outcome);
        END IF;
    ELSIF coalesce(by_agent, of_interest, of_paper) IS NULL AND of_merged IS NULL THEN
        SELECT coalesce(sum(outcome_count(with_outcome, d.runs, d.pull_requests, d.issues, d.branches, d.skipped, d.failed,
                                          d.running, d.other)), 0) INTO total
        FROM run_days(account, coalesce(since, '-infinity'), coalesce(until, 'infinity'), repos) d;
    ELSE
        SELECT count(*) INTO total FROM run r
        WHERE r.account_id = account AND (one_repo IS NULL OR r.repo_key = one_repo)
          AND (repos IS NULL OR one_repo IS NOT NULL OR r.repo_key = ANY (repos))
          AND (with_outcome IS NULL OR r.outcome_kind = with_outcome)
          AND (by_agent IS NULL OR r.agent = by_agent) AND (of_interest IS NULL OR r.interest_id = of_interest)
          AND (of_paper IS NULL OR r.arxiv_id = of_paper)
          AND (since IS NULL OR r.at >= from_time) AND (until IS NULL OR r.at < to_time)
          AND (of_merged IS NULL OR r.id = ANY (of_merged));
    END IF;
    SELECT coalesce(json_agg(run_json(shown.r, d.detail) ORDER BY (shown.r).at DESC, (shown.r).id DESC), '[]') INTO page
    FROM (SELECT r FROM run r
          WHERE r.account_id = account AND (one_repo IS NULL OR r.repo_key = one_repo)
            AND (repos IS NULL OR one_repo IS NOT NULL OR r.repo_key = ANY (repos))
            AND (with_outcome IS NULL OR r.outcome_kind = with_outcome)
            AND (by_agent IS NULL OR r.agent = by_agent) AND (of_interest IS NULL OR r.interest_id = of_interest)
            AND (of_paper IS NULL OR r.arxiv_id = of_paper)
            AND (since IS NULL OR r.at >= from_time) AND (until IS NULL OR r.at < to_time)
            AND (of_merged IS NULL OR r.id = ANY (of_merged))
          ORDER BY r.at DESC, r.id DESC LIMIT page_limit OFFSET page_offset) AS shown (r)
    LEFT JOIN run_detail d ON has_detail AND d.id = (shown.r).id AND d.first_at = (shown.r).first_at;
END $$;
