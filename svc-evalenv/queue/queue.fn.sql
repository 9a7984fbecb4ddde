-- The queue: builds and runs wait in it until a worker claims them (queue/queue.h).

-- The turn of work that is queued now, by start-time fair queueing (Goyal, Vin and Cheng, 1996), as task_turn() has it: the next of
-- an account gets the turn after its last one, and the first gets the turn that is claimed now. So each account has its next
-- within one turn of the front, however many the others have queued.
CREATE OR REPLACE FUNCTION work_turn(kind text, account uuid) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN RETURN greatest(
    (SELECT max(w.turn) + 1 FROM work w
     WHERE w.kind = $1 AND w.account_id = $2 AND w.status = 'queued' AND w.is_claimable),
    (SELECT min(w.turn) FROM work w WHERE w.kind = $1 AND w.status = 'queued' AND w.is_claimable),
    0);
END $$;

-- Wake the workers that wait for work, on every replica, when the transaction commits (queue/wakeup.h).
CREATE OR REPLACE FUNCTION work_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('evalenv_work', NEW.kind || ' ' || NEW.account_id);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER work_queued AFTER INSERT ON work FOR EACH ROW
WHEN (NEW.status = 'queued' AND NEW.is_claimable) EXECUTE FUNCTION work_notify();
CREATE OR REPLACE TRIGGER work_queued_again AFTER UPDATE OF status, is_claimable ON work FOR EACH ROW
WHEN (NEW.status = 'queued' AND NEW.is_claimable) EXECUTE FUNCTION work_notify();

-- Choose the next work of all accounts, and lock it: that of the account of which workers have the fewest, then by turn. Work may take
-- days, so turns alone would give one account all workers that were free. Only the first of the queue are looked at: by their turns,
-- those are of all accounts. An account of which workers have `shared_max` gets no more of them, 0: it does; claims then wait for each
-- other, because those that run at once do not see what the others take.
CREATE OR REPLACE FUNCTION work_choose_of_all(kind text, repo text, shared_max int) RETURNS uuid LANGUAGE plpgsql AS $$
BEGIN
    IF shared_max > 0 THEN
        PERFORM FROM work_watch FOR UPDATE;
    END IF;
    RETURN (
        WITH front AS MATERIALIZED (
            SELECT w.id, w.account_id, w.turn FROM work w
            WHERE w.kind = $1 AND w.status = 'queued' AND w.is_claimable AND ($2 IS NULL OR lower(w.repo) = lower($2))
            ORDER BY w.turn, w.id LIMIT 200
        ), held AS MATERIALIZED (
            SELECT w.account_id, count(*) AS works FROM work w
            WHERE w.kind = $1 AND w.status = 'running' AND w.worker IS NOT NULL GROUP BY 1
        ), ranked AS MATERIALIZED (
            SELECT f.id, f.turn, coalesce(h.works, 0) AS works FROM front f LEFT JOIN held h USING (account_id)
            WHERE shared_max = 0 OR coalesce(h.works, 0) < shared_max
        )
        SELECT locked.id
        FROM (SELECT r.id FROM ranked r ORDER BY r.works, r.turn, r.id) AS first
        CROSS JOIN LATERAL (SELECT w.id FROM work w
                            WHERE w.id = first.id AND w.status = 'queued' AND w.is_claimable FOR UPDATE SKIP LOCKED) AS locked
        LIMIT 1);
END $$;

-- Give the next work to a worker: of one account, or of all (NULL); of one repository, or of all (NULL). No row: none waits.
CREATE OR REPLACE FUNCTION work_claim(kind text, account uuid, repo text, worker text, lease interval, shared_max int)
RETURNS SETOF work LANGUAGE plpgsql AS $$
DECLARE
    next uuid;
BEGIN
    IF account IS NULL THEN
        next := work_choose_of_all(kind, repo, shared_max);
    ELSE
        SELECT w.id INTO next FROM work w
        WHERE w.kind = work_claim.kind AND w.account_id = account AND w.status = 'queued' AND w.is_claimable
          AND (work_claim.repo IS NULL OR lower(w.repo) = lower(work_claim.repo))
        ORDER BY w.turn, w.id LIMIT 1 FOR UPDATE SKIP LOCKED;
    END IF;
    RETURN QUERY UPDATE work w SET
        status = 'running', attempts = w.attempts + 1, worker = work_claim.worker, lease_until = now() + lease,
        started_at = now(), deadline_at = now() + make_interval(secs => w.timeout_seconds)
    WHERE w.id = next RETURNING w.*;
END $$;

