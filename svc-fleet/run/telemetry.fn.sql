-- Updates of runs, many at once.
--
-- runs_update() is the only writer of `run` and `run_detail`, and of the sums and deliverables that follow from them: in sets, in
-- the same transaction, without triggers. A statement takes the reports that arrived while the one before it ran, so that they
-- share what it costs to start its plans, to lock the sums and to commit.
--
-- Transactions lock rows in one order, so that none waits for another in a circle: account_guard, which they share; repo_guard,
-- which a report locks only when it makes an owner; run_key; run; candidate; run_repo; run_agent; run_day; cost_look; reservation;
-- budget_period; code_host_item; deliverable; inbox_look. Of each table in the order of its key. A start locks budgets before all but
-- account_guard; a run that asks whether it may start locks admission and itself before the budgets.

-- The stamp of a report, in microseconds since 1970: when the run finished, or started, as far as the report says. At the
-- same time, a report of the end is newer than one of the start. A report without times is newer than all before it when
-- it reports the end, and older than all others when it does not: it may be late.
CREATE OR REPLACE FUNCTION run_stamp(report jsonb) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    is_final boolean := report ? 'finished_at' OR (outcome_kind(report ->> 'status', true) <> 'running' AND report <> '{}');
BEGIN
    RETURN (extract(epoch FROM coalesce((report ->> 'finished_at')::timestamptz, (report ->> 'started_at')::timestamptz,
                                        CASE WHEN is_final THEN clock_timestamp() ELSE 'epoch' END)) * 1000000)::bigint
           + is_final::int;
END $$;

