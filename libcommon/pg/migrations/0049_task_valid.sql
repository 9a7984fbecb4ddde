-- The rules of a task as one constraint. Postgres parses and plans the text of each CHECK anew in each statement that writes rows:
-- for the twelve of `task` that took a sixth of the statement that makes an interest and its task. A call of a function in
-- PL/pgSQL is short, and its plan is kept. The rows that exist obey the former constraints, so none is read.
CREATE FUNCTION task_is_valid(t task) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN t.kind <> ''
       AND t.status IN ('pending', 'running', 'completed', 'failed', 'cancelled')
       AND t.progress BETWEEN 0 AND 100
       AND jsonb_typeof(t.input) = 'object'
       AND (t.result IS NULL OR t.status = 'completed')
       AND (t.error IS NULL OR t.status = 'failed')
       AND t.attempts >= 0 AND t.attempts_max > 0
       AND t.interruptions BETWEEN 0 AND t.attempts
       AND (t.status = 'running') = (t.lease_until IS NOT NULL)
       AND (t.status = 'running') = (t.lease_owner IS NOT NULL)
       AND (t.status IN ('completed', 'failed', 'cancelled')) = (t.finished_at IS NOT NULL);
END $$;

ALTER TABLE task
    DROP CONSTRAINT task_kind_check,
    DROP CONSTRAINT task_status_check,
    DROP CONSTRAINT task_progress_check,
    DROP CONSTRAINT task_input_check,
    DROP CONSTRAINT task_check,
    DROP CONSTRAINT task_check1,
    DROP CONSTRAINT task_check2,
    DROP CONSTRAINT task_check3,
    DROP CONSTRAINT task_check4,
    DROP CONSTRAINT task_check5,
    DROP CONSTRAINT task_attempts_check,
    DROP CONSTRAINT task_attempts_max_check,
    ADD CONSTRAINT task_valid CHECK (task_is_valid(task)) NOT VALID;
