-- Fewer statements inside the functions that each new row runs. Setting one up takes longer than what it does, and a request that
-- makes a row with a task ran twelve.

-- A trigger that requires an account needs one look-up: a deletion changes the row that it locks alone, so whoever has waited
-- for that lock sees the change, which no snapshot from before the wait would show in deleted_account.
--
--   is_deleted  the account is in deleted_account
ALTER TABLE account_guard ADD COLUMN is_deleted boolean NOT NULL DEFAULT false;

CREATE FUNCTION account_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO account_guard (id, is_deleted) VALUES (NEW.id, true) ON CONFLICT (id) DO UPDATE SET is_deleted = true;
    RETURN NULL;
END $$;

CREATE TRIGGER account_deleted AFTER INSERT ON deleted_account FOR EACH ROW EXECUTE FUNCTION account_deleted();

INSERT INTO account_guard (id, is_deleted) SELECT id, true FROM deleted_account ON CONFLICT (id) DO UPDATE SET is_deleted = true;

-- Share the account's lock until the transaction ends. False: the account was deleted.
CREATE FUNCTION account_share(account uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM account_guard g WHERE g.id = account AND NOT g.is_deleted FOR KEY SHARE;
    IF FOUND THEN
        RETURN true;
    END IF;
    PERFORM account_lock(account, false);
    RETURN NOT EXISTS (SELECT FROM deleted_account d WHERE d.id = account);
END $$;

-- BEFORE INSERT: refuse rows of a deleted account.
CREATE OR REPLACE FUNCTION account_required() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT account_share(NEW.account_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the account was deleted', CONSTRAINT = 'account_required';
    END IF;
    RETURN NEW;
END $$;

-- BEFORE INSERT: leave out rows of a deleted account, where what is told of it late is no mistake.
CREATE OR REPLACE FUNCTION account_skipped() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RETURN CASE WHEN account_share(NEW.account_id) THEN NEW END;
END $$;

-- As before; the second look is needed only where the first finds nothing.
CREATE OR REPLACE FUNCTION task_turn(kind text, account uuid) RETURNS bigint LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off AS $$
BEGIN
    RETURN coalesce(
        (SELECT t.turn + 1 FROM task t
         WHERE t.kind = $1 AND coalesce(t.account_id, '00000000-0000-0000-0000-000000000000')
               = coalesce($2, '00000000-0000-0000-0000-000000000000') AND t.status = 'pending' AND t.turn IS NOT NULL
         ORDER BY t.turn DESC LIMIT 1),
        (SELECT t.turn FROM task t WHERE t.kind = $1 AND t.status = 'pending' AND t.turn IS NOT NULL ORDER BY t.turn LIMIT 1),
        0);
END $$;

-- Queue tasks with these ids, or return the equal ones, as task_put() does, without the notice: each is sent to the client at
-- once, which took a tenth of the statement that makes an interest, and wakes the client before its answer. For statements of this
-- schema that tell of the tasks in their result (pg_on_notices() in pg/pg.h). The inputs must differ from each other.
--
-- Each task draws a number. The tasks that waited are counted before those of the call are there, so the count is noted with the
-- first of the numbers, and the others raise the estimate as later calls do (0048_task_waiting.sql).
CREATE FUNCTION task_insert(new_ids uuid[], kind text, account uuid, inputs jsonb[], request_ids text[], pending_max int)
RETURNS SETOF task LANGUAGE plpgsql VOLATILE SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    added   int := cardinality($1);
    put     bigint := nextval('task_put_number');
    counted int;
BEGIN
    FOR i IN 2..added LOOP
        PERFORM nextval('task_put_number');
    END LOOP;
    IF $6 IS NOT NULL AND NOT EXISTS (SELECT FROM account_guard g WHERE g.id = $3 AND g.waiting_put < put
                                        AND g.waiting + put - g.waiting_put + added - 1 < $6) THEN
        counted := (SELECT count(*) FROM (SELECT FROM task t WHERE t.account_id = $3 AND t.status = 'pending' AND t.attempts = 0
                                            AND t.input_md5 IS NOT NULL LIMIT $6) AS of_account);
        IF counted + added <= $6 THEN
            IF counted >= 32 THEN
                UPDATE account_guard g SET waiting = counted, waiting_put = put
                FROM (SELECT id FROM account_guard WHERE id = $3 FOR NO KEY UPDATE SKIP LOCKED) AS free WHERE g.id = free.id;
            END IF;
        ELSIF EXISTS (SELECT FROM unnest($4) AS i (input)
                      WHERE NOT EXISTS (SELECT FROM task t WHERE t.account_id = $3 AND t.kind = $2 AND t.input_md5 = md5(i.input::text)::uuid
                                          AND t.status = 'pending' AND t.attempts = 0)) THEN
            RAISE unique_violation USING MESSAGE = 'too many tasks of the account are pending', CONSTRAINT = 'task_pending_max';
        END IF;
    END IF;
    RETURN QUERY
    INSERT INTO task (id, kind, account_id, input, input_md5, request_id, turn)
    SELECT w.id, $2, $3, w.input, md5(w.input::text)::uuid, coalesce(w.request_id, request_id_now()), first.turn + w.n - 1
    FROM task_turn($2, $3) AS first (turn), unnest($1, $4, $5) WITH ORDINALITY AS w (id, input, request_id, n)
    ON CONFLICT (account_id, kind, input_md5) WHERE status = 'pending' AND attempts = 0 AND input_md5 IS NOT NULL
    DO UPDATE SET turn = task.turn
    RETURNING *;
END $$;

CREATE OR REPLACE FUNCTION task_put(kind text, account uuid, input jsonb, request_id text, pending_max int)
RETURNS task LANGUAGE plpgsql VOLATILE SET search_path FROM CURRENT AS $$
DECLARE
    new_id uuid := uuid_v7();
    made   task;
BEGIN
    SELECT * INTO made FROM task_insert(ARRAY[new_id], $1, $2, ARRAY[coalesce($3, '{}')], ARRAY[$4], $5);
    IF made.id = new_id THEN
        RAISE NOTICE 'a task waits' USING ERRCODE = 'XO002';
    END IF;
    RETURN made;
END $$;
