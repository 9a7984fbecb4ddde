-- Taking what is told of many runs at once.
--
-- runs_tell() is the only writer of `run` and `run_detail`, and of the sums and deliverables that follow from them: in sets, in
-- the same transaction, without triggers. A statement takes the reports that arrived while the one before it ran, so that they
-- share what it costs to start its plans, to lock the sums and to commit.
--
-- Transactions lock rows in one order, so that none waits for another in a circle: account_guard, which they share; repo_guard,
-- which a report locks only when it makes an owner; run_key; run; run_repo; run_agent; run_day; code_host_item; deliverable. Of
-- each table in the order of its key.

DROP TRIGGER run_count_repo ON run;
DROP TRIGGER run_count ON run;
DROP TRIGGER run_deliver ON run;
DROP TRIGGER deliverable_made ON deliverable;
DROP TRIGGER deliverable_changed ON deliverable;
DROP FUNCTION run_count_repo, run_count, run_deliver, run_day_add, run_report, run_detail_report, run_hosted, deliverable_leave,
    deliverable_open, deliverable_told, deliverable_tell, workflow_run_tell, workflow_run_tell_json;

-- How many runs of a repository an agent had, by outcome. Kept as run_repo is.
CREATE TABLE run_agent (
    account_id   uuid NOT NULL,
    agent        text NOT NULL,
    repo_key     text NOT NULL,
    outcome_kind text NOT NULL,
    runs         integer NOT NULL,
    PRIMARY KEY (account_id, agent, repo_key, outcome_kind)
);

INSERT INTO run_agent SELECT account_id, agent, repo_key, outcome_kind, count(*) FROM run WHERE agent IS NOT NULL GROUP BY 1, 2, 3, 4;

-- A run before and after a change; `was` is null when it is new.
CREATE TYPE run_change AS (was run, became run);

-- What the changes add to counts, and with `sign` -1 take away.
CREATE FUNCTION run_change_parts(changes run_change[])
RETURNS TABLE (sign int, account_id uuid, repo_key text, repo text, agent text, outcome_kind text) LANGUAGE sql IMMUTABLE AS $$
    SELECT 1, (c.became).account_id, (c.became).repo_key, (c.became).repo, (c.became).agent, (c.became).outcome_kind
    FROM unnest(changes) c
    UNION ALL
    SELECT -1, (c.was).account_id, (c.was).repo_key, (c.was).repo, (c.was).agent, (c.was).outcome_kind
    FROM unnest(changes) c WHERE (c.was).id IS NOT NULL
$$;

-- Add the changes to the sums of the repositories, and see which runs are the last.
CREATE FUNCTION run_repo_add(changes run_change[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    c run_change;
BEGIN
    INSERT INTO run_repo AS s
    SELECT p.account_id, p.repo_key, min(p.repo), sum(p.sign),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'pull_request'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'issue'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'branch'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'skipped'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'failed'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'running'), 0),
           coalesce(sum(p.sign) FILTER (WHERE p.outcome_kind = 'other'), 0),
           last.at, last.id, last.first_at, last.outcome_kind, last.status
    FROM run_change_parts(changes) p
    JOIN (SELECT DISTINCT ON ((x.became).account_id, (x.became).repo_key) (x.became).account_id, (x.became).repo_key,
                 (x.became).at, (x.became).id, (x.became).first_at, (x.became).outcome_kind, (x.became).status
          FROM unnest(changes) x
          ORDER BY (x.became).account_id, (x.became).repo_key, (x.became).at DESC, (x.became).id DESC) last
        ON last.account_id = p.account_id AND last.repo_key = p.repo_key
    GROUP BY p.account_id, p.repo_key, last.at, last.id, last.first_at, last.outcome_kind, last.status
    ORDER BY p.account_id, p.repo_key
    ON CONFLICT (account_id, repo_key) DO UPDATE SET
        runs = s.runs + excluded.runs, pull_requests = s.pull_requests + excluded.pull_requests,
        issues = s.issues + excluded.issues, branches = s.branches + excluded.branches,
        skipped = s.skipped + excluded.skipped, failed = s.failed + excluded.failed,
        running = s.running + excluded.running, other = s.other + excluded.other,
        (last_at, last_id, last_first_at, last_outcome, last_status) = (
            SELECT n.* FROM (VALUES
                (excluded.last_at, excluded.last_id, excluded.last_first_at, excluded.last_outcome, excluded.last_status),
                (s.last_at, s.last_id, s.last_first_at, s.last_outcome, s.last_status)) AS n (at, id, first_at, outcome, status)
            ORDER BY n.at DESC, n.id DESC LIMIT 1);
    FOREACH c IN ARRAY changes LOOP
        CONTINUE WHEN (c.became).at >= (c.was).at IS NOT FALSE;
        -- It started earlier than was thought: another one is perhaps the last.
        UPDATE run_repo s SET (last_at, last_id, last_first_at, last_outcome, last_status) = (
            SELECT r.at, r.id, r.first_at, r.outcome_kind, r.status FROM run r
            WHERE r.account_id = s.account_id AND r.repo_key = s.repo_key ORDER BY r.at DESC, r.id DESC LIMIT 1)
        WHERE s.account_id = (c.became).account_id AND s.repo_key = (c.became).repo_key AND s.last_id = (c.became).id;
    END LOOP;
