-- name: trigger_target (read)
-- $1 account, $2 repository, $3 interest or NULL. The repository as first seen, and the status, agent, provider and interest
-- of the installation that the run is for: one of the interest if there is any, an active one first; NULL: there is none. No
-- row: the repository is outside the account's footprint.
WITH mine AS MATERIALIZED (
    SELECT * FROM installation WHERE account_id = $1 AND repo_key = repository_key($2)
), chosen AS (
    SELECT * FROM mine m
    WHERE m.interest_id = $3::uuid OR NOT EXISTS (SELECT FROM mine o WHERE o.interest_id = $3::uuid)
    ORDER BY m.status = 'active' DESC, m.installed_at DESC, m.id DESC LIMIT 1
)
SELECT f.repo, c.status, c.agent, c.provider, c.interest_id
FROM repo_in_footprint($1, repository_now($2)) AS f (repo) LEFT JOIN chosen c ON true
WHERE f.repo IS NOT NULL;

-- name: trigger_note
-- $1 account, $2 repository as the code host names it, $3 run that was started there (NULL: not known), $4 when, $5 key of
-- the start: the code host has let the account start it.
WITH noted AS MATERIALIZED (SELECT run_started_note($1, repository_hold($2), $3, $4))
SELECT reservation_attach($1, $5, to_jsonb($3::bigint)) FROM noted;

-- name: trigger_audit
-- $1 account, $2 repository, $3 agent.
SELECT audit_emit($1, 'run.triggered', jsonb_build_object('kind', 'repository', 'id', NULL, 'name', $2::text),
                  audit_changes('{}', jsonb_build_object('agent', $3::text), '{agent}'));
