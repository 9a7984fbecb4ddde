-- The first metric that the run's template declares and `metrics` lacks, or null.
CREATE OR REPLACE FUNCTION metric_missing(r run, metrics jsonb) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT declared.name
    FROM template_version v, LATERAL (
        SELECT coalesce(m.item ->> 'name', m.item #>> '{}') AS name, m.position
        FROM jsonb_array_elements(coalesce(v.spec -> 'metrics', '[]')) WITH ORDINALITY AS m (item, position)) AS declared
    WHERE v.template_id = r.template_id AND v.version = r.template_version
      AND NOT coalesce(metrics, '{}') ? declared.name
    ORDER BY declared.position LIMIT 1
$$;

-- The state and error of a run after a delivery of `status`.
CREATE OR REPLACE FUNCTION result_fault(r run, given jsonb, OUT state text, OUT fault jsonb) LANGUAGE plpgsql STABLE AS $$
DECLARE
    missing text := metric_missing(r, given -> 'metrics');
BEGIN
    state := given ->> 'status';
    fault := nullif(given -> 'error', 'null');
    IF state = 'succeeded' AND fault IS NOT NULL THEN
        state := 'failed';
    ELSIF state = 'succeeded' AND missing IS NOT NULL THEN
        state := 'failed';
        fault := fault_json('task', 'The metric ' || missing || ' was not reported.');
    END IF;
    fault := coalesce(fault, CASE state
        WHEN 'failed' THEN fault_json('task', 'The evaluation failed.')
        WHEN 'timed_out' THEN fault_json('timeout', 'It took too long.')
        WHEN 'cancelled' THEN fault_json('cancelled', 'It was cancelled where it ran.') END);
END $$;

-- Take a delivery of a result. `attempt` null: not from a worker that has claimed the run. `outcome`: ok; known: the delivery was
-- taken before; lost: the run is not this attempt's any more; final: it has ended otherwise; missing: no such run.
--
-- Numbers are kept only where the evaluation itself has run: never from a fault of the environment, a lost worker, a time limit or
-- a cancelled run.
CREATE OR REPLACE FUNCTION run_result(wanted uuid, account uuid, attempt int, given jsonb, delivery text, lease interval,
                                      OUT outcome text)
LANGUAGE plpgsql AS $$
DECLARE
    w work;
    r run;
    result_digest text := json_digest(given - 'attempt');
    state text;
    fault jsonb;
BEGIN
    SELECT * INTO w FROM work x
    WHERE x.id = wanted AND x.kind = 'run' AND (account IS NULL OR x.account_id = account) FOR UPDATE;
    SELECT * INTO r FROM run x WHERE x.id = wanted;
    outcome := CASE
        WHEN w.id IS NULL THEN 'missing'
        WHEN EXISTS (SELECT FROM delivery d WHERE d.run_id = wanted AND d.delivery_id = delivery) THEN 'known'
        WHEN attempt <> w.attempts THEN 'lost'
        WHEN w.finished_at IS NOT NULL AND r.result IN (result_digest, json_digest(given)) THEN 'ok'
        WHEN w.status = 'cancelled' AND given ->> 'status' = 'cancelled' THEN 'ok'
        WHEN w.finished_at IS NOT NULL THEN 'final'
        WHEN attempt IS NOT NULL AND (w.worker IS NULL OR w.status <> 'running') THEN 'lost' END;
    IF outcome IS NOT NULL THEN
        RETURN;
    END IF;
    outcome := 'ok';
    IF delivery IS NOT NULL THEN
        INSERT INTO delivery (account_id, delivery_id, run_id) VALUES (w.account_id, delivery, wanted);
    END IF;
    -- A call that evaluates several runs is the name of the first: the others are found by their own ids.
    BEGIN
        UPDATE run x SET call_id = given ->> 'call_id' WHERE x.id = wanted AND x.call_id IS NULL AND given ? 'call_id';
    EXCEPTION WHEN unique_violation THEN
        NULL;
    END;
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
    UPDATE run x SET result = result_digest WHERE x.id = wanted;
    PERFORM run_store(wanted, NULL,
                      CASE WHEN fault IS NULL OR fault ->> 'kind' = 'task' THEN nullif(given -> 'metrics', 'null') END,
                      nullif(given -> 'results', 'null'), nullif(given -> 'artifacts', 'null'));
    PERFORM work_end(wanted, state, fault);
END $$;
