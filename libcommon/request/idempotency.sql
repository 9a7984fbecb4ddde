-- Take the claim $1 until the transaction ends.
-- name: idempotency_lock
SELECT idempotency_lock($1::bigint);

-- name: idempotency_get
SELECT body_hash, answer FROM idempotency
WHERE account_id = $1 AND operation = $2 AND key_hash = $3 AND created_at > now() - interval '24 hours';

-- Reserve the claim for the owner $5 and $6 ms. No row: it is reserved, or has an answer.
-- name: idempotency_reserve
INSERT INTO idempotency AS i (account_id, operation, key_hash, body_hash, owner, reserved_until)
VALUES ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6::float8 / 1000))
ON CONFLICT (account_id, operation, key_hash)
DO UPDATE SET body_hash = excluded.body_hash, answer = NULL, owner = excluded.owner, reserved_until = excluded.reserved_until,
	created_at = now()
WHERE i.created_at < now() - interval '24 hours' OR i.reserved_until < clock_timestamp() AND i.body_hash = excluded.body_hash
RETURNING true;

-- Give up the reservation of the owner $4.
-- name: idempotency_release
DELETE FROM idempotency WHERE account_id = $1 AND operation = $2 AND key_hash = $3 AND owner = $4;

-- Store an answer, under the reservation of the owner $6 if there is one (else NULL); no row: it was taken over. In place of one of
-- more than 64 KiB the answer $7 is stored when those of the account would have more than 32 MiB (else NULL); requests at the same
-- time do not see each other, and can exceed that. Also delete up to 20 expired records.
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
INSERT INTO idempotency (account_id, operation, key_hash, body_hash, answer)
SELECT $1, $2, $3, $4, CASE WHEN $7::bytea IS NULL OR octet_length($5::bytea) + (
		SELECT coalesce(sum(octet_length(i.answer)), 0) FROM idempotency i
		WHERE i.account_id = $1 AND octet_length(i.answer) > 65536 AND i.created_at > now() - interval '24 hours'
	) <= 32 * 1048576 THEN $5::bytea ELSE $7::bytea END
ON CONFLICT (account_id, operation, key_hash)
DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, created_at = now(), owner = NULL, reserved_until = NULL
WHERE idempotency.owner IS NOT DISTINCT FROM $6
RETURNING true;
