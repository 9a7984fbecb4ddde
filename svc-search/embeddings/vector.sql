-- name: vector_has_pending(space) (read)
-- Returns whether papers have changed since the progress of the space.
SELECT coalesce(max(change), 0) > coalesce((SELECT done FROM vector_space WHERE name = :space), 0) FROM asset;

-- name: vector_acquire_lease(space, holder, seconds)
-- Acquires the lease of the space for the process :holder, for :seconds. No row: another process holds it.
INSERT INTO vector_space AS s (name, holder, held_until)
VALUES (:space, :holder, now() + make_interval(secs => :seconds))
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
WHERE s.holder IS NULL OR s.holder = :holder OR s.held_until < now()
RETURNING done, coalesce(dimension, 0) AS dimension;

-- name: vector_extend_lease(space, holder, seconds)
-- Makes the lease of the process :holder expire in :seconds.
UPDATE vector_space SET held_until = now() + make_interval(secs => :seconds)
WHERE name = :space AND holder = :holder;

-- name: vector_pending(space, after, limit) (read)
-- Returns the next papers after the change :after, and whether each needs a vector.
SELECT a.change, a.arxiv_id, a.title, a.abstract, encode(a.digest, 'hex') AS digest,
       NOT a.is_deleted AND v.digest IS DISTINCT FROM a.digest AS is_needed
FROM (SELECT *, text_digest(title, abstract) AS digest FROM asset WHERE change > :after ORDER BY change LIMIT :limit) a
LEFT JOIN asset_vector v ON v.space = :space AND v.arxiv_id = a.arxiv_id
ORDER BY a.change;

-- name: vector_store(space, holder, done, dimension, vectors)
-- Stores :vectors, sets the progress of the space to the change :done and releases the lease of the process :holder. :vectors is
-- [{"arxiv_id": ..., "digest": hex, "vector": base64}, ...]. :dimension is 0 if :vectors is empty. No row: the process has lost
-- the lease, or the space has another dimension. Nothing is stored then.
WITH lease AS (
    UPDATE vector_space SET
        done = :done, dimension = coalesce(dimension, nullif(:dimension, 0)), holder = NULL, held_until = NULL
    WHERE name = :space AND holder = :holder AND (:dimension = 0 OR dimension IS NULL OR dimension = :dimension)
    RETURNING name
), stored AS (
    INSERT INTO asset_vector (space, arxiv_id, digest, vector)
    SELECT lease.name, made.arxiv_id, decode(made.digest, 'hex'), decode(made.vector, 'base64')
    FROM lease, jsonb_to_recordset(:vectors::jsonb) AS made (arxiv_id text, digest text, vector text)
    ORDER BY made.arxiv_id
    ON CONFLICT (space, arxiv_id) DO UPDATE SET digest = excluded.digest, vector = excluded.vector
)
SELECT name FROM lease;
