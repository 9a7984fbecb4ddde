-- name: inbox_claim
-- The account whose inbox is to be looked at, and the claim: others leave it for ten minutes, after which it is due again if this
-- process has ended. No row: none is due.
UPDATE inbox_look SET look_at = clock_timestamp() + interval '10 minutes'
WHERE account_id = (SELECT account_id FROM inbox_look WHERE look_at <= clock_timestamp() ORDER BY look_at LIMIT 1
                    FOR UPDATE SKIP LOCKED)
RETURNING account_id, look_at;

-- name: inbox_announce
-- $1 account, $2 its claim.
SELECT inbox_announce($1, $2);

-- name: key_expiring_note
-- $1 account, $2 data of the event.
SELECT key_expiring_note($1, $2);

-- name: key_expiring_change
-- $1 account, $2 data of the event. A key that ends within 30 days is announced anew where that is due.
WITH told AS (
    SELECT key_id, name, expires_at, coalesce(expires_at <= now() + interval '720 hours', false) AS is_soon
    FROM jsonb_populate_record(NULL::key_expiring, $2)
), gone AS (
    DELETE FROM key_expiring k USING told WHERE k.account_id = $1 AND k.key_id = told.key_id AND NOT told.is_soon
)
UPDATE key_expiring k SET name = told.name, expires_at = told.expires_at
FROM told WHERE k.account_id = $1 AND k.key_id = told.key_id AND told.is_soon;

-- name: experiment_reminder_note
-- $1 account, $2 data of the event, $3 whether the experiment was deleted.
SELECT experiment_reminder_note($1, $2, $3);

-- name: endpoint_disabled_note
-- $1 account, $2 what svc-integrations tells: {"endpoint_id", "name", "reason", "disabled_at"}.
SELECT endpoint_disabled_note($1, $2);

-- name: connection_gone_note
-- $1 account, $2 what svc-integrations says of the connection.
SELECT connection_gone_note($1, $2);
