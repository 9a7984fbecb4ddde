-- name: vector_wanted (read)
-- Whether papers have changed that space $1 has not seen to.
SELECT coalesce(max(change), 0) > coalesce((SELECT done FROM vector_space WHERE name = $1), 0) FROM asset;

-- name: vector_claim
-- $1 the space, $2 the process that is to see to the next papers, $3 for how many seconds. No row: another does.
INSERT INTO vector_space AS s (name, holder, held_until) VALUES ($1, $2, now() + make_interval(secs => $3))
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
WHERE s.holder IS NULL OR s.holder = $2 OR s.held_until < now()
RETURNING done, coalesce(dimension, 0);

-- name: vector_pause
-- The turn of process $2 in space $1 ends in $3 seconds and no sooner.
UPDATE vector_space SET held_until = now() + make_interval(secs => $3) WHERE name = $1 AND holder = $2;

-- name: vector_pending (read)
-- The next $3 papers of space $1 after change $2, and of each whether it needs a vector.
SELECT a.change, a.arxiv_id, a.title, a.abstract, encode(a.digest, 'hex'),
       NOT a.is_deleted AND v.digest IS DISTINCT FROM a.digest
FROM (SELECT *, text_digest(title, abstract) AS digest FROM asset WHERE change > $2 ORDER BY change LIMIT $3) a
LEFT JOIN asset_vector v ON v.space = $1 AND v.arxiv_id = a.arxiv_id
ORDER BY a.change;

-- name: vector_store
-- Space $1 has seen to the papers up to change $3, by the process $2, whose turn ends; $4 the dimension, 0 where $5 is
-- empty; $5 what was made: [{"arxiv_id": ..., "digest": hex, "vector": base64}]. No row: it was not the process's turn
-- any more, or the vectors are of another dimension; nothing is stored.
WITH turn AS (
    UPDATE vector_space SET done = $3, dimension = coalesce(dimension, nullif($4, 0)), holder = NULL, held_until = NULL
    WHERE name = $1 AND holder = $2 AND ($4 = 0 OR dimension IS NULL OR dimension = $4)
    RETURNING name
), stored AS (
    INSERT INTO asset_vector (space, arxiv_id, digest, vector)
    SELECT turn.name, made.arxiv_id, decode(made.digest, 'hex'), decode(made.vector, 'base64')
    FROM turn, jsonb_to_recordset($5::jsonb) AS made (arxiv_id text, digest text, vector text)
    ORDER BY made.arxiv_id
    ON CONFLICT (space, arxiv_id) DO UPDATE SET digest = excluded.digest, vector = excluded.vector
)
SELECT name FROM turn;
