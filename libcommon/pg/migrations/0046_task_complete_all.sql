-- Complete tasks of one owner, of which each has its attempt, result and message (task/job_complete.h): all, or none. One statement
-- for many, since most of the cost of an update of `task` is the same for any number of rows: its constraints and the conditions
-- of its indexes are read anew. A lost claim is an error, so that the caller can send its COMMIT behind this without waiting.
--
-- The settings keep the plan at one lookup of the primary key for each task, also when the statistics say that the table is
-- as good as empty. A task has a lease_owner only while it runs: with a condition on `status`, Postgres would read all that run.
CREATE FUNCTION task_complete_all(ids uuid[], attempt_numbers int[], owner text, results jsonb[], messages text[])
RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
DECLARE
    completed int;
BEGIN
    UPDATE task t SET status = 'completed', progress = 100, result = ended.result, message = ended.message,
        lease_owner = NULL, lease_until = NULL, finished_at = now()
    FROM unnest(ids, attempt_numbers, results, messages) AS ended (id, attempt, result, message)
    WHERE t.id = ended.id AND t.attempts = ended.attempt AND t.lease_owner = owner;
    GET DIAGNOSTICS completed = ROW_COUNT;
    IF completed <> cardinality(ids) THEN
        RAISE 'another worker has taken a task over' USING ERRCODE = 'XO003';
    END IF;
END $$;
