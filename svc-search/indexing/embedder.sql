-- name: embedder_state (read)
-- $1 format, $2 newest recipe that is known: the number of the newest change, the number of papers, and the current version:
-- name, papers, change, ms since it was checked, fingerprint, recipe; NULLs when there is none.
SELECT coalesce((SELECT max(change) FROM asset), 0) AS change,
       coalesce((SELECT sum(papers) FROM asset_count WHERE key = ''), 0) AS papers,
       e.version, e.papers AS checked_papers, e.change AS checked_change,
       greatest(0, extract(epoch FROM now() - e.checked_at) * 1000)::bigint AS age_ms, e.fingerprint,
       e.recipe
FROM (VALUES (1)) AS one
LEFT JOIN LATERAL (SELECT * FROM embedder WHERE format = $1 AND recipe <= $2 ORDER BY recipe DESC, number DESC LIMIT 1) e ON true;

-- name: embedder_size (read)
-- $1 version: bytes of its parameters. No row: it was removed.
SELECT bytes FROM embedder WHERE version = $1;

-- name: embedder_chunk (read)
-- $1 version, $2 number.
SELECT data FROM embedder_chunk WHERE version = $1 AND number = $2;

-- name: embedder_store
-- $1 version, $2 format, $3 bytes, $4 fingerprint, $5 papers and $6 newest change of the corpus, $7 lease, $8 its owner, $9
-- its fence, $10 recipe. Makes the version the current one. No row: the lease was lost.
INSERT INTO embedder AS e (version, format, bytes, fingerprint, papers, change, recipe)
SELECT $1, $2, $3, $4, $5, $6, $10 FROM lease WHERE name = $7 AND owner = $8 AND fence = $9::bigint FOR KEY SHARE
ON CONFLICT (version) DO UPDATE
SET number = DEFAULT, fingerprint = excluded.fingerprint, papers = excluded.papers, change = excluded.change,
    recipe = excluded.recipe, checked_at = now()
RETURNING number;

-- name: embedder_store_chunk
-- $1 version, $2 number, $3 bytes.
INSERT INTO embedder_chunk (version, number, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: embedder_confirm
-- $1 version: training on a corpus of $2 papers with newest change $3 would give it again.
UPDATE embedder SET papers = $2, change = $3, checked_at = now() WHERE version = $1;

-- name: embedder_remove_old
-- $1 format, $2 recipe. Keeps the current version and the one before, which a replica may be reading. Versions of other
-- formats and of newer recipes are those of other releases: they are kept for a week, for replicas of these.
DELETE FROM embedder
WHERE CASE WHEN format = $1 AND recipe <= $2
           THEN version NOT IN (SELECT version FROM embedder WHERE format = $1 AND recipe <= $2
                                ORDER BY recipe DESC, number DESC LIMIT 2)
           ELSE checked_at < now() - interval '7 days' END;
