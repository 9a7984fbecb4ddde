-- A run: what became of it, how it is shown, listed and found.

-- What became of a run, by its status; a run without a status is running until it is known to have finished.
CREATE OR REPLACE FUNCTION outcome_kind(status text, has_finished boolean DEFAULT false) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN status IS NULL THEN CASE WHEN has_finished THEN 'other' ELSE 'running' END
    WHEN starts_with(status, 'pr_opened') THEN 'pull_request'
    WHEN starts_with(status, 'issue_opened') THEN 'issue'
    WHEN starts_with(status, 'branch_pushed') THEN 'branch'
    WHEN starts_with(status, 'skipped_') OR starts_with(status, 'lead_captured') OR status = 'recommended' THEN 'skipped'
    WHEN starts_with(status, 'aborted_') OR starts_with(status, 'rejected_') OR status IN ('error', 'failed')
         OR right(status, 7) = '_failed' THEN 'failed'
    WHEN status IN ('queued', 'dispatched', 'running') THEN 'running'
    ELSE 'other' END;

-- What a gate decided, by the word that the agent reported: 1 it let the run pass, -1 it stopped the run, 0 unknown.
CREATE OR REPLACE FUNCTION gate_verdict(word text) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN lower(word) IN ('pass', 'passed', 'ok', 'success', 'clean', 'green', 'proceed', 'allow', 'allowed', 'compatible',
                         'true') THEN 1
    WHEN lower(word) IN ('fail', 'failed', 'failure', 'error', 'block', 'blocked', 'reject', 'rejected', 'abort', 'aborted',
                         'stop', 'red', 'incompatible', 'false') THEN -1
    ELSE 0 END;

