-- name: inbox_list (read)
-- $1 account, $2 the only repository that the key may see (NULL: all), $3 whether archived ones, $4 limit, $5 offset, $6 kind (NULL: any),
-- $7 the people who were asked for, as the gateway names them. `who`: the ids of those whom the items are about, as a JSON array.
WITH item AS MATERIALIZED (
    SELECT * FROM inbox_items($1, repository_key($2), $3) i WHERE $6::text IS NULL OR i.kind = $6
), shown AS (
    SELECT * FROM item LEFT JOIN inbox_people($1) p ON p.item = item.id ORDER BY created_at DESC, id LIMIT $4 OFFSET $5
)
SELECT (SELECT coalesce(json_agg(json_build_object(
            'id', s.id, 'kind', s.kind, 'repo', s.repo, 'title', s.title, 'href', s.href,
            'created_at', time_json(s.created_at), 'severity', s.severity, 'archived', $3::boolean,
            'person', (SELECT one - 'id' FROM jsonb_array_elements($7::jsonb) one WHERE one ->> 'id' = s.who::text LIMIT 1))
            ORDER BY s.created_at DESC, s.id), '[]') FROM shown s),
       (SELECT count(*) FROM item) AS total,
       (SELECT json_agg(DISTINCT s.who) FROM shown s WHERE s.who IS NOT NULL) AS who;

-- name: inbox_archive
-- $1 account, $2 the only repository that the key may see (NULL: all), $3 ids. How many items were not archived before.
WITH archived AS (
    INSERT INTO inbox_archived (account_id, item)
    SELECT $1, i.id FROM inbox_items($1, repository_key($2), false) i WHERE i.id = ANY (ARRAY(SELECT jsonb_array_elements_text($3::jsonb)::uuid))
    ON CONFLICT DO NOTHING RETURNING item
)
SELECT json_build_object('updated', count(*)) FROM archived;

-- name: inbox_restore
-- As inbox_archive: how many items were archived before.
WITH restored AS (
    DELETE FROM inbox_archived a USING inbox_items($1, repository_key($2), true) i
    WHERE a.account_id = $1 AND a.item = i.id AND i.id = ANY (ARRAY(SELECT jsonb_array_elements_text($3::jsonb)::uuid))
    RETURNING a.item
)
SELECT json_build_object('updated', count(*)) FROM restored;
