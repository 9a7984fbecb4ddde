-- name: inbox_list(account, only_repository, is_archived, limit, offset, kind, people) (read)
-- :only_repository is the only one that the key may see; NULL: all. :is_archived: the archived ones, otherwise the others. A
-- :kind of NULL: any. :people are those who were asked for, as the gateway names them. Returns in `who` the ids of those whom the
-- items are about, as a JSON array.
WITH item AS MATERIALIZED (
    SELECT * FROM inbox_items(:account, repository_key(:only_repository), :is_archived) i
    WHERE :kind::text IS NULL OR i.kind = :kind
), shown AS (
    SELECT * FROM item LEFT JOIN inbox_people(:account) p ON p.item = item.id
    ORDER BY created_at DESC, id LIMIT :limit OFFSET :offset
)
SELECT (SELECT coalesce(json_agg(json_build_object(
            'id', s.id, 'kind', s.kind, 'repo', s.repo, 'title', s.title, 'href', s.href,
            'created_at', time_json(s.created_at), 'severity', s.severity, 'archived', :is_archived::boolean,
            'person', (SELECT one - 'id' FROM jsonb_array_elements(:people::jsonb) one WHERE one ->> 'id' = s.who::text LIMIT 1))
            ORDER BY s.created_at DESC, s.id), '[]') FROM shown s),
       (SELECT count(*) FROM item) AS total,
       (SELECT json_agg(DISTINCT s.who) FROM shown s WHERE s.who IS NOT NULL) AS who;

-- name: inbox_archive(account, only_repository, items)
-- Returns how many items were not archived before. :only_repository is the only one that the key may see; NULL: all. :items is a
-- JSON array of ids.
WITH archived AS (
    INSERT INTO inbox_archived (account_id, item)
    SELECT :account, i.id FROM inbox_items(:account, repository_key(:only_repository), false) i
    WHERE i.id = ANY (ARRAY(SELECT jsonb_array_elements_text(:items::jsonb)::uuid))
    ON CONFLICT DO NOTHING
    RETURNING item
)
SELECT json_build_object('updated', count(*)) FROM archived;

-- name: inbox_restore(account, only_repository, items)
-- As inbox_archive. Returns how many items were archived before.
WITH restored AS (
    DELETE FROM inbox_archived a USING inbox_items(:account, repository_key(:only_repository), true) i
    WHERE a.account_id = :account AND a.item = i.id AND i.id = ANY (ARRAY(SELECT jsonb_array_elements_text(:items::jsonb)::uuid))
    RETURNING a.item
)
SELECT json_build_object('updated', count(*)) FROM restored;
