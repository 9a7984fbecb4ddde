-- name: email_confirmation_request(endpoint, account, confirmation, token, token_hash)
-- The :token of the :confirmation is sealed.
SELECT asked
FROM email_confirmation_request(:endpoint, :account, :confirmation, :token, :token_hash) AS asked
WHERE asked IS NOT NULL;

-- name: email_confirmation_get(confirmation) (read)
-- Returns what the mail needs. No row: it is not wanted any more.
SELECT c.account_id, c.endpoint_id, c.email, c.token, e.secret, e.name
FROM email_confirmation c
JOIN endpoint e ON e.id = c.endpoint_id AND e.account_id = c.account_id AND e.email = c.email AND e.status = 'unconfirmed'
WHERE c.id = :confirmation AND c.used_at IS NULL AND c.created_at > now() - interval '1 day';

-- name: email_confirmation_note(confirmation, error)
-- :error: why the mail was not sent; NULL: it was.
UPDATE email_confirmation SET
    error = :error::text,
    sent_at = CASE WHEN :error::text IS NULL THEN now() END
WHERE id = :confirmation;

-- name: email_confirmation_find(token_hash) (read)
-- Returns the address that the token would confirm.
SELECT c.email FROM email_confirmation c
JOIN endpoint e ON e.id = c.endpoint_id AND e.account_id = c.account_id AND e.email = c.email AND e.status <> 'disabled'
WHERE c.hash = :token_hash AND c.created_at > now() - interval '1 day';

-- name: email_confirmation_confirm(token_hash)
SELECT email FROM email_confirm(:token_hash) AS email WHERE email IS NOT NULL;

-- name: email_confirmation_subscriber(token_hash) (read)
-- Returns the address whose mails the token ends.
SELECT email FROM endpoint WHERE unsubscribe_hash = :token_hash;

-- name: email_confirmation_unsubscribe(token_hash)
-- Returns the address whose mails the token has ended, and the endpoint.
SELECT email, (SELECT e.id FROM endpoint e WHERE e.unsubscribe_hash = :token_hash) AS id
FROM email_unsubscribe(:token_hash) AS email
WHERE email IS NOT NULL;
