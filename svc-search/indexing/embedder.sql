-- name: embedder_state(format, recipe) (read)
-- Returns the number of the newest change, the number of papers, and the current version: name, papers, change, ms since it was
-- checked, fingerprint, recipe. These are NULL when there is none. :recipe is the newest that is known.
SELECT coalesce((SELECT max(change) FROM asset), 0) AS change,
       coalesce((SELECT sum(papers) FROM asset_count WHERE key = ''), 0) AS papers,
       e.version, e.papers AS checked_papers, e.change AS checked_change,
       greatest(0, extract(epoch FROM now() - e.checked_at) * 1000)::bigint AS age_ms, e.fingerprint, e.recipe
FROM (VALUES (1)) AS one
LEFT JOIN LATERAL (SELECT * FROM embedder
                   WHERE format = :format AND recipe <= :recipe
                   ORDER BY recipe DESC, number DESC
                   LIMIT 1) e ON true;

-- name: embedder_size(version) (read)
-- Returns the bytes of its parameters. No row: it was removed.
SELECT bytes FROM embedder WHERE version = :version;

-- name: embedder_chunk(version, number) (read)
SELECT data FROM embedder_chunk WHERE version = :version AND number = :number;

-- name: embedder_store(version, format, bytes, fingerprint, papers, change, lease, owner, fence, recipe)
-- Makes the version the current one. :papers and :change are the number of papers and the newest change of the corpus. No row:
-- the lease was lost.
INSERT INTO embedder AS e (version, format, bytes, fingerprint, papers, change, recipe)
SELECT :version, :format, :bytes, :fingerprint, :papers, :change, :recipe
FROM lease
WHERE name = :lease AND owner = :owner AND fence = :fence::bigint
FOR KEY SHARE
ON CONFLICT (version) DO UPDATE
SET number = DEFAULT, fingerprint = excluded.fingerprint, papers = excluded.papers, change = excluded.change,
    recipe = excluded.recipe, checked_at = now()
RETURNING number;

-- name: embedder_store_chunk(version, number, data)
INSERT INTO embedder_chunk (version, number, data) VALUES (:version, :number, :data) ON CONFLICT DO NOTHING;

-- name: embedder_confirm(version, papers, change)
-- Training on a corpus of so many :papers with the newest change :change would give the version again.
UPDATE embedder SET papers = :papers, change = :change, checked_at = now()
WHERE version = :version;

-- name: embedder_remove_old(format, recipe)
-- Keeps the current version and the one before, which a replica may be reading. Versions of other formats and of newer recipes
-- are those of other releases: they are kept for a week, for replicas of these.
DELETE FROM embedder
WHERE CASE WHEN format = :format AND recipe <= :recipe
           THEN version NOT IN (SELECT version FROM embedder WHERE format = :format AND recipe <= :recipe
                                ORDER BY recipe DESC, number DESC LIMIT 2)
           ELSE checked_at < now() - interval '7 days' END;