-- The cause of a failure, equal for equal failures: the first line of the error, without numbers, hashes and paths'
-- differing parts; without an error the status.
CREATE OR REPLACE FUNCTION run_cause(status text, error text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(coalesce(
    nullif(btrim(regexp_replace(lower(split_part(btrim(error, E' \t\r\n'), E'\n', 1)),
        '\m(0x)?[0-9a-f]*[0-9][0-9a-f]*\M|[0-9]+', '#', 'g')), ''), status), 200);

-- Whether the run ended at the code host and did not report its end.
CREATE OR REPLACE FUNCTION run_is_lost(r run) RETURNS boolean LANGUAGE sql STABLE
RETURN coalesce(r.host_state = 'ended', false)
    AND outcome_kind(r.record ->> 'status', r.record ->> 'finished_at' IS NOT NULL) = 'running';

-- The error of such a run.
CREATE OR REPLACE FUNCTION run_loss(r run) RETURNS text LANGUAGE sql STABLE
RETURN coalesce(r.record ->> 'error' || '; ', '') || 'the workflow run ended without a report'
    || coalesce(' (' || r.host_outcome || ')', '');

-- The id of a run in a sentence: one that was reported may have line breaks, of which a log makes lines of their own.
CREATE OR REPLACE FUNCTION run_id_text(run_id jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(run_id #>> '{}', '[[:cntrl:]]+', ' ', 'g');

-- A cost that was told, if it is believed; null: it is not, or was not told.
CREATE OR REPLACE FUNCTION cost_believed(usd numeric) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN usd <= 10000 THEN usd END;

-- What a run adds to sums of cost; null: it did not report its cost, or one over 10,000 USD, which is kept and not believed.
CREATE OR REPLACE FUNCTION run_cost(r run) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN cost_believed(r.cost_usd);
END $$;

-- A run as lists show it, and with its large members; `cost_excluded`: sums of cost leave it out; `spend_usd`: what it cost as far
-- as it is known (budget/spend.fn.sql). The small objects are put together first, as each `||` copies both sides.
CREATE OR REPLACE FUNCTION run_json(r run, detail jsonb DEFAULT NULL) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN r.record -> 'error' = 'null' THEN r.record - 'error' ELSE r.record END || (coalesce(detail, '{}') || (
        CASE WHEN run_is_lost(r) THEN jsonb_build_object('error', run_loss(r)) ELSE '{}' END
        || CASE WHEN r.cost_usd IS DISTINCT FROM run_cost(r) THEN '{"cost_excluded": true}' ELSE '{}' END::jsonb
        || jsonb_strip_nulls(jsonb_build_object('spend_usd', r.spend_usd, 'spend_basis', r.spend_basis, 'price_date', r.price_date))
        || jsonb_build_object('run_id', r.run_id, 'repo', r.repo, 'status', r.status, 'outcome_kind', r.outcome_kind,
                              'created_at', time_json(r.first_at), 'updated_at', time_json(r.changed_at))))
$$;

-- The gates of a run that it reported, and what each decided: `passed`, `stopped` or `unknown`.
CREATE OR REPLACE FUNCTION run_gates(record jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object(
        'name', g.name, 'status', CASE gate_verdict(record ->> g.name) WHEN 1 THEN 'passed' WHEN -1 THEN 'stopped'
                                  ELSE 'unknown' END, 'detail', record ->> g.name) ORDER BY g.place), '[]')
    FROM (VALUES (1, 'preflight_decision'), (2, 'license_compat'), (3, 'diff_risk_band'), (4, 'lint_status'),
                 (5, 'test_status'), (6, 'test_integration_gate')) AS g (place, name)
    WHERE record ->> g.name IS NOT NULL
$$;

-- Changes whenever something changes that a text may speak of: the run's record, or the stage of what it opened.
CREATE OR REPLACE FUNCTION run_version(r run, stage text) RETURNS text LANGUAGE sql STABLE
RETURN extract(epoch FROM r.changed_at)::text || ' ' || coalesce(stage, '');

-- How many runs of a row of sums have that outcome; null: all.
CREATE OR REPLACE FUNCTION outcome_count(outcome text, runs int, pull_requests int, issues int, branches int, skipped int, failed int,
                              running int, other int) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE outcome
    WHEN 'pull_request' THEN pull_requests WHEN 'issue' THEN issues WHEN 'branch' THEN branches
    WHEN 'skipped' THEN skipped WHEN 'failed' THEN failed WHEN 'running' THEN running WHEN 'other' THEN other
    ELSE runs END;

-- The days of a period of some repositories, null: of all that the account has runs on.
CREATE OR REPLACE FUNCTION run_days(account uuid, since date, until date, repos text[]) RETURNS SETOF run_day LANGUAGE sql STABLE AS $$
    SELECT d.* FROM run_repo s JOIN run_day d ON d.account_id = s.account_id AND d.repo_key = s.repo_key
    WHERE s.account_id = account AND (repos IS NULL OR s.repo_key = ANY (repos)) AND d.day BETWEEN since AND until
$$;

-- The runs that opened pull requests which were merged from one time on and before another.
CREATE OR REPLACE FUNCTION runs_of_merged(account uuid, repos text[], from_time timestamptz, to_time timestamptz) RETURNS uuid[]
LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN ARRAY(
    SELECT k.id FROM deliverable d
    JOIN run_key k ON k.account_id = account AND k.repo_key = d.repo_key AND k.run_key = d.run_id #>> '{}'
    WHERE d.account_id = account AND d.stage = 'merged' AND d.kind = 'pull_request' AND d.closed_at >= from_time
      AND d.closed_at < to_time AND (repos IS NULL OR d.repo_key = ANY (repos)));
END $$;

-- The runs with this id, and of them those whose pull request was merged in these days; null: all. A null filter admits everything.
CREATE OR REPLACE FUNCTION runs_chosen(account uuid, repos text[], with_run text, merged_since date, merged_until date) RETURNS uuid[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
    named uuid[] := CASE WHEN with_run IS NOT NULL THEN ARRAY(
        SELECT k.id FROM run_key k
        WHERE k.account_id = account AND k.run_key = with_run AND (repos IS NULL OR k.repo_key = ANY (repos))) END;
    merged uuid[];
BEGIN
    IF coalesce(merged_since, merged_until) IS NULL THEN
        RETURN named;
    END IF;
    merged := runs_of_merged(account, repos, coalesce(merged_since::timestamp AT TIME ZONE 'UTC', '-infinity'),
                             coalesce((merged_until + 1)::timestamp AT TIME ZONE 'UTC', 'infinity'));
    RETURN CASE WHEN named IS NULL THEN merged ELSE ARRAY(SELECT unnest(named) INTERSECT SELECT unnest(merged)) END;
END $$;

-- The repositories that a parameter names, as they are called now, in lower case: a JSON array of texts, each of which may name several with commas.
-- Null: it is not given.
CREATE OR REPLACE FUNCTION repos_named(given jsonb) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN given IS NOT NULL THEN ARRAY(
        SELECT DISTINCT repository_key(btrim(name)) FROM jsonb_array_elements_text(given) AS t (names),
                                                string_to_table(t.names, ',') AS name) END
$$;

-- The smallest members of a record, up to 32 KiB of them; `members_omitted`: it has others.
CREATE OR REPLACE FUNCTION record_shortened(record jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF octet_length(record::text) <= 32768 THEN
        RETURN record;
    END IF;
    RETURN (
        SELECT jsonb_build_object('members_omitted', true) || coalesce(jsonb_object_agg(m.name, m.value), '{}')
        FROM (SELECT x.name, x.value, sum(x.bytes) OVER (ORDER BY x.bytes, x.name) AS total
              FROM (SELECT name, value, octet_length(name) + octet_length(value::text) AS bytes FROM jsonb_each(record) AS e (name, value)) x) m
        WHERE m.total <= 32768);
END $$;

-- Runs as a list shows them, which has `room` bytes, and of one run more. Of the runs beyond that it has neither the large members nor more of
-- the others than record_shortened(), and says so: whatever runs hold, a list of a hundred can be answered.
CREATE OR REPLACE FUNCTION runs_within(runs run[], has_detail boolean, room bigint) RETURNS json LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    listed text[] := '{}';
    entry text;
    r run;
    detail jsonb;
BEGIN
    FOREACH r IN ARRAY runs LOOP
        IF room <= 0 THEN
            r.record := record_shortened(r.record);
            detail := CASE WHEN has_detail THEN '{"selection_omitted": true}' END;
        ELSIF has_detail THEN
            SELECT d.detail INTO detail FROM run_detail d WHERE d.id = r.id AND d.first_at = r.first_at;
        END IF;
        entry := run_json(r, detail)::text;
        room := room - octet_length(entry);
        listed := listed || entry;
    END LOOP;
    RETURN '[' || array_to_string(listed, ',') || ']';
END $$;

-- The same with the room that the answer to a request has.
CREATE OR REPLACE FUNCTION runs_listed(runs run[], has_detail boolean) RETURNS json LANGUAGE sql STABLE AS $$
    SELECT runs_within(runs, has_detail, 16777216)
$$;

-- A page of an account's runs, newest first, and how many there are. A null filter admits everything.
--
--   in_repo, in_repos  in lower case; a run must be in both
--   since, until  days in UTC, both included
--   merged_since, merged_until  likewise: runs that opened a pull request which was merged then
-- Planned anew for each call, so that the given filters choose the index. What the sums know is not counted again.
CREATE OR REPLACE FUNCTION run_page(account uuid, in_repo text, in_repos text[], with_run text, with_outcome text, by_agent text,
                         of_interest text, of_paper text, since date, until date, merged_since date, merged_until date,
                         has_detail boolean, page_limit bigint, page_offset bigint,
                         OUT total bigint, OUT page json)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_custom_plan SET enable_seqscan = off AS $$
DECLARE
    from_time timestamptz := since::timestamp AT TIME ZONE 'UTC';
    to_time timestamptz := (until + 1)::timestamp AT TIME ZONE 'UTC';
    repos text[] := CASE WHEN in_repo IS NULL THEN in_repos
                         WHEN in_repos IS NULL OR in_repo = ANY (in_repos) THEN ARRAY[in_repo] ELSE '{}' END; -- null: all
    one_repo text := CASE WHEN cardinality(repos) = 1 THEN repos[1] END; -- which an index starts with
    chosen uuid[] := runs_chosen(account, repos, with_run, merged_since, merged_until);
    shown run[];
BEGIN
    IF coalesce(by_agent, of_interest, of_paper, with_outcome, since::text, until::text) IS NULL AND chosen IS NOT NULL THEN
        total := cardinality(chosen);
    ELSIF coalesce(of_interest, of_paper, since::text, until::text) IS NULL AND chosen IS NULL THEN
        IF by_agent IS NULL THEN
            SELECT coalesce(sum(outcome_count(with_outcome, s.runs, s.pull_requests, s.issues, s.branches, s.skipped, s.failed,
                                              s.running, s.other)), 0) INTO total FROM run_repo s
            WHERE s.account_id = account AND (repos IS NULL OR s.repo_key = ANY (repos));
        ELSE
            SELECT coalesce(sum(s.runs), 0) INTO total FROM run_agent s
            WHERE s.account_id = account AND s.agent = by_agent AND (repos IS NULL OR s.repo_key = ANY (repos))
              AND (with_outcome IS NULL OR s.outcome_kind = with_outcome);
        END IF;
    ELSIF coalesce(by_agent, of_interest, of_paper) IS NULL AND chosen IS NULL THEN
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
          AND (chosen IS NULL OR r.id = ANY (chosen));
    END IF;
    shown := ARRAY(
        SELECT r FROM run r
        WHERE r.account_id = account AND (one_repo IS NULL OR r.repo_key = one_repo)
          AND (repos IS NULL OR one_repo IS NOT NULL OR r.repo_key = ANY (repos))
          AND (with_outcome IS NULL OR r.outcome_kind = with_outcome)
          AND (by_agent IS NULL OR r.agent = by_agent) AND (of_interest IS NULL OR r.interest_id = of_interest)
          AND (of_paper IS NULL OR r.arxiv_id = of_paper)
          AND (since IS NULL OR r.at >= from_time) AND (until IS NULL OR r.at < to_time)
          AND (chosen IS NULL OR r.id = ANY (chosen))
        ORDER BY r.at DESC, r.id DESC LIMIT page_limit OFFSET page_offset);
    page := runs_listed(shown, has_detail);
END $$;

-- The newest run with that id (in that repository, unless null) or that link; no row: there is none.
CREATE OR REPLACE FUNCTION run_find(account uuid, repo text, run_id jsonb, url text) RETURNS SETOF run LANGUAGE plpgsql STABLE AS $$
DECLARE
    key text := run_find.run_id #>> '{}';
BEGIN
    IF key IS NOT NULL THEN
        RETURN QUERY SELECT r.* FROM run_key k JOIN run r ON r.id = k.id AND r.first_at = k.first_at
            WHERE k.account_id = account AND k.run_key = key AND (run_find.repo IS NULL OR k.repo_key = lower(run_find.repo))
            ORDER BY r.at DESC, r.id DESC LIMIT 1;
    ELSE
        RETURN QUERY SELECT r.* FROM run r
            WHERE r.account_id = account AND r.artifact_url = url AND (run_find.repo IS NULL OR r.repo_key = lower(run_find.repo))
            ORDER BY r.at DESC, r.id DESC LIMIT 1;
    END IF;
END $$;
