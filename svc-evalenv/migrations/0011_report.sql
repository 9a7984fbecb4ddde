-- A report of a build may come from outside, as a result of a run may: it names no attempt, and any build that is not final takes
-- it. Before, only a worker that had claimed the build could report it.

-- Take a report of a build. `attempt` null: not from a worker that has claimed it. `outcome`: ok; lost: the work is not this
-- attempt's any more; final: it has ended otherwise; missing.
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
        WHEN w.attempts = coalesce(attempt, w.attempts) AND w.finished_at IS NOT NULL
             AND told = (SELECT b.report FROM build b WHERE b.id = wanted) THEN 'ok'
        WHEN w.attempts = coalesce(attempt, w.attempts) AND w.status = 'cancelled' AND state = 'cancelled' THEN 'ok'
        WHEN w.finished_at IS NOT NULL THEN 'final'
        WHEN attempt IS NOT NULL AND (w.attempts <> attempt OR w.status <> 'running' OR w.lease_until <= now()) THEN 'lost'
        ELSE 'new' END;
    IF outcome <> 'new' THEN
        RETURN;
    END IF;
    outcome := 'ok';
    IF attempt IS NOT NULL THEN
        PERFORM work_continue(wanted, given ->> 'log', lease);
    ELSE
        -- One that no worker has is built elsewhere from now on.
        UPDATE work x SET status = 'running', is_claimable = x.is_claimable AND x.worker IS NOT NULL,
            started_at = coalesce(x.started_at, now()),
            deadline_at = coalesce(x.deadline_at, now() + make_interval(secs => x.timeout_seconds)),
            log_tail = log_append(x.log_tail, given ->> 'log'),
            log_length = x.log_length + coalesce(char_length(given ->> 'log'), 0)
        WHERE x.id = wanted;
    END IF;
    IF state = 'building' THEN
        RETURN;
    END IF;
    UPDATE build b SET report = told, image = CASE state WHEN 'succeeded' THEN given ->> 'image' END,
                       digest = CASE state WHEN 'succeeded' THEN given ->> 'digest' END WHERE b.id = wanted;
    PERFORM work_end(wanted, state, CASE state
        WHEN 'failed' THEN coalesce(nullif(given -> 'error', 'null'), fault_json('environment', 'The image was not built.'))
        WHEN 'cancelled' THEN fault_json('cancelled', 'The worker cancelled it.') END);
END $$;
