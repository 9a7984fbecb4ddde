-- Take the claim $1 until the transaction ends.
-- name: idempotency_lock
SELECT idempotency_lock($1::bigint);

-- name: idempotency_get
SELECT body_hash, answer FROM idempotency
WHERE account_id = $1 AND operation = $2 AND key_hash = $3 AND created_at > now() - interval '24 hours';

-- Store an answer. Also delete up to 20 expired records.
-- name: idempotency_create
WITH old AS (
	SELECT account_id, operation, key_hash FROM idempotency
	WHERE created_at < now() - interval '24 hours' AND key_hash <> $3
	LIMIT 20 FOR UPDATE SKIP LOCKED
), deleted AS (
	DELETE FROM idempotency USING old
	WHERE idempotency.account_id = old.account_id AND idempotency.operation = old.operation
		AND idempotency.key_hash = old.key_hash
)
INSERT INTO idempotency (account_id, operation, key_hash, body_hash, answer) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (account_id, operation, key_hash)
DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, created_at = now();
