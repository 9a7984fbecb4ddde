-- Taking a report of a run.

-- The cause of a failure, equal for equal failures: the first line of the error, without numbers, hashes and paths'
-- differing parts; without an error the status.
CREATE FUNCTION run_cause(status text, error text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(coalesce(
    nullif(btrim(regexp_replace(lower(split_part(btrim(error, E' \t\r\n'), E'\n', 1)),
        '\m(0x)?[0-9a-f]*[0-9][0-9a-f]*\M|[0-9]+', '#', 'g')), ''), status), 200);

-- Whether the run ended at the code host and did not report its end.
CREATE FUNCTION run_is_lost(r run) RETURNS boolean LANGUAGE sql STABLE
RETURN coalesce(r.host_state = 'ended', false)
    AND outcome_kind(r.record ->> 'status', r.record ->> 'finished_at' IS NOT NULL) = 'running';

-- The error of such a run.
CREATE FUNCTION run_loss(r run) RETURNS text LANGUAGE sql STABLE
RETURN coalesce(r.record ->> 'error' || '; ', '') || 'the workflow run ended without a report'
    || coalesce(' (' || r.host_outcome || ')', '');

-- A run as lists show it, and with its large members.
CREATE FUNCTION run_json(r run, detail jsonb DEFAULT NULL) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN r.record -> 'error' = 'null' THEN r.record - 'error' ELSE r.record END || coalesce(detail, '{}')
        || CASE WHEN run_is_lost(r) THEN jsonb_build_object('error', run_loss(r)) ELSE '{}' END
        || jsonb_build_object('run_id', r.run_id, 'repo', r.repo, 'status', r.status, 'outcome_kind', r.outcome_kind,
                              'created_at', time_json(r.first_at), 'updated_at', time_json(r.changed_at))
$$;

-- The stamp of a report, in microseconds since 1970: when the run finished, or started, as far as the report says. At the
-- same time, a report of the end is newer than one of the start. A report without times is newer than all before it when
-- it tells of the end, and older than all others when it does not: it may be late.
CREATE FUNCTION run_stamp(report jsonb) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    is_final boolean := report ? 'finished_at' OR (outcome_kind(report ->> 'status', true) <> 'running' AND report <> '{}');
BEGIN
    RETURN (extract(epoch FROM coalesce((report ->> 'finished_at')::timestamptz, (report ->> 'started_at')::timestamptz,
                                        CASE WHEN is_final THEN clock_timestamp() ELSE 'epoch' END)) * 1000000)::bigint
           + is_final::int;
END $$;

-- A report with what it says without words: an attempt that ends without a failure clears the error of earlier attempts.
CREATE FUNCTION run_report_completed(report jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN report ? 'status' AND outcome_kind(report ->> 'status') NOT IN ('failed', 'running')
            THEN '{"error": null}' || report ELSE report END;

-- Merge the members of a report into those of the earlier ones. A member of equal stamp is replaced.
--
--   stamps  of `older`: members that are older than reported_at
CREATE FUNCTION run_merge(record jsonb, reported_at bigint, older jsonb, report jsonb, stamp bigint,
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

-- A run with the columns that follow from its record.
CREATE FUNCTION run_derive(r run) RETURNS run LANGUAGE plpgsql STABLE AS $$
BEGIN
    r.status := CASE WHEN run_is_lost(r) THEN 'failed'
                     ELSE coalesce(r.record ->> 'status', r.host_state) END; -- `running`, if it is only known from there
    r.finished_at := (r.record ->> 'finished_at')::timestamptz;
    r.outcome_kind := outcome_kind(r.status, r.finished_at IS NOT NULL);
    r.at := coalesce((r.record ->> 'started_at')::timestamptz, r.first_at);
    r.agent := r.record ->> 'agent';
    r.interest_id := r.record ->> 'interest_id';
    r.arxiv_id := r.record ->> 'arxiv_id';
    r.cost_usd := (r.record ->> 'cost_usd')::numeric;
    r.input_tokens := (r.record ->> 'input_tokens')::bigint;
    r.output_tokens := (r.record ->> 'output_tokens')::bigint;
    r.cause := CASE WHEN r.outcome_kind = 'failed' THEN run_cause(r.status, CASE WHEN run_is_lost(r)
        THEN run_loss(r) ELSE r.record ->> 'error' END) END;
    r.artifact_url := r.record ->> 'artifact_url';
    RETURN r;
END $$;

-- Merge the large members of a report.
CREATE FUNCTION run_detail_report(r run, stamp bigint, detail jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    d run_detail;
    m record;
BEGIN
    SELECT * INTO d FROM run_detail x WHERE x.id = r.id AND x.first_at = r.first_at;
    IF d.id IS NULL AND detail <> '{}' THEN
        INSERT INTO run_detail (id, account_id, first_at, detail, reported_at)
        VALUES (r.id, r.account_id, r.first_at, detail, stamp);
        RETURN detail;
    ELSIF d.id IS NULL OR detail = '{}' THEN
        RETURN d.detail;
    END IF;
    SELECT * INTO m FROM run_merge(d.detail, d.reported_at, d.older, detail, stamp);
    IF m.merged <> d.detail OR m.newest <> d.reported_at THEN
        UPDATE run_detail x SET detail = m.merged, reported_at = m.newest, older = m.stamps
        WHERE x.id = r.id AND x.first_at = r.first_at;
    END IF;
    RETURN m.merged;
END $$;

-- Take a report of a run.
--
--   report  the members that lists show, none of them null
--   detail  the large members
CREATE FUNCTION run_report(account uuid, repo text, run_id jsonb, report jsonb, detail jsonb,
                           OUT is_new boolean, OUT shown jsonb)
LANGUAGE plpgsql AS $$
DECLARE
    r run;
    m record;
    moment timestamptz := clock_timestamp();
    stamp bigint := run_stamp(report);
    key text := run_report.run_id #>> '{}';
    told jsonb := run_report_completed(report);
BEGIN
    INSERT INTO run_key (account_id, repo_key, run_key, id, first_at)
    VALUES (account, lower(run_report.repo), key, uuid_v7(), moment)
    ON CONFLICT DO NOTHING RETURNING id INTO r.id;
    is_new := FOUND;
    IF is_new THEN
        r.account_id := account;
        r.repo_key := lower(run_report.repo);
        r.repo := run_report.repo;
        r.run_id := run_report.run_id;
        r.first_at := moment;
        r.changed_at := moment;
        r.record := told;
        r.reported_at := stamp;
        r := run_derive(r);
        INSERT INTO run SELECT r.*;
    ELSE
        SELECT x.* INTO r FROM run_key k JOIN run x ON x.id = k.id AND x.first_at = k.first_at
        WHERE k.account_id = account AND k.repo_key = lower(run_report.repo) AND k.run_key = key
        FOR UPDATE OF x;
        SELECT * INTO m FROM run_merge(r.record, r.reported_at, r.older, told, stamp);
        IF m.merged <> r.record OR m.newest <> r.reported_at THEN
            r.record := m.merged;
            r.reported_at := m.newest;
            r.older := m.stamps;
            r.changed_at := moment;
            r := run_derive(r);
            UPDATE run x SET
                changed_at = r.changed_at, at = r.at, finished_at = r.finished_at, status = r.status,
                outcome_kind = r.outcome_kind, agent = r.agent, interest_id = r.interest_id, arxiv_id = r.arxiv_id,
                cost_usd = r.cost_usd, input_tokens = r.input_tokens, output_tokens = r.output_tokens, cause = r.cause,
                artifact_url = r.artifact_url, record = r.record, reported_at = r.reported_at, older = r.older
            WHERE x.id = r.id AND x.first_at = r.first_at;
        END IF;
    END IF;
    shown := run_json(r, run_detail_report(r, stamp, detail));
END $$;
