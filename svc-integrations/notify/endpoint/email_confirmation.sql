-- name: email_confirmation_request
-- $1 endpoint, $2 account, $3 confirmation, $4 its token, sealed, $5 the token's hash.
SELECT asked FROM email_confirmation_request($1, $2, $3, $4, $5) AS asked WHERE asked IS NOT NULL;

-- name: email_confirmation_get (read)
-- $1 confirmation. What the mail needs. No row: it is not wanted any more.
SELECT c.account_id, c.endpoint_id, c.email, c.token, e.secret, e.name
FROM email_confirmation c
JOIN endpoint e ON e.id = c.endpoint_id AND e.account_id = c.account_id AND e.email = c.email AND e.status = 'unconfirmed'
WHERE c.id = $1 AND c.used_at IS NULL AND c.created_at > now() - interval '1 day';

-- name: email_confirmation_note
-- $1 confirmation, $2 why the mail was not sent; null: it was.
UPDATE email_confirmation SET error = $2::text, sent_at = CASE WHEN $2::text IS NULL THEN now() END WHERE id = $1;

-- name: email_confirmation_find (read)
-- $1 the hash of a token. The address that it would confirm.
SELECT c.email FROM email_confirmation c
JOIN endpoint e ON e.id = c.endpoint_id AND e.account_id = c.account_id AND e.email = c.email AND e.status <> 'disabled'
WHERE c.hash = $1 AND c.created_at > now() - interval '1 day';

-- name: email_confirmation_confirm
-- $1 the hash of a token.
SELECT email FROM email_confirm($1) AS email WHERE email IS NOT NULL;

-- name: email_confirmation_subscriber (read)
-- $1 the hash of a token that ends mails. The address that gets them.
SELECT email FROM endpoint WHERE unsubscribe_hash = $1;

-- name: email_confirmation_unsubscribe
-- $1 the hash of a token that ends mails. The address that got them, and the endpoint.
SELECT email, (SELECT e.id FROM endpoint e WHERE e.unsubscribe_hash = $1) AS id FROM email_unsubscribe($1) AS email WHERE email IS NOT NULL;
