-- name: schedules_run(limit)
-- Starts at most :limit agents whose time has come. Returns how many.
SELECT schedules_run(:limit::int);

-- name: scheduled_run_load(interest) (read)
-- Returns its provisioning, why the agent starts nothing (NULL: it does), and whether only because it is being provisioned. No
-- row: there is none.
SELECT to_jsonb(p) AS provisioning, agent_obstacle(p, i) AS obstacle,
       i.is_active AND i.agent_paused_at IS NULL AND provision_state(p) = 'in_progress' AS is_provisioned
FROM provisioning p JOIN interest i ON i.id = p.interest_id
WHERE p.interest_id = :interest;

-- name: agent_pause(account, interest, is_paused)
UPDATE interest i SET
    agent_paused_at = CASE WHEN :is_paused::boolean THEN coalesce(i.agent_paused_at, now()) END,
    updated_at = CASE WHEN (i.agent_paused_at IS NOT NULL) = :is_paused::boolean THEN i.updated_at -- what changes nothing is no version
                      ELSE greatest(clock_timestamp(), i.updated_at + interval '1 microsecond') END
WHERE i.account_id = :account AND i.id = :interest
RETURNING interest_json(i);
