-- A worker that stops gives back what it has: it is queued again at once, and the attempt is not held against it. A client that
-- follows a log learns how much of it there has been.
--
--   released    attempts that ended so
--   log_length  characters of the whole log, of which log_tail is the end
ALTER TABLE work
    ADD COLUMN released int NOT NULL DEFAULT 0 CHECK (released BETWEEN 0 AND attempts),
    ADD COLUMN log_length bigint NOT NULL DEFAULT 0;
UPDATE work SET log_length = char_length(log_tail) WHERE log_tail <> '';

-- Add to the log of work that a worker has, and extend its lease. The caller has locked the row.
CREATE FUNCTION work_continue(wanted uuid, log text, lease interval) RETURNS timestamptz LANGUAGE sql
BEGIN ATOMIC
    UPDATE work SET lease_until = now() + lease, log_tail = log_append(log_tail, log),
                    log_length = log_length + coalesce(char_length(log), 0)
    WHERE id = wanted RETURNING lease_until;
END;

-- Queue work again. It keeps its turn, so it is among the next. The caller has locked the row.
CREATE FUNCTION work_requeue(wanted uuid) RETURNS void LANGUAGE sql
BEGIN ATOMIC
    UPDATE work SET status = 'queued', worker = NULL, lease_until = NULL, deadline_at = NULL, started_at = NULL
    WHERE id = wanted;
END;

-- A worker that has the work says that it still works at it, or with `release`, that it gives it back. `outcome`: ok; ended: the
-- service has ended it, by cancelling or by its time limit; lost: it is not this attempt's any more; missing: no such work.
DROP FUNCTION work_heartbeat(uuid, text, uuid, int, text, interval);
CREATE FUNCTION work_heartbeat(wanted uuid, kind text, account uuid, attempt int, log text, release boolean, lease interval,
                               OUT outcome text, OUT until timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    w work;
BEGIN
    SELECT * INTO w FROM work x
    WHERE x.id = wanted AND x.kind = work_heartbeat.kind AND (account IS NULL OR x.account_id = account) FOR UPDATE;
    outcome := CASE
        WHEN w.id IS NULL THEN 'missing'
        WHEN w.attempts <> attempt OR w.worker IS NULL THEN 'lost'
        WHEN w.status IN ('cancelled', 'timed_out') THEN 'ended'
        WHEN w.status <> 'running' OR w.lease_until <= now() THEN 'lost'
        ELSE 'ok' END;
    IF outcome = 'ok' THEN
        until := work_continue(wanted, log, lease);
        IF release THEN
            UPDATE work x SET released = x.released + 1 WHERE x.id = wanted;
            PERFORM work_requeue(wanted);
            until := NULL;
        END IF;
    END IF;
END $$;

-- End what has taken too long, and queue again what a lost worker had, unless it was the last attempt. How many: at most 100.
CREATE OR REPLACE FUNCTION work_expire(attempts_max int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    w work;
    expired int := 0;
BEGIN
    FOR w IN SELECT * FROM work x WHERE x.status = 'running' AND least(x.lease_until, x.deadline_at) <= now()
             ORDER BY least(x.lease_until, x.deadline_at) LIMIT 100 FOR UPDATE SKIP LOCKED LOOP
        expired := expired + 1;
        IF w.deadline_at <= now() THEN
            PERFORM work_end(w.id, CASE w.kind WHEN 'run' THEN 'timed_out' ELSE 'failed' END,
                             fault_json('timeout', 'It took longer than ' || w.timeout_seconds || ' seconds.'));
        ELSIF w.attempts - w.released >= attempts_max THEN
            PERFORM work_end(w.id, 'failed', fault_json('lost',
                'The worker ' || w.worker || ' was lost; attempt ' || w.attempts || ' was the last.'));
        ELSE
            PERFORM work_requeue(w.id);
        END IF;
    END LOOP;
    RETURN expired;
END $$;

CREATE OR REPLACE FUNCTION build_json(b build, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'build_id', b.id, 'status', CASE w.status WHEN 'running' THEN 'building' ELSE w.status END, 'source', b.source,
        'repo', b.repo, 'ref', b.ref, 'arxiv_id', b.arxiv_id, 'template_id', b.template -> 'template_id',
        'image', b.image, 'digest', b.digest, 'log_tail', w.log_tail,
        'log_length', w.log_length, 'attempts', w.attempts, 'worker', w.worker,
        'created_at', time_json(w.created_at), 'started_at', time_json(w.started_at),
        'finished_at', time_json(w.finished_at), 'error', w.error)
$$;

CREATE OR REPLACE FUNCTION run_json(r run, w work) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'run_id', r.id, 'name', r.name, 'status', w.status, 'target', r.target, 'template_id', r.template_id,
        'template_version', r.template_version, 'template_digest', r.template_digest, 'build_id', r.build_id,
        'params', r.params, 'timeout_seconds', w.timeout_seconds, 'metrics', r.metrics, 'results', r.results,
        'artifacts', coalesce(r.artifacts, '[]'), 'log_tail', w.log_tail,
        'log_length', w.log_length, 'attempts', w.attempts, 'worker', w.worker,
        'created_at', time_json(w.created_at), 'started_at', time_json(w.started_at),
        'finished_at', time_json(w.finished_at), 'error', w.error)
$$;

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