-- The same, of a report of a run that has told something of the stamp `former`, null: nothing. That may be ahead of our clock, as the clock
-- of whoever reports.
CREATE OR REPLACE FUNCTION run_stamp_after(report jsonb, former bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN greatest(run_stamp(report),
                    CASE WHEN NOT report ?| '{started_at,finished_at}' AND outcome_kind(report ->> 'status', true) <> 'running' AND report <> '{}'
                         THEN former + 1 END);
END $$;

-- A report with what it says without words: an attempt that ends without a failure clears the error of earlier attempts.
CREATE OR REPLACE FUNCTION run_report_completed(report jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN report ? 'status' AND outcome_kind(report ->> 'status') NOT IN ('failed', 'running')
            THEN '{"error": null}' || report ELSE report END;

-- Merge the members of a report into those of the earlier ones. A member of equal stamp is replaced.
--
--   stamps  of `older`: members that are older than reported_at
CREATE OR REPLACE FUNCTION run_merge(record jsonb, reported_at bigint, older jsonb, report jsonb, stamp bigint,
                          OUT merged jsonb, OUT newest bigint, OUT stamps jsonb)
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    newest := greatest(reported_at, stamp);
    IF stamp >= reported_at THEN
        merged := record || report;
        SELECT jsonb_object_agg(m.name, coalesce(older -> m.name, to_jsonb(reported_at))) INTO stamps
        FROM jsonb_object_keys(record) AS m (name) WHERE stamp > reported_at AND NOT report ? m.name;
        IF stamp = reported_at THEN
            stamps := nullif(older - ARRAY(SELECT jsonb_object_keys(report)), '{}');
        END IF;
    ELSE
        -- Late: it fills in what is absent, and replaces what is older still.
        SELECT record || coalesce(jsonb_object_agg(m.name, m.value), '{}'),
               nullif(coalesce(older, '{}') || coalesce(jsonb_object_agg(m.name, stamp), '{}'), '{}')
        INTO merged, stamps
        FROM jsonb_each(report) AS m (name, value)
        WHERE NOT record ? m.name OR (older -> m.name)::bigint <= stamp;
    END IF;
END $$;

-- Set the interest that a run reports; NULL leaves it unchanged. Whether another one is borne out is not known yet.
CREATE OR REPLACE FUNCTION run_told_interest(r run, told text) RETURNS run LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF told IS DISTINCT FROM r.interest_id AND told IS NOT NULL THEN
        r.interest_id := told;
        r.interest_is_proved := NULL;
    END IF;
    RETURN r;
END $$;

-- Whether the interest of a run is borne out: by `key_interest`, to which the key that reports is limited, by an installation of the
-- repository, or by a start of the run. What was borne out once stays so, until the run tells another; null: it has told none.
CREATE OR REPLACE FUNCTION run_interest_proof(r run, key_interest text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF (r.record ? 'interest_id') IS NOT TRUE OR r.interest_is_proved THEN
        RETURN r.interest_is_proved;
    END IF;
    RETURN coalesce(r.interest_id IN (key_interest, spend_interest(r.attempts)), false)
        OR EXISTS (SELECT FROM installation i
                   WHERE i.account_id = r.account_id AND i.repo_key = r.repo_key AND i.interest_id::text = r.interest_id);
END $$;

-- A run with the columns that follow from its record.
CREATE OR REPLACE FUNCTION run_derive(r run) RETURNS run LANGUAGE plpgsql STABLE AS $$
BEGIN
    r.status := CASE WHEN run_is_lost(r) THEN 'failed'
                     ELSE coalesce(r.record ->> 'status', r.host_state) END; -- `running`, if it is only known from there
    r.finished_at := (r.record ->> 'finished_at')::timestamptz;
    r.outcome_kind := outcome_kind(r.status, r.finished_at IS NOT NULL);
    r.at := coalesce((r.record ->> 'started_at')::timestamptz, r.first_at);
    r.agent := r.record ->> 'agent';
    r := run_told_interest(r, coalesce(r.record ->> 'interest_id', spend_interest(r.attempts)));
    r.interest_is_proved := run_interest_proof(r, NULL);
    r.arxiv_id := r.record ->> 'arxiv_id';
    r.cost_usd := (r.record ->> 'cost_usd')::numeric;
    r.input_tokens := (r.record ->> 'input_tokens')::bigint;
    r.output_tokens := (r.record ->> 'output_tokens')::bigint;
    r.cause := CASE WHEN r.outcome_kind = 'failed' THEN run_cause(r.status, CASE WHEN run_is_lost(r)
        THEN run_loss(r) ELSE r.record ->> 'error' END) END;
    r.artifact_url := r.record ->> 'artifact_url';
    RETURN r;
END $$;

-- What one update makes of a run: a report of its own, or what the code host says of it (`host`, of which `report` is only for
-- a run that nothing is known of). `others` are taken while there is room for them: each report may have members of other names. The times
-- of the code host are whole seconds: of what happened in the same second, the end is the later, however it arrives.
CREATE OR REPLACE FUNCTION run_updated(r run, report jsonb, others jsonb, stamp bigint, host jsonb) RETURNS run LANGUAGE plpgsql STABLE AS $$
DECLARE
    whole jsonb := run_report_completed(report);
    m record;
BEGIN
    IF pg_column_size(coalesce(r.record, '{}') || others) <= 1048576 THEN
        whole := others || whole;
    END IF;
    IF host IS NULL THEN
        r := spend_add(r, report, stamp);
    END IF;
    IF r.record IS NULL THEN
        r.record := whole;
        r.reported_at := stamp;
    ELSIF host IS NULL THEN
        m := run_merge(r.record, r.reported_at, r.older, whole, stamp);
        IF m.merged <> r.record OR m.newest <> r.reported_at THEN
            r.record := m.merged;
            r.reported_at := m.newest;
            r.older := m.stamps;
        END IF;
    END IF;
    IF host IS NOT NULL AND (r.host_told_at > (host ->> 'told_at')::timestamptz) IS NOT TRUE
       AND NOT (r.host_told_at = (host ->> 'told_at')::timestamptz AND r.host_state = 'ended' AND host ->> 'state' <> 'ended') IS TRUE THEN
        r.host_state := host ->> 'state';
        r.host_outcome := host ->> 'outcome';
        r.host_told_at := host ->> 'told_at';
        r := CASE r.host_state WHEN 'ended' THEN run_host_ended(r) ELSE r END;
    END IF;
    RETURN run_derive(r);
END $$;

-- The large members of a run after a report. `bytes` is their size, so that nobody reads them to know it.
CREATE OR REPLACE FUNCTION run_detail_updated(d run_detail, detail jsonb, stamp bigint) RETURNS run_detail LANGUAGE plpgsql STABLE AS $$
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
    d.bytes := pg_column_size(d.detail || '{}');
    RETURN d;
END $$;

-- The large members that the answer to a report has: beyond a quarter of a megabyte those that the report has itself, as answers to small
-- reports would otherwise take megabytes each, many at once.
CREATE OR REPLACE FUNCTION run_detail_shown(detail jsonb, reported jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF pg_column_size(detail || '{}') <= 262144 OR NOT EXISTS (SELECT FROM jsonb_object_keys(detail) AS m (name) WHERE NOT reported ? m.name) THEN
        RETURN detail;
    END IF;
    RETURN (SELECT jsonb_build_object('selection_omitted', true) || coalesce(jsonb_object_agg(m.name, detail -> m.name), '{}')
            FROM jsonb_object_keys(reported) AS m (name));
END $$;

-- The same of what is stored of a run, for a report without large members. Those that are too many are not read.
CREATE OR REPLACE FUNCTION run_detail_kept(run uuid, first_at timestamptz) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    kept jsonb;
BEGIN
    SELECT CASE WHEN coalesce(d.bytes, pg_column_size(d.detail)) <= 262144 THEN d.detail ELSE '{"selection_omitted": true}' END INTO kept
    FROM run_detail d WHERE d.id = run AND d.first_at = run_detail_kept.first_at;
    RETURN run_detail_shown(kept, '{}');
END $$;

-- Write the large members of new and changed runs.
CREATE OR REPLACE FUNCTION run_details_store(details run_detail[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    INSERT INTO run_detail AS x SELECT d.* FROM unnest(details) d
    ON CONFLICT (id, first_at) DO UPDATE
    SET detail = excluded.detail, reported_at = excluded.reported_at, older = excluded.older, bytes = excluded.bytes;
END $$;

-- Write new and changed runs, and all that follows from them.
CREATE OR REPLACE FUNCTION runs_store(changes run_change[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    c run_change;
    r run;
    made run[] := '{}';
    looks inbox_look[];
BEGIN
    FOREACH c IN ARRAY changes LOOP
        r := c.became;
        IF (c.was).id IS NULL THEN
            made := made || r;
            CONTINUE;
        END IF;
        UPDATE run x SET
            changed_at = r.changed_at, at = r.at, finished_at = r.finished_at, status = r.status,
            outcome_kind = r.outcome_kind, agent = r.agent, interest_id = r.interest_id, arxiv_id = r.arxiv_id,
            cost_usd = r.cost_usd, input_tokens = r.input_tokens, output_tokens = r.output_tokens, cause = r.cause,
            interest_is_proved = r.interest_is_proved,
            artifact_url = r.artifact_url, record = r.record, reported_at = r.reported_at, older = r.older,
            host_state = r.host_state, host_outcome = r.host_outcome, host_told_at = r.host_told_at,
            attempts = r.attempts, spend_usd = r.spend_usd, spend_basis = r.spend_basis, price_date = r.price_date
        WHERE x.id = r.id AND x.first_at = r.first_at;
    END LOOP;
    INSERT INTO run SELECT m.* FROM unnest(made) m;
    PERFORM run_repo_add(changes);
    PERFORM run_agent_add(changes);
    PERFORM run_day_add(changes);
    PERFORM cost_look_add(changes);
    looks := budget_changes_add(changes);
    PERFORM deliverables_follow(changes);
    PERFORM runs_announce(changes);
    PERFORM runs_measured(changes);
    PERFORM inbox_mark(looks || runs_looks(changes)); -- all in one statement, which locks them in their order
END $$;

-- What the trigger account_required does for each row, once for an account.
CREATE OR REPLACE FUNCTION account_admit(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, false);
    IF EXISTS (SELECT FROM deleted_account d WHERE d.id = account) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the account was deleted', CONSTRAINT = 'account_required';
    END IF;
END $$;

-- Apply updates of runs: an array of
--
--     {"account": "…", "repo": "acme/ranker", "run_id": 17, "report": {…}, "others": {…}, "detail": {…}, "owns": true, "host": null,
--      "key_interest": "…"}
--
--   key_interest  to which the key that reports is limited; null or absent: to none
--   report  the members that lists show and that mean something here, none of them null
--   others  the others that lists show; may be absent
--   detail  the large members; may be absent
--   owns    the account is known to own the repository
--   host    {"state": "running" or "ended", "outcome", "told_at"} as the code host says; null or absent: the run reports itself
-- Several may be of one run; those before in the array are taken first. A row for each: its place from 1, whether the run is
-- new, and the run as it is then.
CREATE OR REPLACE FUNCTION runs_update(updates jsonb) RETURNS TABLE (place bigint, is_new boolean, shown jsonb) LANGUAGE plpgsql
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
    is_detail_known boolean; -- those of the run are in `d`: a report without any does not read them
    has_rejected boolean;
    stamp bigint;
    changes run_change[] := '{}';
    details run_detail[] := '{}';
    detailed run_detail[] := '{}'; -- of runs of which nothing else has changed
    rejecting run_detail[] := '{}'; -- which papers they passed over
BEGIN
    PERFORM account_admit(x.account) FROM (
        SELECT DISTINCT account FROM jsonb_to_recordset(updates) AS y (account uuid) ORDER BY 1) x;
    FOR t IN SELECT DISTINCT lower(x.repo) AS repo, x.account FROM jsonb_to_recordset(updates) AS x (account uuid, repo text, owns boolean)
             WHERE x.owns ORDER BY 1, 2 LOOP
        IF repo_claim(t.account, t.repo) THEN
            claimed := claimed || (t.account, t.repo, moment)::owned_repo;
        END IF;
    END LOOP;
    WITH inserted AS (
        INSERT INTO run_key (account_id, repo_key, run_key, id, first_at)
        SELECT x.account, lower(x.repo), x.run_id #>> '{}', uuid_v7(), moment
        FROM jsonb_to_recordset(updates) AS x (account uuid, repo text, run_id jsonb) ORDER BY 1, 2, 3
        ON CONFLICT DO NOTHING RETURNING id)
    SELECT coalesce(array_agg(i.id), '{}') INTO made FROM inserted i;
    FOR t IN
        SELECT x.*, k.id, k.first_at, lag(k.id) OVER same IS DISTINCT FROM k.id AS is_first,
               lead(k.id) OVER same IS DISTINCT FROM k.id AS is_last
        FROM ROWS FROM (jsonb_to_recordset(updates) AS (account uuid, repo text, run_id jsonb, report jsonb, others jsonb, detail jsonb, host jsonb,
                                                        key_interest text))
             WITH ORDINALITY AS x (account, repo, run_id, report, others, detail, host, key_interest, place)
        JOIN run_key k ON k.account_id = x.account AND k.repo_key = lower(x.repo) AND k.run_key = x.run_id #>> '{}'
        WINDOW same AS (ORDER BY k.account_id, k.repo_key, k.run_key, x.place)
        ORDER BY k.account_id, k.repo_key, k.run_key, x.place
    LOOP
        is_new := t.is_first AND t.id = ANY (made);
        t.detail := coalesce(t.detail, '{}');
        IF t.is_first THEN
            d := NULL;
            d.id := t.id;
            d.account_id := t.account;
            d.first_at := t.first_at;
            d_was := NULL;
            is_detail_known := is_new;
            has_rejected := false;
        END IF;
        IF is_new THEN
            r := NULL;
            was := NULL;
            r.id := t.id;
            r.account_id := t.account;
            r.repo_key := lower(t.repo);
            r.repo := t.repo;
            r.run_id := t.run_id;
            r.first_at := moment;
            r.changed_at := moment;
        ELSIF t.is_first THEN
            SELECT x.* INTO r FROM run x WHERE x.id = t.id AND x.first_at = t.first_at FOR UPDATE;
            was := r;
        END IF;
        IF t.detail <> '{}' AND NOT is_detail_known THEN
            SELECT x.* INTO d_was FROM run_detail x WHERE x.id = t.id AND x.first_at = t.first_at;
            d := CASE WHEN FOUND THEN d_was ELSE d END;
            is_detail_known := true;
        END IF;
        has_rejected := has_rejected OR t.detail ? 'selection_rejected';
        t.report := CASE WHEN t.host IS NULL OR is_new THEN coalesce(t.report, '{}') ELSE '{}' END;
        stamp := run_stamp_after(t.report, r.reported_at);
        r := run_updated(r, t.report, coalesce(t.others, '{}'), stamp, t.host);
        r.interest_is_proved := run_interest_proof(r, t.key_interest);
        d := run_detail_updated(d, t.detail, stamp);
        IF t.is_last AND d.detail IS NOT NULL
            AND (d.detail, d.reported_at, d.older) IS DISTINCT FROM (d_was.detail, d_was.reported_at, d_was.older) THEN
            details := details || d;
            rejecting := rejecting || CASE WHEN has_rejected THEN ARRAY[d] ELSE '{}' END;
            detailed := detailed || CASE WHEN r IS NOT DISTINCT FROM was THEN ARRAY[d] ELSE '{}' END;
        END IF;
        IF t.is_last AND r IS DISTINCT FROM was THEN
            r.changed_at := moment;
            changes := changes || (was, r)::run_change;
        END IF;
        place := t.place;
        shown := run_json(r, CASE WHEN is_detail_known THEN run_detail_shown(d.detail, t.detail) ELSE run_detail_kept(t.id, t.first_at) END);
        RETURN NEXT;
    END LOOP;
    PERFORM run_details_store(details) WHERE cardinality(details) > 0;
    PERFORM candidates_reject(rejecting) WHERE cardinality(rejecting) > 0;
    IF cardinality(detailed) > 0 THEN
        UPDATE run x SET changed_at = moment FROM unnest(detailed) o WHERE x.id = o.id AND x.first_at = o.first_at;
    END IF;
    PERFORM runs_store(changes), candidates_choose(changes) WHERE cardinality(changes) > 0;
    FOREACH one IN ARRAY claimed LOOP
        PERFORM deliverable_reconcile(one.account_id, one.repo_key);
    END LOOP;
END $$;

-- Remove a run, and take it out of all sums and lists. Nothing else is reported of the account's runs meanwhile. Its run_id and
-- repository; null: there is none.
CREATE OR REPLACE FUNCTION run_remove(account uuid, repo text, key text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    k run_key;
    r run;
    change run_change;
BEGIN
    PERFORM account_lock(account, true);
    DELETE FROM run_key x WHERE x.account_id = account AND x.repo_key = lower(repo) AND x.run_key = key RETURNING * INTO k;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    DELETE FROM run x WHERE x.id = k.id AND x.first_at = k.first_at RETURNING * INTO r;
    DELETE FROM run_detail x WHERE x.id = k.id AND x.first_at = k.first_at;
    DELETE FROM candidate c WHERE c.run = k.id;
    DELETE FROM run_text x WHERE x.run = k.id;
    DELETE FROM cost_unusual x WHERE x.account_id = account AND x.kind = 'run' AND x.subject = k.id::text;
    INSERT INTO run_removed VALUES (k.account_id, k.repo_key, k.run_key) ON CONFLICT DO NOTHING;
    change.was := r;
    PERFORM run_repo_subtract(r);
    PERFORM run_agent_add(ARRAY[change]);
    PERFORM run_day_subtract(r);
    PERFORM budget_period_add(ARRAY[change]);
    PERFORM reservations_drop(r);
    PERFORM deliverables_follow(ARRAY[change]);
    PERFORM event_emit('events.runs', 'run.removed', account, jsonb_build_object('repo', r.repo, 'run_id', r.run_id #>> '{}'));
    RETURN jsonb_build_object('run_id', r.run_id, 'repo', r.repo, 'deleted', true);
END $$;
