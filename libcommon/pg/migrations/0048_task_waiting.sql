-- The limit of waiting tasks without a count of them for each task. Every put draws a number. A put that counts the waiting tasks
-- of its account notes the result and its number; until that count and the numbers drawn since, by any account, reach the limit,
-- the account cannot have reached it either. A number whose put was rolled back, or returned an equal task, only brings the next
-- count forward, as do tasks that have been claimed since.
--
-- As before, a count does not see what other transactions have not committed: an account can exceed the limit by the tasks of
-- those that run at the same time.
--
--   waiting       tasks that waited for their first attempt when they were last counted; null: never
--   waiting_put   the number of the put that counted them
CREATE SEQUENCE task_put_number;
ALTER TABLE account_guard ADD COLUMN waiting int, ADD COLUMN waiting_put bigint;

-- Queue a task, or return the equal one (same account, kind and input) that waits for its first attempt. With `pending_max`,
-- violates the constraint task_pending_max when so many of the account wait.
--
-- The number is drawn before the count: what others put and commit in between may be counted twice, but is never missed. A
-- count that stopped at the limit is not noted, because the limit may be raised. Few tasks are counted faster than noted. Nobody
-- waits for the row of account_guard: who does not get its lock leaves it as it is.
CREATE OR REPLACE FUNCTION task_put(kind text, account uuid, input jsonb, request_id text, pending_max int)
RETURNS task LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    new_id  uuid := uuid_v7();
    content jsonb := coalesce($3, '{}');
    content_md5 uuid := md5(content::text)::uuid;
    put     bigint := nextval('task_put_number');
    counted int;
    made    task;
BEGIN
    IF $5 IS NOT NULL AND NOT EXISTS (SELECT FROM account_guard g WHERE g.id = $2 AND g.waiting_put < put
                                        AND g.waiting + put - g.waiting_put < $5) THEN
        counted := (SELECT count(*) FROM (SELECT FROM task t WHERE t.account_id = $2 AND t.status = 'pending' AND t.attempts = 0
                                            AND t.input_md5 IS NOT NULL LIMIT $5) AS of_account);
        IF counted < $5 THEN
            IF counted >= 32 THEN
                UPDATE account_guard g SET waiting = counted, waiting_put = put
                FROM (SELECT id FROM account_guard WHERE id = $2 FOR NO KEY UPDATE SKIP LOCKED) AS free WHERE g.id = free.id;
            END IF;
        ELSIF NOT EXISTS (SELECT FROM task t WHERE t.account_id = $2 AND t.kind = $1 AND t.input_md5 = content_md5
                            AND t.status = 'pending' AND t.attempts = 0) THEN
            RAISE unique_violation USING MESSAGE = 'too many tasks of the account are pending', CONSTRAINT = 'task_pending_max';
        END IF;
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
