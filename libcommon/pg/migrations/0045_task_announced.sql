-- A task no longer passes through the outbox. A notice goes to the client that has written it, which wakes a worker after the
-- commit (task/announce.h); a worker finds a task without that at its next look.
--
-- The functions are in PL/pgSQL now, which keeps their plans: those of an SQL function with its own statements are made anew for
-- each call.
DELETE FROM outbox WHERE stream = 'jobs';

-- The turn of a task of the account that is queued now. With ORDER BY and LIMIT, and without sequential scans, each look reads one
-- row of an index, also when the statistics say that the table is as good as empty; max() and min() read all tasks that wait then.
CREATE OR REPLACE FUNCTION task_turn(kind text, account uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off AS $$
BEGIN
    RETURN greatest(
        (SELECT t.turn + 1 FROM task t
         WHERE t.kind = $1 AND coalesce(t.account_id, '00000000-0000-0000-0000-000000000000')
               = coalesce($2, '00000000-0000-0000-0000-000000000000') AND t.status = 'pending' AND t.turn IS NOT NULL
         ORDER BY t.turn DESC LIMIT 1),
        (SELECT t.turn FROM task t WHERE t.kind = $1 AND t.status = 'pending' AND t.turn IS NOT NULL ORDER BY t.turn LIMIT 1),
        0);
END $$;

-- Queue a task, or return the equal one (same account, kind and input) that waits for its first attempt. With `pending_max`,
-- violates the constraint task_pending_max when so many of the account wait.
CREATE OR REPLACE FUNCTION task_put(kind text, account uuid, input jsonb, request_id text, pending_max int)
RETURNS task LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    new_id  uuid := uuid_v7();
    content jsonb := coalesce($3, '{}');
    content_md5 uuid := md5(content::text)::uuid;
    made    task;
BEGIN
    IF $5 IS NOT NULL
        AND NOT EXISTS (SELECT FROM task t WHERE t.account_id = $2 AND t.kind = $1 AND t.input_md5 = content_md5
                          AND t.status = 'pending' AND t.attempts = 0)
        AND (SELECT count(*) FROM (SELECT FROM task t WHERE t.account_id = $2 AND t.status = 'pending' AND t.attempts = 0
                                     AND t.input_md5 IS NOT NULL LIMIT $5) AS waiting) >= $5 THEN
        RAISE unique_violation USING MESSAGE = 'too many tasks of the account are pending', CONSTRAINT = 'task_pending_max';
    END IF;
    INSERT INTO task (id, kind, account_id, input, input_md5, request_id, turn)
    VALUES (new_id, $1, $2, content, content_md5, coalesce($4, request_id_now()), task_turn($1, $2))
    ON CONFLICT (account_id, kind, input_md5) WHERE status = 'pending' AND attempts = 0 AND input_md5 IS NOT NULL
    DO UPDATE SET turn = task.turn
    RETURNING * INTO made;
    IF made.id = new_id THEN
        RAISE NOTICE 'a task waits' USING ERRCODE = 'XO002';
    END IF;
    RETURN made;
END $$;

CREATE OR REPLACE FUNCTION task_start(kind text, account uuid, input jsonb, request_id text DEFAULT NULL)
RETURNS task LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN task_put($1, $2, $3, $4, (SELECT l.pending_max FROM task_limit l));
END $$;

-- task_refuse() has no use any more; it goes when no process calls the former task_put().
