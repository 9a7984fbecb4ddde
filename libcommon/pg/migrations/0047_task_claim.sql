-- Claiming tasks, with a plan that is made once and that looks up what it needs in an index, whatever the statistics say of a table
-- that is filled and emptied all the time.

-- Claim up to `wanted` tasks of the kinds, each with the number of attempts that it has at most, for an owner.
--
-- Of each kind the first of the queue are candidates, more than are claimed, because others may be claiming some; those of the
-- accounts with the fewest running tasks come first, then the lowest turns: among the tasks of an account the running ones count
-- before its candidates. Tasks that another worker claims at the same time are skipped.
--
-- A claim need not be durable: when Postgres crashes and forgets it, the task is pending again, and what the owner then commits
-- for it matches no row or is the only outcome. So the commit does not wait for the disk.
--
-- The attempt's number and the lease owner identify the claim: once another worker has claimed the task, updates of the former
-- worker match no row.
CREATE FUNCTION task_claim(kinds text[], kinds_attempts_max int[], owner text, lease_ms float8, wanted int)
RETURNS TABLE (id uuid, kind text, attempts int, interruptions int, account_id uuid, input jsonb, request_id text)
LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    RETURN QUERY
    WITH waiting AS (
        SELECT front.id, runnable.attempts_max, front.account_id, front.turn - min(front.turn) OVER (PARTITION BY runnable.kind) AS distance
        FROM unnest(kinds, kinds_attempts_max) AS runnable (kind, attempts_max)
        CROSS JOIN LATERAL (SELECT t.id, t.account_id, t.turn FROM task t
            WHERE t.kind = runnable.kind AND t.status = 'pending' AND t.turn IS NOT NULL
            ORDER BY t.turn, t.id LIMIT 64 + 2 * wanted) AS front
    ), ranked AS MATERIALIZED (
        SELECT seen.id, seen.attempts_max, seen.distance,
            row_number() OVER (PARTITION BY seen.account_id ORDER BY seen.distance, seen.id) AS share
        FROM (SELECT w.id, w.attempts_max, w.account_id, w.distance FROM waiting w
            UNION ALL SELECT NULL, NULL, t.account_id, -1 FROM task t WHERE t.status = 'running') AS seen
    ), chosen AS MATERIALIZED (
        SELECT locked.id, first.attempts_max
        FROM (SELECT * FROM ranked r WHERE r.id IS NOT NULL ORDER BY r.share, r.distance, r.id) AS first
        CROSS JOIN LATERAL (SELECT t.id FROM task t WHERE t.id = first.id AND t.turn IS NOT NULL FOR UPDATE SKIP LOCKED) AS locked
        LIMIT wanted
    )
    UPDATE task t SET status = 'running', turn = NULL, attempts = t.attempts + 1, attempts_max = chosen.attempts_max,
        lease_owner = owner, lease_until = clock_timestamp() + make_interval(secs => lease_ms / 1000),
        started_at = coalesce(t.started_at, now()), message = NULL
    FROM chosen WHERE t.id = chosen.id
    RETURNING t.id, t.kind, t.attempts, t.interruptions, t.account_id, t.input, t.request_id;
END $$;
