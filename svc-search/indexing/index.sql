-- name: asset_changes (read)
-- Papers that changed after number $1, up to number $3, oldest change first, at most $2. Authors are lines, of which the
-- index has room for 1000 (DOCUMENT_MAX_AUTHORS).
SELECT change AS number, arxiv_id, title, abstract, indexed_categories(arxiv_id, categories) AS categories,
       coalesce(floor(extract(epoch FROM published_at) / 86400), 0)::int AS published, has_container, is_deleted,
       array_to_string(authors[1:1000], E'\n') AS authors, comments, NULL::bytea AS vector
FROM asset WHERE change > $1 AND change <= $3 ORDER BY change LIMIT $2;

-- name: asset_newest (read)
-- The id of this database, the number of its newest change, of a paper or of a vector in space $1 (NULL: none), and the
-- current version of the built-in embedder in format $2, of recipe $3 or an older one, with its number.
SELECT s.id, greatest((SELECT coalesce(max(change), 0) FROM asset), (SELECT max(change) FROM asset_vector WHERE space = $1)) AS newest,
       e.version, e.number
FROM index_source s
LEFT JOIN LATERAL (SELECT version, number FROM embedder WHERE format = $2 AND recipe <= $3
                   ORDER BY recipe DESC, number DESC LIMIT 1) e ON true;

-- name: vector_changes (read)
-- As asset_changes, with the vectors in space $4. The number of a paper is the greater of the numbers of its
-- last change and of its vector's last change. $2 is at most 4000; the inner limits are constants so that the planner can estimate the rows.
SELECT number, arxiv_id, title, abstract, indexed_categories(arxiv_id, categories) AS categories,
       coalesce(floor(extract(epoch FROM published_at) / 86400), 0)::int AS published, has_container, is_deleted,
       array_to_string(authors[1:1000], E'\n') AS authors, comments,
       (SELECT v.vector FROM asset_vector v
        WHERE v.space = $4 AND v.arxiv_id = c.arxiv_id AND v.digest = text_digest(c.title, c.abstract)) AS vector
FROM ((SELECT a.change AS number, a.* FROM asset a
       WHERE a.change > $1 AND a.change <= $3
             AND a.change > coalesce((SELECT v.change FROM asset_vector v WHERE v.space = $4 AND v.arxiv_id = a.arxiv_id), 0)
       ORDER BY a.change LIMIT 4000)
      UNION ALL
      (SELECT v.change AS number, a.* FROM asset_vector v JOIN asset a USING (arxiv_id)
       WHERE v.space = $4 AND v.change > $1 AND v.change <= $3 AND v.change > a.change
       ORDER BY v.change LIMIT 4000)) c
ORDER BY number LIMIT $2;
