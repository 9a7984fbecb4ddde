-- What builds and runs have in common: they wait in a queue until a worker claims them.
--
--   kind         build or run; the table of that name has the rest
--   status       queued -> running -> succeeded | failed | cancelled | timed_out; running -> queued when the worker was lost.
--                Every final state is final
--   is_claimable by workers; not a run that waits for its build, or that a hosted platform runs
--   repo         that it concerns, for keys that are limited to a repository; null: none
--   turn         its place in the queue, see work_turn()
--   attempts     begun so far. The number of the running one is the worker's proof that the work is still its own
--   lease_until  while a worker has it: when others may take it over
--   deadline_at  while running: when it has taken too long
--   log_tail     the end of what the worker has told of its output
--   error        {"kind", "message"}, kind environment, task, timeout, cancelled or lost; null unless it has failed
CREATE TABLE work (
    id              uuid PRIMARY KEY,
    kind            text NOT NULL CHECK (kind IN ('build', 'run')),
    account_id      uuid NOT NULL,
    status          text NOT NULL DEFAULT 'queued'
                    CHECK (status IN ('queued', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out')),
    is_claimable    boolean NOT NULL DEFAULT true,
    repo            text,
    turn            bigint NOT NULL DEFAULT 0,
    attempts        int NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    worker          text,
    lease_until     timestamptz,
    timeout_seconds int NOT NULL CHECK (timeout_seconds > 0),
    deadline_at     timestamptz,
    log_tail        text NOT NULL DEFAULT '' CHECK (char_length(log_tail) <= 16384),
    error           jsonb,
    request_id      text DEFAULT request_id_now(),
    created_at      timestamptz NOT NULL DEFAULT now(),
    started_at      timestamptz,
    finished_at     timestamptz,
    CHECK (lease_until IS NULL OR status = 'running'),
    CHECK ((status = 'running') = (deadline_at IS NOT NULL)),
    CHECK ((status IN ('succeeded', 'failed', 'cancelled', 'timed_out')) = (finished_at IS NOT NULL))
);

CREATE INDEX work_queued ON work (kind, turn, id) WHERE status = 'queued' AND is_claimable;
CREATE INDEX work_queued_of_account ON work (kind, account_id, turn, id) WHERE status = 'queued' AND is_claimable;
CREATE INDEX work_running ON work (least(lease_until, deadline_at)) WHERE status = 'running';
CREATE INDEX work_account ON work (account_id, kind, id);

CREATE INDEX work_unfinished ON work (account_id, kind) WHERE finished_at IS NULL;

CREATE TRIGGER account_required BEFORE INSERT ON work FOR EACH ROW EXECUTE FUNCTION account_required();

-- An account may have as many unfinished builds, and runs, as tasks that wait (TASKS_PENDING_MAX). One more violates the constraint
-- work_pending_max.
CREATE FUNCTION work_bound() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    most int := (SELECT pending_max FROM task_limit);
BEGIN
    IF (SELECT count(*) FROM (SELECT FROM work w WHERE w.account_id = NEW.account_id AND w.kind = NEW.kind
                                AND w.finished_at IS NULL LIMIT most) AS unfinished) >= most THEN
        RAISE unique_violation USING MESSAGE = 'too much work of the account is unfinished', CONSTRAINT = 'work_pending_max';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER work_bound BEFORE INSERT ON work FOR EACH ROW WHEN (NEW.finished_at IS NULL) EXECUTE FUNCTION work_bound();

-- The turn of work that is queued now, by start-time fair queueing (Goyal, Vin and Cheng, 1996), as task_turn() has it: the next of
-- an account gets the turn after its last one, and the first gets the turn that is claimed now. So each account has its next
-- within one turn of the front, however many the others have queued.
CREATE FUNCTION work_turn(kind text, account uuid) RETURNS bigint LANGUAGE sql STABLE
RETURN greatest(
    (SELECT max(w.turn) + 1 FROM work w
     WHERE w.kind = $1 AND w.account_id = $2 AND w.status = 'queued' AND w.is_claimable),
    (SELECT min(w.turn) FROM work w WHERE w.kind = $1 AND w.status = 'queued' AND w.is_claimable),
    0);

-- Wake the workers that wait for work, on every replica, when the transaction commits (queue/wakeup.h).
CREATE FUNCTION work_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('evalenv_work', NEW.kind || ' ' || NEW.account_id);
    RETURN NULL;
END $$;
CREATE TRIGGER work_queued AFTER INSERT ON work FOR EACH ROW
WHEN (NEW.status = 'queued' AND NEW.is_claimable) EXECUTE FUNCTION work_notify();
CREATE TRIGGER work_queued_again AFTER UPDATE OF status, is_claimable ON work FOR EACH ROW
WHEN (NEW.status = 'queued' AND NEW.is_claimable) EXECUTE FUNCTION work_notify();

-- Give the next work to a worker: of one account, or of all (NULL); of one repository, or of all (NULL). No row: none waits.
CREATE FUNCTION work_claim(kind text, account uuid, repo text, worker text, lease interval) RETURNS SETOF work
LANGUAGE plpgsql AS $$
DECLARE
    next uuid;
BEGIN
    IF account IS NULL THEN
        SELECT w.id INTO next FROM work w
        WHERE w.kind = work_claim.kind AND w.status = 'queued' AND w.is_claimable
          AND (work_claim.repo IS NULL OR lower(w.repo) = lower(work_claim.repo))
        ORDER BY w.turn, w.id LIMIT 1 FOR UPDATE SKIP LOCKED;
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
CREATE FUNCTION log_append(log text, more text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN more IS NULL THEN log ELSE right(log || right(more, 16384), 16384) END;

-- A worker that has the work says that it still works at it. `outcome`: ok; ended: the service has ended it, by cancelling or by
-- its time limit; lost: it is not this attempt's any more; missing: no such work.
CREATE FUNCTION work_heartbeat(wanted uuid, kind text, account uuid, attempt int, log text, lease interval,
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
        UPDATE work x SET lease_until = now() + lease, log_tail = log_append(x.log_tail, log)
        WHERE x.id = wanted RETURNING x.lease_until INTO until;
    END IF;
END $$;

-- End work that is not final. The caller has locked its row.
CREATE FUNCTION work_end(wanted uuid, state text, fault jsonb) RETURNS void LANGUAGE sql
BEGIN ATOMIC
    UPDATE work SET status = state, error = fault, lease_until = NULL, deadline_at = NULL, finished_at = now()
    WHERE id = wanted AND finished_at IS NULL;
END;

CREATE FUNCTION fault_json(kind text, message text) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN jsonb_build_object('kind', kind, 'message', message);

-- End what has taken too long, and queue again what a lost worker had, unless it was the last attempt. It keeps its turn, so it
-- is among the next. How many: at most 100.
CREATE FUNCTION work_expire(attempts_max int) RETURNS int LANGUAGE plpgsql AS $$
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
        ELSIF w.attempts >= attempts_max THEN
            PERFORM work_end(w.id, 'failed', fault_json('lost',
                'The worker ' || w.worker || ' was lost; attempt ' || w.attempts || ' was the last.'));
        ELSE
            UPDATE work x SET status = 'queued', worker = NULL, lease_until = NULL, deadline_at = NULL, started_at = NULL
            WHERE x.id = w.id;
        END IF;
    END LOOP;
    RETURN expired;
END $$;

-- End work for its account. `outcome`: ok; final: it has ended before; missing.
CREATE FUNCTION work_cancel(wanted uuid, kind text, account uuid, OUT outcome text) LANGUAGE plpgsql AS $$
DECLARE
    w work;
BEGIN
    SELECT * INTO w FROM work x WHERE x.id = wanted AND x.kind = work_cancel.kind AND x.account_id = account FOR UPDATE;
    outcome := CASE WHEN w.id IS NULL THEN 'missing' WHEN w.finished_at IS NOT NULL THEN 'final' ELSE 'ok' END;
    IF outcome = 'ok' THEN
        PERFORM work_end(wanted, 'cancelled', fault_json('cancelled', 'It was cancelled.'));
    END IF;
END $$;