END $$;

CREATE FUNCTION run_agent_add(changes run_change[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    INSERT INTO run_agent AS s
    SELECT p.account_id, p.agent, p.repo_key, p.outcome_kind, sum(p.sign) FROM run_change_parts(changes) p
    WHERE p.agent IS NOT NULL GROUP BY 1, 2, 3, 4 HAVING sum(p.sign) <> 0 ORDER BY 1, 2, 3, 4
    ON CONFLICT (account_id, agent, repo_key, outcome_kind) DO UPDATE SET runs = s.runs + excluded.runs;
END $$;

-- Add the changes to the sums of the days.
CREATE FUNCTION run_day_add(changes run_change[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    c run_change;
    added run_day;
    parts run_day[] := '{}';
BEGIN
    FOREACH c IN ARRAY changes LOOP
        added := run_day_of(c.became, 1);
        CONTINUE WHEN (c.was).id IS NOT NULL AND added = run_day_of(c.was, 1);
        parts := parts || added;
        IF (c.was).id IS NOT NULL THEN
            parts := parts || run_day_of(c.was, -1);
        END IF;
    END LOOP;
    INSERT INTO run_day AS d
    SELECT p.account_id, p.day, p.repo_key, sum(p.runs), sum(p.pull_requests), sum(p.issues), sum(p.branches), sum(p.skipped),
           sum(p.failed), sum(p.running), sum(p.other), sum(p.cost_usd), sum(p.cost_runs), sum(p.input_tokens),
           sum(p.output_tokens), sum(p.token_runs), sum(p.preflight_passed), sum(p.preflight_stopped), sum(p.lint_passed),
           sum(p.lint_stopped), sum(p.test_passed), sum(p.test_stopped), sum(p.integration_passed), sum(p.integration_stopped),
           sum(p.license_passed), sum(p.license_stopped)
    FROM unnest(parts) AS p GROUP BY p.account_id, p.repo_key, p.day ORDER BY p.account_id, p.repo_key, p.day
    ON CONFLICT (account_id, repo_key, day) DO UPDATE SET
        runs = d.runs + excluded.runs, pull_requests = d.pull_requests + excluded.pull_requests,
        issues = d.issues + excluded.issues, branches = d.branches + excluded.branches,
        skipped = d.skipped + excluded.skipped, failed = d.failed + excluded.failed,
        running = d.running + excluded.running, other = d.other + excluded.other,
        cost_usd = d.cost_usd + excluded.cost_usd, cost_runs = d.cost_runs + excluded.cost_runs,
        input_tokens = d.input_tokens + excluded.input_tokens,
        output_tokens = d.output_tokens + excluded.output_tokens, token_runs = d.token_runs + excluded.token_runs,
        preflight_passed = d.preflight_passed + excluded.preflight_passed,
        preflight_stopped = d.preflight_stopped + excluded.preflight_stopped,
        lint_passed = d.lint_passed + excluded.lint_passed, lint_stopped = d.lint_stopped + excluded.lint_stopped,
        test_passed = d.test_passed + excluded.test_passed, test_stopped = d.test_stopped + excluded.test_stopped,
        integration_passed = d.integration_passed + excluded.integration_passed,
        integration_stopped = d.integration_stopped + excluded.integration_stopped,
        license_passed = d.license_passed + excluded.license_passed,
        license_stopped = d.license_stopped + excluded.license_stopped;
END $$;

-- As before, in PL/pgSQL, which keeps the plan.
CREATE OR REPLACE FUNCTION artifact_of(url text, OUT kind text, OUT repo_key text, OUT number bigint)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    m text[] := regexp_match(url, '^https?://[^/]+/([^/]+/[^/]+)/(pull|issues)/([0-9]{1,15})(?:[/?#].*)?$');
BEGIN
    kind := CASE WHEN m IS NULL THEN 'other' WHEN m[2] = 'pull' THEN 'pull_request' ELSE 'issue' END;
    repo_key := lower(m[1]);
    number := m[3]::bigint;
END $$;

-- What becomes of deliverables goes out on events.runs: what each is, what it was made for, and its stage, which is
-- `withdrawn` when no run names it any more.
CREATE FUNCTION deliverable_tell(d deliverable, stage text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM event_emit('events.runs', 'deliverable.' || stage, d.account_id, jsonb_build_object(
        'version', nextval('deliverable_version'), 'url', d.url, 'kind', d.kind, 'repo', d.repo, 'stage', stage,
        'run_id', d.run_id, 'interest_id', d.interest_id, 'recommendation_id', d.recommendation_id, 'arxiv_id', d.arxiv_id));
END $$;

CREATE FUNCTION deliverable_told() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM deliverable_tell(NEW, NEW.stage);
    RETURN NULL;
END $$;

CREATE TRIGGER deliverable_made AFTER INSERT ON deliverable FOR EACH ROW EXECUTE FUNCTION deliverable_told();
CREATE TRIGGER deliverable_changed AFTER UPDATE ON deliverable FOR EACH ROW
    WHEN ((OLD.stage, OLD.run_id, OLD.interest_id, OLD.recommendation_id, OLD.arxiv_id)
          IS DISTINCT FROM (NEW.stage, NEW.run_id, NEW.interest_id, NEW.recommendation_id, NEW.arxiv_id))
    EXECUTE FUNCTION deliverable_told();

-- As before, and locks the rows in the order of their key.
DROP FUNCTION deliverable_settle;
CREATE FUNCTION deliverable_settle(account uuid, repo text, of_kind text DEFAULT NULL, of_number bigint DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM owned_repo o WHERE o.account_id = account AND o.repo_key = $2) THEN
        RETURN;
    END IF;
    PERFORM FROM deliverable d
    WHERE d.account_id = account AND d.repo_key = $2 AND d.number IS NOT NULL
      AND (of_number IS NULL OR (d.kind = of_kind AND d.number = of_number))
    ORDER BY d.url FOR UPDATE;
    UPDATE deliverable d SET
        opened_at = coalesce(i.opened_at, d.opened_at), stage = i.state,
        closed_at = CASE WHEN i.state <> 'open' THEN coalesce(i.closed_at, i.told_at) END
    FROM code_host_item i
    WHERE d.account_id = account AND d.repo_key = $2 AND i.repo_key = $2 AND i.kind = d.kind AND i.number = d.number
      AND i.state IS NOT NULL AND (of_number IS NULL OR (d.kind = of_kind AND d.number = of_number));
END $$;

-- Note what runs opened: of several runs that name one link, the earliest.
CREATE FUNCTION deliverable_open(opened run[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    INSERT INTO deliverable AS d (account_id, url, kind, repo_key, repo, number, run_id, run_at, opened_at, interest_id,
                                  recommendation_id, arxiv_id)
    SELECT DISTINCT ON (r.account_id, r.artifact_url) r.account_id, r.artifact_url,
           CASE WHEN a.repo_key = r.repo_key THEN a.kind ELSE 'other' END, r.repo_key, r.repo,
           CASE WHEN a.repo_key = r.repo_key THEN a.number END, r.run_id, r.at, coalesce(r.finished_at, r.at), r.interest_id,
           r.record ->> 'recommendation_id', r.arxiv_id
    FROM unnest(opened) r, artifact_of(r.artifact_url) a
    ORDER BY r.account_id, r.artifact_url, r.at, r.run_id
    ON CONFLICT (account_id, url) DO UPDATE
    SET run_id = excluded.run_id, run_at = excluded.run_at,
        opened_at = CASE WHEN (excluded.run_at, excluded.run_id) < (d.run_at, d.run_id) THEN excluded.opened_at
                         ELSE d.opened_at END,
        interest_id = excluded.interest_id, recommendation_id = excluded.recommendation_id, arxiv_id = excluded.arxiv_id
    WHERE (excluded.run_at, excluded.run_id) <= (d.run_at, d.run_id);
    PERFORM deliverable_settle(r.account_id, r.repo_key, a.kind, a.number)
    FROM unnest(opened) r, artifact_of(r.artifact_url) a, code_host_item i
    WHERE i.repo_key = r.repo_key AND i.repo_key = a.repo_key AND i.kind = a.kind AND i.number = a.number AND i.state IS NOT NULL;
END $$;

-- A run that no longer names a link: another run that does is its origin now, or it is withdrawn.
CREATE FUNCTION deliverable_leave(r run) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    left_behind deliverable;
BEGIN
    DELETE FROM deliverable d WHERE d.account_id = r.account_id AND d.url = r.artifact_url AND d.run_id = r.run_id
                                AND d.repo_key = r.repo_key
    RETURNING * INTO left_behind;
    IF FOUND THEN
        PERFORM deliverable_tell(left_behind, 'withdrawn');
        PERFORM deliverable_open(ARRAY(SELECT x FROM run x WHERE x.account_id = r.account_id AND x.artifact_url = r.artifact_url));
    END IF;
END $$;

-- Let the deliverables follow the changes, after `run` has them. The place of what the code host may tell is held first, also
-- for links to other repositories, so that who tells of it waits.
CREATE FUNCTION deliverables_follow(changes run_change[]) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    c run_change;
    opened run[] := '{}';
    left_behind run[] := '{}';
    one record;
BEGIN
    FOREACH c IN ARRAY changes LOOP
        IF (c.was).artifact_url IS NOT NULL AND ((c.was).artifact_url, (c.was).at, (c.was).finished_at)
                IS DISTINCT FROM ((c.became).artifact_url, (c.became).at, (c.became).finished_at) THEN
            left_behind := left_behind || c.was;
        END IF;
        IF (c.became).artifact_url IS NOT NULL AND (
                (c.was).artifact_url, (c.was).at, (c.was).finished_at, (c.was).interest_id, (c.was).arxiv_id,
                (c.was).record ->> 'recommendation_id') IS DISTINCT FROM (
                (c.became).artifact_url, (c.became).at, (c.became).finished_at, (c.became).interest_id, (c.became).arxiv_id,
                (c.became).record ->> 'recommendation_id') THEN
            opened := opened || c.became;
        END IF;
    END LOOP;
    IF cardinality(opened || left_behind) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO code_host_item AS i (repo_key, kind, number)
    SELECT DISTINCT a.repo_key, a.kind, a.number FROM unnest(opened || left_behind) r, artifact_of(r.artifact_url) a
    WHERE a.number IS NOT NULL AND octet_length(a.repo_key) <= 600 ORDER BY 1, 2, 3
    ON CONFLICT (repo_key, kind, number) DO UPDATE SET state = i.state;
    IF cardinality(left_behind) = 0 THEN
        PERFORM deliverable_open(opened);
        RETURN;
    END IF;
    FOR one IN SELECT DISTINCT r.account_id, r.artifact_url FROM unnest(opened || left_behind) r ORDER BY 1, 2 LOOP
        PERFORM deliverable_leave(r) FROM unnest(left_behind) r
        WHERE r.account_id = one.account_id AND r.artifact_url = one.artifact_url;
        PERFORM deliverable_open(ARRAY(SELECT r FROM unnest(opened) r
                                       WHERE r.account_id = one.account_id AND r.artifact_url = one.artifact_url));
    END LOOP;
END $$;

-- Make the account an owner of the repository; false: it is one already.
CREATE FUNCTION repo_claim(account uuid, repo text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM owned_repo o WHERE o.account_id = account AND o.repo_key = lower(repo)) THEN
        RETURN false;
    END IF;
    PERFORM repo_lock(repo);
    INSERT INTO owned_repo (account_id, repo_key) VALUES (account, lower(repo)) ON CONFLICT DO NOTHING;
    RETURN true;
END $$;

CREATE OR REPLACE FUNCTION repo_own(account uuid, repo text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF repo_claim(account, repo) THEN
        PERFORM deliverable_settle(account, lower(repo));
    END IF;
END $$;

-- What one telling makes of a run: a report of its own, or what the code host says of it (`host`, of which `report` is only for
-- a run that nothing is known of).
CREATE FUNCTION run_told(r run, report jsonb, stamp bigint, host jsonb) RETURNS run LANGUAGE plpgsql STABLE AS $$
DECLARE
    told jsonb := run_report_completed(report);
    m record;
BEGIN
    IF r.record IS NULL THEN
        r.record := told;
        r.reported_at := stamp;
    ELSIF host IS NULL THEN
        m := run_merge(r.record, r.reported_at, r.older, told, stamp);
        IF m.merged <> r.record OR m.newest <> r.reported_at THEN
            r.record := m.merged;
            r.reported_at := m.newest;
            r.older := m.stamps;
        END IF;
    END IF;
    IF host IS NOT NULL AND (r.host_told_at > (host ->> 'told_at')::timestamptz) IS NOT TRUE THEN
        r.host_state := host ->> 'state';
        r.host_outcome := host ->> 'outcome';
        r.host_told_at := host ->> 'told_at';
    END IF;
    RETURN run_derive(r);
END $$;

-- The large members of a run after a report.
CREATE FUNCTION run_detail_told(d run_detail, detail jsonb, stamp bigint) RETURNS run_detail LANGUAGE plpgsql STABLE AS $$
DECLARE
    m record;
BEGIN
    IF detail = '{}' THEN
        RETURN d;
    ELSIF d.detail IS NULL THEN
        d.detail := detail;
        d.reported_at := stamp;
    ELSE
        m := run_merge(d.detail, d.reported_at, d.older, detail, stamp);
        IF m.merged <> d.detail OR m.newest <> d.reported_at THEN
            d.detail := m.merged;
            d.reported_at := m.newest;
            d.older := m.stamps;
        END IF;
    END IF;
    RETURN d;
END $$;

CREATE FUNCTION run_details_store(details run_detail[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    INSERT INTO run_detail AS x SELECT d.* FROM unnest(details) d
    ON CONFLICT (id, first_at) DO UPDATE
    SET detail = excluded.detail, reported_at = excluded.reported_at, older = excluded.older;
END $$;

-- Write new and changed runs, and all that follows from them.
CREATE FUNCTION runs_store(changes run_change[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    c run_change;
    r run;
BEGIN
    INSERT INTO run SELECT (x.became).* FROM unnest(changes) x WHERE (x.was).id IS NULL;
    FOREACH c IN ARRAY changes LOOP
        CONTINUE WHEN (c.was).id IS NULL;
        r := c.became;
        UPDATE run x SET
            changed_at = r.changed_at, at = r.at, finished_at = r.finished_at, status = r.status,
            outcome_kind = r.outcome_kind, agent = r.agent, interest_id = r.interest_id, arxiv_id = r.arxiv_id,
            cost_usd = r.cost_usd, input_tokens = r.input_tokens, output_tokens = r.output_tokens, cause = r.cause,
            artifact_url = r.artifact_url, record = r.record, reported_at = r.reported_at, older = r.older,
            host_state = r.host_state, host_outcome = r.host_outcome, host_told_at = r.host_told_at
        WHERE x.id = r.id AND x.first_at = r.first_at;
    END LOOP;
    PERFORM run_repo_add(changes);
    PERFORM run_agent_add(changes);
    PERFORM run_day_add(changes);
    PERFORM deliverables_follow(changes);
END $$;

-- What the trigger account_required does for each row, once for an account.
DROP TRIGGER account_required ON run_key;
CREATE FUNCTION account_admit(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, false);
    IF EXISTS (SELECT FROM deleted_account d WHERE d.id = account) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the account was deleted', CONSTRAINT = 'account_required';
    END IF;
END $$;

-- Take what is told of runs: an array of
--
--     {"account": "…", "repo": "acme/ranker", "run_id": 17, "report": {…}, "detail": {…}, "owns": true, "host": null}
--
--   report  the members that lists show, none of them null
--   detail  the large members; may be absent
--   owns    the account is known to own the repository
--   host    {"state": "running" or "ended", "outcome", "told_at"} as the code host says; null or absent: the run reports itself
-- Several may be of one run; those before in the array are taken first. A row for each: its place from 1, whether the run is
-- new, and the run as it is then.
CREATE FUNCTION runs_tell(tellings jsonb) RETURNS TABLE (place bigint, is_new boolean, shown jsonb) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    made uuid[];
    claimed owned_repo[] := '{}';
    one owned_repo;
    t record;
    was run;
    r run;
    d_was run_detail;
    d run_detail;
    stamp bigint;
    changes run_change[] := '{}';
    details run_detail[] := '{}';
BEGIN
    PERFORM account_admit(x.account) FROM (
        SELECT DISTINCT account FROM jsonb_to_recordset(tellings) AS y (account uuid) ORDER BY 1) x;
    FOR t IN SELECT DISTINCT lower(x.repo) AS repo, x.account FROM jsonb_to_recordset(tellings) AS x (account uuid, repo text, owns boolean)
             WHERE x.owns ORDER BY 1, 2 LOOP
        IF repo_claim(t.account, t.repo) THEN
            claimed := claimed || (t.account, t.repo, moment)::owned_repo;
        END IF;
    END LOOP;
    WITH inserted AS (
        INSERT INTO run_key (account_id, repo_key, run_key, id, first_at)
        SELECT x.account, lower(x.repo), x.run_id #>> '{}', uuid_v7(), moment
        FROM jsonb_to_recordset(tellings) AS x (account uuid, repo text, run_id jsonb) ORDER BY 1, 2, 3
        ON CONFLICT DO NOTHING RETURNING id)
    SELECT coalesce(array_agg(i.id), '{}') INTO made FROM inserted i;
    FOR t IN
        SELECT x.*, k.id, k.first_at, lag(k.id) OVER same IS DISTINCT FROM k.id AS is_first,
               lead(k.id) OVER same IS DISTINCT FROM k.id AS is_last
        FROM ROWS FROM (jsonb_to_recordset(tellings) AS (account uuid, repo text, run_id jsonb, report jsonb, detail jsonb, host jsonb))
             WITH ORDINALITY AS x (account, repo, run_id, report, detail, host, place)
        JOIN run_key k ON k.account_id = x.account AND k.repo_key = lower(x.repo) AND k.run_key = x.run_id #>> '{}'
        WINDOW same AS (ORDER BY k.account_id, k.repo_key, k.run_key, x.place)
        ORDER BY k.account_id, k.repo_key, k.run_key, x.place
    LOOP
        is_new := t.is_first AND t.id = ANY (made);
        IF is_new THEN
            r := NULL;
            d := NULL;
            was := NULL;
            d_was := NULL;
            r.id := t.id;
            r.account_id := t.account;
            r.repo_key := lower(t.repo);
            r.repo := t.repo;
            r.run_id := t.run_id;
            r.first_at := moment;
            r.changed_at := moment;
            d.id := t.id;
            d.account_id := t.account;
            d.first_at := moment;
        ELSIF t.is_first THEN
            SELECT x.* INTO r FROM run x WHERE x.id = t.id AND x.first_at = t.first_at FOR UPDATE;
            SELECT x.* INTO d FROM run_detail x WHERE x.id = t.id AND x.first_at = t.first_at;
            was := r;
            d_was := d;
            d.id := r.id;
            d.account_id := r.account_id;
            d.first_at := r.first_at;
        END IF;
        t.report := CASE WHEN t.host IS NULL OR is_new THEN coalesce(t.report, '{}') ELSE '{}' END;
        stamp := run_stamp(t.report);
        r := run_told(r, t.report, stamp, t.host);
        d := run_detail_told(d, coalesce(t.detail, '{}'), stamp);
        IF t.is_last AND r IS DISTINCT FROM was THEN
            r.changed_at := moment;
            changes := changes || (was, r)::run_change;
        END IF;
        IF t.is_last AND d.detail IS NOT NULL AND d IS DISTINCT FROM d_was THEN
            details := details || d;
        END IF;
        place := t.place;
        shown := run_json(r, d.detail);
        RETURN NEXT;
    END LOOP;
    PERFORM run_details_store(details) WHERE cardinality(details) > 0;
    PERFORM runs_store(changes) WHERE cardinality(changes) > 0;
    FOREACH one IN ARRAY claimed LOOP
        PERFORM deliverable_settle(one.account_id, one.repo_key);
    END LOOP;
END $$;

-- What the code host says of workflow runs of a repository, as svc-integrations shows them, for every account that owns it. A run
-- that is not known yet has started when the code host says, and not now. It may be known from there before it reports itself.
CREATE FUNCTION workflow_runs_tell(repo text, runs jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM repo_lock(repo);
    PERFORM runs_tell(jsonb_agg(jsonb_build_object(
        'account', o.account_id, 'repo', repo, 'run_id', w.run -> 'run_id',
        'report', jsonb_strip_nulls(jsonb_build_object('started_at', time_json((w.run ->> 'started_at')::timestamptz))),
        'host', jsonb_build_object('state', CASE w.run ->> 'status' WHEN 'completed' THEN 'ended' ELSE 'running' END,
                                   'outcome', w.run -> 'conclusion', 'told_at', w.run -> 'updated_at'))))
    FROM owned_repo o, jsonb_array_elements(runs) AS w (run) WHERE o.repo_key = lower(repo);
END $$;

-- What the code host told the account, which has proved so that it owns the repository.
CREATE OR REPLACE FUNCTION run_status_tell(account uuid, repo text, run jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    is_claimed boolean := repo_claim(account, repo);
BEGIN
    INSERT INTO run_status AS s (repo_key, asked_at, told, told_at)
    VALUES (lower(repo), clock_timestamp(), run, clock_timestamp())
    ON CONFLICT (repo_key, account_id) DO UPDATE SET told = excluded.told, told_at = excluded.told_at;
    PERFORM workflow_runs_tell(repo, jsonb_build_array(run)) WHERE jsonb_typeof(run) = 'object';
    PERFORM deliverable_settle(account, lower(repo)) WHERE is_claimed;
END $$;

-- Everything that an account had; a note stays.
CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    DELETE FROM run_key WHERE account_id = account;
    DELETE FROM run_detail WHERE account_id = account;
    DELETE FROM run WHERE account_id = account;
    DELETE FROM run_day WHERE account_id = account;
    DELETE FROM run_repo WHERE account_id = account;
    DELETE FROM run_agent WHERE account_id = account;
    DELETE FROM deliverable WHERE account_id = account;
    DELETE FROM owned_repo WHERE account_id = account;
    DELETE FROM installation WHERE account_id = account;
    DELETE FROM run_text WHERE account_id = account;
    DELETE FROM inbox_archived WHERE account_id = account;
    DELETE FROM run_status WHERE account_id = account;
    DELETE FROM repo_fetch WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
END $$;

-- The code host let the account start a run on the repository: `run`, at the time `at`; null: which one is not known.
CREATE FUNCTION run_started_tell(account uuid, repo text, run bigint, at text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    is_claimed boolean := repo_claim(account, repo);
BEGIN
    PERFORM workflow_runs_tell(repo, jsonb_build_array(jsonb_build_object(
        'run_id', run, 'status', 'queued', 'started_at', at, 'updated_at', at))) WHERE run IS NOT NULL;
    PERFORM deliverable_settle(account, lower(repo)) WHERE is_claimed;
END $$;
