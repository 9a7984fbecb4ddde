-- original-sha256: 2d500a4a836c897583230b8d6b3b018e053878f6a0c4eca892a93b490974887f
--
-- Attempts that ended because a part of the system was unavailable, or concurrent work was in the way, are counted apart
-- from those that failed by themselves or whose worker died: they may go on for a day.
--
--   interruptions  of `attempts`, those
--   attempts_max   the task is failed after that many attempts that were not interrupted
--
-- The original added the column with its default. Postgres 15.20 and 17.12 refuse that, because the SQL body of
-- task_json() uses the row type of the table.
ALTER TABLE task ADD COLUMN interruptions int;
UPDATE task SET interruptions = 0;
ALTER TABLE task
    ALTER COLUMN interruptions SET DEFAULT 0,
    ALTER COLUMN interruptions SET NOT NULL,
    ADD CONSTRAINT task_check5 CHECK (interruptions BETWEEN 0 AND attempts);

-- As before: the function returns whole rows, so it is created again when the table gets a column.
CREATE OR REPLACE FUNCTION task_start(kind text, account uuid, input jsonb, request_id text DEFAULT NULL)
RETURNS task LANGUAGE sql VOLATILE
BEGIN ATOMIC
    WITH made AS (
        INSERT INTO task (kind, account_id, input, request_id)
        VALUES ($1, $2, coalesce($3, '{}'), coalesce($4, request_id_now()))
        RETURNING *
    ), note AS (
        INSERT INTO outbox (stream, type, account_id, data, request_id)
        SELECT 'jobs', made.kind, made.account_id, jsonb_build_object('task', made.id), made.request_id FROM made
    )
    SELECT * FROM made;
END;
