-- name: trigger_target(account, repository, interest) (read)
-- Returns the repository as first seen, and the status, agent, provider and interest of the installation that the run is for, and
-- whether its key is known to have expired: one of the :interest (NULL: any) if there is any, an active one first; NULL: there is
-- none. No row: the repository is outside the account's footprint.
WITH mine AS MATERIALIZED (
    SELECT * FROM installation WHERE account_id = :account AND repo_key = repository_key(:repository)
), chosen AS (
    SELECT * FROM mine m
    WHERE m.interest_id = :interest::uuid OR NOT EXISTS (SELECT FROM mine o WHERE o.interest_id = :interest::uuid)
    ORDER BY m.status = 'active' DESC, m.installed_at DESC, m.id DESC LIMIT 1
)
SELECT f.repo, c.status, c.agent, c.provider, c.interest_id,
       EXISTS (SELECT FROM key_expiring k WHERE k.account_id = :account AND k.key_id = c.key_id AND k.expires_at <= now()) AS has_expired
FROM repo_in_footprint(:account, repository_now(:repository)) AS f (repo) LEFT JOIN chosen c ON true
WHERE f.repo IS NOT NULL;

-- name: trigger_key_free(account, start_key, valid_s)
-- Give what was reserved under the :start_key :valid_s ago or before another key.
UPDATE reservation SET key = key || ' ' || id
WHERE account_id = :account AND key = :start_key AND made_at <= now() - make_interval(secs => :valid_s::float8);

-- name: trigger_note(account, repository, run, dispatched_at, start_key)
-- The code host has let the account start :run (NULL: not known). :repository is the name that the code host gives it, :start_key
-- the key of the start.
WITH noted AS MATERIALIZED (SELECT run_started_note(:account, repository_hold(:repository), :run, :dispatched_at))
SELECT reservation_attach(:account, :start_key, to_jsonb(:run::bigint)) FROM noted;

-- name: trigger_audit(account, repository, agent)
SELECT audit_emit(:account, 'run.triggered', jsonb_build_object('kind', 'repository', 'id', NULL, 'name', :repository::text),
                  audit_changes('{}', jsonb_build_object('agent', :agent::text), '{agent}'));
