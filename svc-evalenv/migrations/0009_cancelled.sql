-- A worker or a platform that confirms a cancelling contradicts nothing: its report is taken, and changes nothing. Before, it was
-- refused, and a platform that repeats its deliveries until they are taken went on.

CREATE OR REPLACE FUNCTION build_report(wanted uuid, account uuid, attempt int, given jsonb, lease interval, OUT outcome text)
LANGUAGE plpgsql AS $$
DECLARE
    w work;
    told text := json_digest(given - 'log');
    state text := given ->> 'status';
BEGIN
    SELECT * INTO w FROM work x
    WHERE x.id = wanted AND x.kind = 'build' AND (account IS NULL OR x.account_id = account) FOR UPDATE;
    outcome := CASE
        WHEN w.id IS NULL THEN 'missing'
        WHEN w.attempts = attempt AND w.finished_at IS NOT NULL
             AND told = (SELECT b.report FROM build b WHERE b.id = wanted) THEN 'ok'
        WHEN w.attempts = attempt AND w.status = 'cancelled' AND state = 'cancelled' THEN 'ok'
        WHEN w.finished_at IS NOT NULL THEN 'final'
        WHEN w.attempts <> attempt OR w.status <> 'running' OR w.lease_until <= now() THEN 'lost'
        ELSE 'new' END;
    IF outcome <> 'new' THEN
        RETURN;
    END IF;
    outcome := 'ok';
    PERFORM work_continue(wanted, given ->> 'log', lease);
    IF state = 'building' THEN
        RETURN;
    END IF;
    UPDATE build b SET report = told, image = CASE state WHEN 'succeeded' THEN given ->> 'image' END,
                       digest = CASE state WHEN 'succeeded' THEN given ->> 'digest' END WHERE b.id = wanted;
    PERFORM work_end(wanted, state, CASE state
        WHEN 'failed' THEN coalesce(nullif(given -> 'error', 'null'), fault_json('environment', 'The image was not built.'))
        WHEN 'cancelled' THEN fault_json('cancelled', 'The worker cancelled it.') END);
END $$;

CREATE OR REPLACE FUNCTION run_result(wanted uuid, account uuid, attempt int, given jsonb, delivery text, lease interval,
                                      OUT outcome text)
LANGUAGE plpgsql AS $$
DECLARE
    w work;
    r run;
    told text := json_digest(given);
    state text;
    fault jsonb;
BEGIN
    SELECT * INTO w FROM work x
    WHERE x.id = wanted AND x.kind = 'run' AND (account IS NULL OR x.account_id = account) FOR UPDATE;
    SELECT * INTO r FROM run x WHERE x.id = wanted;
    outcome := CASE
        WHEN w.id IS NULL THEN 'missing'
        WHEN EXISTS (SELECT FROM delivery d WHERE d.account_id = w.account_id AND d.delivery_id = delivery) THEN 'known'
        WHEN attempt <> w.attempts THEN 'lost'
        WHEN w.finished_at IS NOT NULL AND r.result = told THEN 'ok'
        WHEN w.status = 'cancelled' AND given ->> 'status' = 'cancelled' THEN 'ok'
        WHEN w.finished_at IS NOT NULL THEN 'final'
        WHEN attempt IS NOT NULL AND (w.status <> 'running' OR w.lease_until <= now()) THEN 'lost' END;
    IF outcome IS NOT NULL THEN
        RETURN;
    END IF;
    outcome := 'ok';
    IF delivery IS NOT NULL THEN
        INSERT INTO delivery (account_id, delivery_id, run_id) VALUES (w.account_id, delivery, wanted);
    END IF;
    UPDATE run x SET call_id = coalesce(x.call_id, given ->> 'call_id') WHERE x.id = wanted;
    IF given ->> 'status' = 'pending' THEN
        RETURN;
    ELSIF given ->> 'status' = 'running' THEN
        -- One that no worker has runs elsewhere from now on.
        UPDATE work x SET status = 'running', is_claimable = x.is_claimable AND x.worker IS NOT NULL,
            started_at = coalesce(x.started_at, now()),
            deadline_at = coalesce(x.deadline_at, now() + make_interval(secs => x.timeout_seconds)),
            lease_until = CASE WHEN attempt IS NOT NULL THEN now() + lease ELSE x.lease_until END
        WHERE x.id = wanted;
        RETURN;
    END IF;
    SELECT f.state, f.fault INTO state, fault FROM result_fault(r, given) f;
    UPDATE run x SET
        result = told,
        metrics = CASE WHEN fault IS NULL OR fault ->> 'kind' = 'task' THEN nullif(given -> 'metrics', 'null') END,
        results = nullif(given -> 'results', 'null'),
        artifacts = nullif(given -> 'artifacts', 'null')
    WHERE x.id = wanted;
    PERFORM work_end(wanted, state, fault);
END $$;
