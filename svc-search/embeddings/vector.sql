-- name: vector_has_pending (read)
-- Whether papers have changed since the progress of space $1.
SELECT coalesce(max(change), 0) > coalesce((SELECT done FROM vector_space WHERE name = $1), 0) FROM asset;

-- name: vector_acquire_lease
-- Acquire the lease of space $1 for process $2, for $3 seconds. No row: another process holds it.
INSERT INTO vector_space AS s (name, holder, held_until) VALUES ($1, $2, now() + make_interval(secs => $3))
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
WHERE s.holder IS NULL OR s.holder = $2 OR s.held_until < now()
RETURNING done, coalesce(dimension, 0) AS dimension;

-- name: vector_extend_lease
-- Make the lease of process $2 in space $1 expire in $3 seconds.
UPDATE vector_space SET held_until = now() + make_interval(secs => $3) WHERE name = $1 AND holder = $2;

-- name: vector_pending (read)
-- The next $3 papers of space $1 after change $2, and whether each needs a vector.
SELECT a.change, a.arxiv_id, a.title, a.abstract, encode(a.digest, 'hex') AS digest,
       NOT a.is_deleted AND v.digest IS DISTINCT FROM a.digest AS is_needed
FROM (SELECT *, text_digest(title, abstract) AS digest FROM asset WHERE change > $2 ORDER BY change LIMIT $3) a
LEFT JOIN asset_vector v ON v.space = $1 AND v.arxiv_id = a.arxiv_id
ORDER BY a.change;

-- name: vector_store
-- Store the vectors $5 of space $1, set its progress to change $3 and release the lease of process $2. $4 is the
-- dimension, 0 if $5 is empty. $5 is [{"arxiv_id": ..., "digest": hex, "vector": base64}, ...]. No row: the process has
-- lost the lease, or the space has another dimension; nothing is stored.
WITH lease AS (
    UPDATE vector_space SET done = $3, dimension = coalesce(dimension, nullif($4, 0)), holder = NULL, held_until = NULL
    WHERE name = $1 AND holder = $2 AND ($4 = 0 OR dimension IS NULL OR dimension = $4)
    RETURNING name
), stored AS (
    INSERT INTO asset_vector (space, arxiv_id, digest, vector)
    SELECT lease.name, made.arxiv_id, decode(made.digest, 'hex'), decode(made.vector, 'base64')
    FROM lease, jsonb_to_recordset($5::jsonb) AS made (arxiv_id text, digest text, vector text)
    ORDER BY made.arxiv_id
    ON CONFLICT (space, arxiv_id) DO UPDATE SET digest = excluded.digest, vector = excluded.vector
)
SELECT name FROM lease;
