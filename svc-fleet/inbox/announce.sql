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

-- name: experiment_reminder_note
-- $1 account, $2 data of the event, $3 whether the experiment was deleted.
SELECT experiment_reminder_note($1, $2, $3);

-- name: endpoint_disabled_note
-- $1 account, $2 what svc-integrations tells: {"endpoint_id", "name", "reason", "disabled_at"}.
SELECT endpoint_disabled_note($1, $2);
