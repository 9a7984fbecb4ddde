-- name: experiment_list (read)
-- $1 account, $2 project, $3 status, $4 ticket source, $5 ticket, $6 created_via, $7 tag (NULL: any), $8 actionable ones only,
-- $9 limit, $10 offset.
SELECT page, total FROM experiment_page($1, $2, $3, $4, $5, $6, $7, $8, NULL, $9, $10);

-- name: experiment_list_of_key (read)
-- As experiment_list, of a limited key: $9 its repository (NULL: none), $10 the project of its interest (NULL: none), $11 limit, $12 offset.
SELECT page, total FROM experiment_page_of_key($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

-- name: experiment_create
-- $1 accounts, $2 bodies, $3 request ids, $4 the most experiments of the account, $5 API keys: an item each (pg/batch.h). Violates
-- experiment_max.
WITH item AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::jsonb[], $3::text[], $4::int[], $5::uuid[])
                  WITH ORDINALITY AS i (account, body, request_id, most, by_key, n)
), room AS MATERIALIZED (
    SELECT account, experiment_has_room(account, count(*)::int, min(most)) AS is_there FROM item GROUP BY account ORDER BY account
)
SELECT n, experiment_full_json(e), experiment_entity_tag(e) AS tag
FROM room JOIN item ON item.account = room.account AND room.is_there
CROSS JOIN LATERAL experiment_new(item.account, item.body, item.by_key, item.request_id) AS e;

-- name: experiment_get (read)
-- $1 accounts, $2 ids: an item each (pg/batch.h).
SELECT n, experiment_full_json(e), experiment_entity_tag(e) AS tag
FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS item (account, id, n)
CROSS JOIN LATERAL (SELECT experiment AS e FROM experiment WHERE account_id = item.account AND id = item.id LIMIT 1) AS found;

-- name: experiment_update
-- $3 API key, $4 members to change, $5 request id, $6 versions that If-Match allows (NULL: any).
-- No row: no such experiment. A row with NULL: the experiment has another version.
WITH old AS MATERIALIZED (
    SELECT experiment AS e FROM experiment WHERE id = $1 AND account_id = $2 FOR UPDATE
), changed AS MATERIALIZED (
    SELECT experiment_change(old.e, $4, $3, $5) AS e FROM old
    WHERE $6::bigint[] IS NULL OR (old.e).version = ANY ($6::bigint[])
)
SELECT CASE WHEN (changed.e).id IS NOT NULL THEN experiment_full_json(changed.e) END, experiment_entity_tag(changed.e) AS tag
FROM old LEFT JOIN changed ON true;

-- name: experiment_delete
-- $3 request id, $4 versions that If-Match allows (NULL: any), $5 API key. Rows as of experiment_update.
WITH old AS MATERIALIZED (
    SELECT id, version FROM experiment WHERE id = $1 AND account_id = $2 FOR UPDATE
), deleted AS (
    DELETE FROM experiment USING old
    WHERE experiment.id = old.id AND ($4::bigint[] IS NULL OR old.version = ANY ($4::bigint[]))
    RETURNING experiment.id, experiment AS e
), emitted AS (
    SELECT event_emit('events.experiments', 'experiment.deleted', $2, experiment_event(deleted.e), $3),
           experiment_announce(deleted.e, 'deleted', '[]', $5, $3) FROM deleted
)
SELECT CASE WHEN deleted.id IS NOT NULL THEN json_build_object('id', deleted.id, 'deleted', true) END,
       (SELECT count(*) FROM emitted)
FROM old LEFT JOIN deleted ON true;
