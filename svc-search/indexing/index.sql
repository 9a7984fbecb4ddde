-- name: asset_changes(after, limit, until) (read)
-- Returns papers that changed after the change :after, up to :until, oldest change first. Authors are lines, of which the index
-- has room for 1000 (DOCUMENT_MAX_AUTHORS).
SELECT change AS number, arxiv_id, title, abstract, indexed_categories(arxiv_id, categories) AS categories,
       coalesce(floor(extract(epoch FROM published_at) / 86400), 0)::int AS published, has_container, is_deleted,
       array_to_string(authors[1:1000], E'\n') AS authors, comments, NULL::bytea AS vector
FROM asset
WHERE change > :after AND change <= :until
ORDER BY change
LIMIT :limit;

-- name: asset_newest(space, format, recipe) (read)
-- Returns the id of this database, the number of its newest change, of a paper or of a vector in :space (NULL: none), and the
-- current version of the built-in embedder in :format, of :recipe or an older one, with its number.
SELECT s.id,
       greatest((SELECT coalesce(max(change), 0) FROM asset),
                (SELECT max(change) FROM asset_vector WHERE space = :space)) AS newest,
       e.version, e.number
FROM index_source s
LEFT JOIN LATERAL (SELECT version, number FROM embedder
                   WHERE format = :format AND recipe <= :recipe
                   ORDER BY recipe DESC, number DESC
                   LIMIT 1) e ON true;

-- name: vector_changes(after, limit, until, space) (read)
-- As asset_changes, with the vectors in :space. The number of a paper is the greater of the numbers of its last change and of its
-- vector's last change. :limit is at most 4000. The inner limits are constants so that the planner can estimate the rows.
SELECT number, arxiv_id, title, abstract, indexed_categories(arxiv_id, categories) AS categories,
       coalesce(floor(extract(epoch FROM published_at) / 86400), 0)::int AS published, has_container, is_deleted,
       array_to_string(authors[1:1000], E'\n') AS authors, comments,
       (SELECT v.vector FROM asset_vector v
        WHERE v.space = :space AND v.arxiv_id = c.arxiv_id AND v.digest = text_digest(c.title, c.abstract)) AS vector
FROM ((SELECT a.change AS number, a.* FROM asset a
       WHERE a.change > :after AND a.change <= :until
             AND a.change > coalesce((SELECT v.change FROM asset_vector v WHERE v.space = :space AND v.arxiv_id = a.arxiv_id), 0)
       ORDER BY a.change LIMIT 4000)
      UNION ALL
      (SELECT v.change AS number, a.* FROM asset_vector v JOIN asset a USING (arxiv_id)
       WHERE v.space = :space AND v.change > :after AND v.change <= :until AND v.change > a.change
       ORDER BY v.change LIMIT 4000)) c
ORDER BY number
LIMIT :limit;
