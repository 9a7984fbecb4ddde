-- name: schedules_run
-- $1 agents: start those of so many whose time has come. How many.
SELECT schedules_run($1::int);

-- name: scheduled_run_load (read)
-- $1 interest: its provisioning, why the agent starts nothing (NULL: it does), and whether only because it is being provisioned. No row:
-- there is none.
SELECT to_jsonb(p) AS provisioning, agent_obstacle(p, i) AS obstacle,
       i.is_active AND i.agent_paused_at IS NULL AND provision_state(p) = 'in_progress' AS is_provisioned
FROM provisioning p JOIN interest i ON i.id = p.interest_id WHERE p.interest_id = $1;

-- name: agent_pause
-- $1 account, $2 interest, $3 whether its agent is to be paused.
UPDATE interest i SET
    agent_paused_at = CASE WHEN $3::boolean THEN coalesce(i.agent_paused_at, now()) END,
    updated_at = greatest(clock_timestamp(), i.updated_at + interval '1 microsecond')
WHERE i.account_id = $1 AND i.id = $2
RETURNING interest_json(i);
