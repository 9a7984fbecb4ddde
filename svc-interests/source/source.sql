-- name: source_interest(interest) (read)
-- Returns its repository and its context, and whether it has sources.
SELECT i.source_repo_url, i.context, EXISTS (SELECT FROM context_source s WHERE s.interest_id = i.id) AS has_sources
FROM interest i
WHERE i.id = :interest;

-- name: source_sync(interest, links)
-- :links are the addresses of its context, [{"place", "url", "kind"}]. Forgets the sources that it does not name any more, notes
-- the new ones, and returns the places of those that are due. One that is noted so is not written: ON CONFLICT would lock it at
-- least.
WITH named AS MATERIALIZED (
    SELECT n.*, (s.place, s.kind) IS NOT DISTINCT FROM (n.place, n.kind) AS is_noted, s.tried_at, s.error
    FROM jsonb_to_recordset(:links::jsonb) AS n (place integer, url text, kind text)
    JOIN interest i ON i.id = :interest
    LEFT JOIN context_source s ON s.interest_id = i.id AND s.url = n.url
), forgotten AS (
    DELETE FROM context_source s WHERE s.interest_id = :interest AND s.url NOT IN (SELECT url FROM named)
), noted AS (
    INSERT INTO context_source (interest_id, place, url, kind)
    SELECT :interest, place, url, kind FROM named WHERE NOT is_noted ORDER BY url
    ON CONFLICT (interest_id, url) DO UPDATE SET place = excluded.place, kind = excluded.kind
)
SELECT coalesce(jsonb_agg(place ORDER BY place), '[]') FROM named
WHERE tried_at IS NULL OR tried_at < now() - CASE WHEN error IS NULL THEN interval '7 days' ELSE interval '1 day' END;

-- name: source_save(interest, readings)
-- :readings are [{"url", "status", "title", "body", "characters", "error", "is_transient"}]. What was read once is kept when it cannot be
-- read again, unless it is refused. What is transient, an error or a page that stands in for a repository, is due in an hour
-- (source_sync), and takes the place of nothing that was read.
UPDATE context_source s SET
    tried_at = CASE WHEN r.is_transient THEN now() - (CASE WHEN r.error IS NULL THEN interval '167 hours' ELSE interval '23 hours' END)
                    ELSE now() END, error = r.error,
    status = CASE WHEN r.status = 'failed' AND s.status = 'read' THEN 'read' ELSE r.status END,
    read_at = CASE r.status WHEN 'read' THEN now() WHEN 'failed' THEN s.read_at END,
    title = CASE r.status WHEN 'read' THEN r.title WHEN 'failed' THEN s.title END,
    body = CASE r.status WHEN 'read' THEN r.body WHEN 'failed' THEN s.body ELSE '' END,
    characters = CASE r.status WHEN 'read' THEN r.characters WHEN 'failed' THEN s.characters END
FROM (SELECT n.url, n.title, n.body, n.characters, n.error, n.is_transient,
             CASE WHEN n.is_transient AND k.status = 'read' THEN 'failed' ELSE n.status END AS status
      FROM jsonb_to_recordset(:readings::jsonb) AS n (url text, status text, title text, body text, characters integer, error text,
                                                      is_transient boolean)
      JOIN context_source k ON k.interest_id = :interest AND k.url = n.url) r
WHERE s.interest_id = :interest AND s.url = r.url;
