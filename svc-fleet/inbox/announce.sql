-- name: inbox_pass (read)
SELECT clock_timestamp() AS began;

-- name: inbox_claim(began)
-- Returns an account whose inbox was to be looked at by :began, and the claim: others leave it for ten minutes, after
-- which it is due again if this process has ended. No row: none is left.
UPDATE inbox_look SET look_at = clock_timestamp() + interval '10 minutes'
WHERE account_id = (SELECT account_id FROM inbox_look WHERE look_at <= :began ORDER BY look_at LIMIT 1
                    FOR UPDATE SKIP LOCKED)
RETURNING account_id, look_at;

-- name: inbox_announce(account, claim)
SELECT inbox_announce(:account, :claim);

-- name: key_expiring_note(account, key)
-- :key is the data of the event.
SELECT key_expiring_note(:account, :key);

-- name: key_expiring_change(account, key)
-- :key is the data of the event. A key that ends within 30 days is announced anew where that is due.
WITH told AS (
    SELECT key_id, name, expires_at, coalesce(expires_at <= now() + interval '720 hours', false) AS is_soon
    FROM jsonb_populate_record(NULL::key_expiring, :key)
), gone AS (
    DELETE FROM key_expiring k USING told WHERE k.account_id = :account AND k.key_id = told.key_id AND NOT told.is_soon
)
UPDATE key_expiring k SET name = told.name, expires_at = told.expires_at
FROM told WHERE k.account_id = :account AND k.key_id = told.key_id AND told.is_soon;

-- name: experiment_reminder_note(account, experiment, is_deleted)
-- :experiment is the data of the event, :is_deleted whether the experiment was deleted.
SELECT experiment_reminder_note(:account, :experiment, :is_deleted);

-- name: endpoint_disabled_note(account, endpoint)
-- :endpoint is what svc-integrations says of it: {"endpoint_id", "name", "reason", "disabled_at"}.
SELECT endpoint_disabled_note(:account, :endpoint);

-- name: connection_gone_note(account, connection)
-- :connection is what svc-integrations says of it.
SELECT connection_gone_note(:account, :connection);