-- The end of a log with more behind it.
CREATE OR REPLACE FUNCTION log_append(log text, more text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN more IS NULL THEN log ELSE right(log || right(more, 16384), 16384) END;

-- Add to the log of work. The caller has locked its row.
CREATE OR REPLACE FUNCTION log_add(wanted uuid, more text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO work_log AS l (work_id, tail) SELECT wanted, log_append('', more) WHERE more <> ''
    ON CONFLICT (work_id) DO UPDATE SET tail = log_append(l.tail, more);
    UPDATE work SET log_length = log_length + char_length(more) WHERE id = wanted AND more <> '';
END $$;

CREATE OR REPLACE FUNCTION log_tail(wanted uuid) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((SELECT tail FROM work_log WHERE work_id = wanted), '');
END $$;

-- Add to the log of work that a worker has, and extend its lease. The caller has locked the row.
CREATE OR REPLACE FUNCTION work_continue(wanted uuid, log text, lease interval) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    until timestamptz;
BEGIN
    PERFORM log_add(wanted, log);
    UPDATE work SET lease_until = now() + lease WHERE id = wanted RETURNING lease_until INTO until;
    RETURN until;
END $$;

-- The error of work that has failed.
CREATE OR REPLACE FUNCTION fault_json(kind text, message text) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN jsonb_build_object('kind', kind, 'message', message);

-- End work that is not final. The caller has locked its row.
CREATE OR REPLACE FUNCTION work_end(wanted uuid, state text, fault jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE work SET status = state, error = fault, lease_until = NULL, deadline_at = NULL, finished_at = now()
    WHERE id = wanted AND finished_at IS NULL;
END $$;

-- Queue work again. It keeps its turn, so it is among the next. The caller has locked the row.
CREATE OR REPLACE FUNCTION work_requeue(wanted uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE work SET status = 'queued', worker = NULL, lease_until = NULL, deadline_at = NULL, started_at = NULL
    WHERE id = wanted;
END $$;

-- A worker that has the work says that it still works at it, or with `release`, that it gives it back. `outcome`: ok; ended: the
-- service has ended it, by cancelling or by its time limit; lost: it is not this attempt's any more; missing: no such work.
--
-- A worker whose lease has ended has the work until somebody has queued it again: with the row locked, that is known. Work that no worker
-- has is nobody's attempt: a worker cannot take it back by a late report.
CREATE OR REPLACE FUNCTION work_heartbeat(wanted uuid, kind text, account uuid, attempt int, log text, release boolean, lease interval,
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
        WHEN w.status <> 'running' THEN 'lost'
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

-- Note that the leases are looked at. If nobody has done so for half a lease, as the service or Postgres was away, workers could not say
-- that they work: for one lease more, all that they had stays theirs. How it went for others does not matter: the first may be heard of
-- before this. Passes are a second apart, and after failures a few: leases of a few seconds are not held for that.
CREATE OR REPLACE FUNCTION work_resume(lease interval) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    gap interval := greatest(lease / 2, interval '5 seconds');
BEGIN
    UPDATE work_watch w SET seen_at = now()
    WHERE w.seen_at BETWEEN now() - gap AND now() - gap / 4;
    UPDATE work_watch w SET seen_at = now(), resumed_at = now(), held_until = now() + lease
    WHERE w.seen_at NOT BETWEEN now() - gap AND now() + gap; -- also when the clock was set back
END $$;

-- End what has taken too long, and queue again what a lost worker had, unless it was the last attempt.
-- Returns how many: at most 100.
CREATE OR REPLACE FUNCTION work_expire(attempts_max int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    resumed_at timestamptz := (SELECT h.resumed_at FROM work_watch h WHERE h.held_until > now());
    w work;
    expired int := 0;
BEGIN
    FOR w IN SELECT * FROM work x WHERE x.status = 'running' AND least(x.lease_until, x.deadline_at) <= now()
                                    AND (x.started_at <= resumed_at) IS NOT TRUE
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

-- The same, by a process that looks at the leases all the time. In one transaction: else it could have been away in between.
CREATE OR REPLACE FUNCTION work_pass(lease interval, attempts_max int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    PERFORM work_resume(lease);
    RETURN work_expire(attempts_max);
END $$;

-- End work for its account. `outcome`: ok; final: it has ended before; missing.
CREATE OR REPLACE FUNCTION work_cancel(wanted uuid, kind text, account uuid, OUT outcome text) LANGUAGE plpgsql AS $$
DECLARE
    w work;
BEGIN
    SELECT * INTO w FROM work x WHERE x.id = wanted AND x.kind = work_cancel.kind AND x.account_id = account FOR UPDATE;
    outcome := CASE WHEN w.id IS NULL THEN 'missing' WHEN w.finished_at IS NOT NULL THEN 'final' ELSE 'ok' END;
    IF outcome = 'ok' THEN
        PERFORM work_end(wanted, 'cancelled', fault_json('cancelled', 'It was cancelled.'));
    END IF;
END $$;
