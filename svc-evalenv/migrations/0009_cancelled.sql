-- A worker that confirms a cancelling contradicts nothing: its report is taken, and changes nothing. Before, it was refused. For
-- runs and platforms, see run_result() in 0008_running.sql.

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
