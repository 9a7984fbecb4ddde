-- name: idempotency_lock(claim)
-- Take the claim until the transaction ends.
SELECT idempotency_lock(:claim::bigint);

-- name: idempotency_get(account, operation, key_hash)
SELECT body_hash, answer
FROM idempotency
WHERE account_id = :account AND operation = :operation AND key_hash = :key_hash AND created_at > now() - interval '24 hours';

-- name: idempotency_reserve(account, operation, key_hash, body_hash, owner, reserved_ms)
-- Reserve the claim for :owner. No row: it is reserved, or has an answer.
INSERT INTO idempotency AS i (account_id, operation, key_hash, body_hash, owner, reserved_until)
VALUES (:account, :operation, :key_hash, :body_hash, :owner,
        clock_timestamp() + make_interval(secs => :reserved_ms::float8 / 1000))
ON CONFLICT (account_id, operation, key_hash)
DO UPDATE SET body_hash = excluded.body_hash, answer = NULL, owner = excluded.owner, reserved_until = excluded.reserved_until,
    created_at = now()
WHERE i.created_at < now() - interval '24 hours' OR i.reserved_until < clock_timestamp() AND i.body_hash = excluded.body_hash
RETURNING true;

-- name: idempotency_release(account, operation, key_hash, owner)
-- Give up the reservation of :owner.
DELETE FROM idempotency
WHERE account_id = :account AND operation = :operation AND key_hash = :key_hash AND owner = :owner;

-- name: idempotency_create(account, operation, key_hash, body_hash, answer, owner, refusal)
-- Store :answer. It was reserved by :owner (NULL: it was not); no row: the reservation was taken over. In place of an answer of
-- more than 64 KiB, :refusal is stored when those of the account would have more than 32 MiB (NULL: it is not so large); requests
-- at the same time do not see each other, and can exceed that. Also delete up to 20 expired records.
WITH old AS (
    SELECT account_id, operation, key_hash FROM idempotency
    WHERE created_at < now() - interval '24 hours' AND key_hash <> :key_hash
    LIMIT 20 FOR UPDATE SKIP LOCKED
), deleted AS (
    DELETE FROM idempotency USING old
    WHERE idempotency.account_id = old.account_id AND idempotency.operation = old.operation
        AND idempotency.key_hash = old.key_hash
)
INSERT INTO idempotency (account_id, operation, key_hash, body_hash, answer)
SELECT :account, :operation, :key_hash, :body_hash,
       CASE WHEN :refusal::bytea IS NULL OR octet_length(:answer::bytea) + (
        SELECT coalesce(sum(octet_length(i.answer)), 0) FROM idempotency i
        WHERE i.account_id = :account AND octet_length(i.answer) > 65536 AND i.created_at > now() - interval '24 hours'
    ) <= 32 * 1048576 THEN :answer::bytea ELSE :refusal::bytea END
ON CONFLICT (account_id, operation, key_hash)
DO UPDATE SET body_hash = excluded.body_hash, answer = excluded.answer, created_at = now(), owner = NULL, reserved_until = NULL
WHERE idempotency.owner IS NOT DISTINCT FROM :owner
RETURNING true;
