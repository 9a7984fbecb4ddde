-- name: experiment_list(account, project, status, ticket_source, ticket, created_via, tag, is_actionable, limit, offset) (read)
-- A :project, :status, :ticket_source, :ticket, :created_via or :tag of NULL: any. :is_actionable: actionable ones only.
SELECT page, total
FROM experiment_page(:account, :project, :status, :ticket_source, :ticket, :created_via, :tag, :is_actionable, NULL,
                     :limit, :offset);

-- name: experiment_list_of_key(account, project, status, ticket_source, ticket, created_via, tag, is_actionable,
--   only_repository, only_project, limit, offset) (read)
-- As experiment_list, of a limited key: :only_repository is its repository, :only_project the project of its interest. Either of
-- NULL: it has none.
SELECT page, total
FROM experiment_page_of_key(:account, :project, :status, :ticket_source, :ticket, :created_via, :tag, :is_actionable,
                            :only_repository, :only_project, :limit, :offset);

-- name: experiment_create(accounts, bodies, request_ids, experiments_max, by_keys)
-- An item each (pg/batch.h). :experiments_max is the most experiments of the account. Violates experiment_max.
WITH item AS MATERIALIZED (
    SELECT * FROM unnest(:accounts::uuid[], :bodies::jsonb[], :request_ids::text[], :experiments_max::int[], :by_keys::uuid[])
                  WITH ORDINALITY AS i (account, body, request_id, most, by_key, n)
), room AS MATERIALIZED (
    SELECT account, experiment_has_room(account, count(*)::int, min(most)) AS is_there FROM item GROUP BY account ORDER BY account
)
SELECT n, experiment_full_json(e), experiment_entity_tag(e) AS tag
FROM room JOIN item ON item.account = room.account AND room.is_there
CROSS JOIN LATERAL experiment_new(item.account, item.body, item.by_key, item.request_id) AS e;

-- name: experiment_get(accounts, experiments) (read)
-- An item each (pg/batch.h).
SELECT n, experiment_full_json(e), experiment_entity_tag(e) AS tag
FROM unnest(:accounts::uuid[], :experiments::uuid[]) WITH ORDINALITY AS item (account, id, n)
CROSS JOIN LATERAL (SELECT experiment AS e FROM experiment WHERE account_id = item.account AND id = item.id LIMIT 1) AS found;

-- name: experiment_update(experiment, account, by_key, body, request_id, versions)
-- :body are the members to change, :versions those that If-Match allows (NULL: any). No row: no such experiment. A row with NULL:
-- the experiment has another version.
WITH old AS MATERIALIZED (
    SELECT experiment AS e FROM experiment WHERE id = :experiment AND account_id = :account FOR UPDATE
), changed AS MATERIALIZED (
    SELECT experiment_change(old.e, :body, :by_key, :request_id) AS e FROM old
    WHERE :versions::bigint[] IS NULL OR (old.e).version = ANY (:versions::bigint[])
)
SELECT CASE WHEN (changed.e).id IS NOT NULL THEN experiment_full_json(changed.e) END, experiment_entity_tag(changed.e) AS tag
FROM old LEFT JOIN changed ON true;

-- name: experiment_delete(experiment, account, request_id, versions, by_key)
-- :versions and rows as of experiment_update.
WITH old AS MATERIALIZED (
    SELECT id, version FROM experiment WHERE id = :experiment AND account_id = :account FOR UPDATE
), deleted AS (
    DELETE FROM experiment USING old
    WHERE experiment.id = old.id AND (:versions::bigint[] IS NULL OR old.version = ANY (:versions::bigint[]))
    RETURNING experiment.id, experiment AS e
), emitted AS (
    SELECT event_emit('events.experiments', 'experiment.deleted', :account, experiment_event(deleted.e), :request_id),
           experiment_announce(deleted.e, 'deleted', '[]', :by_key, :request_id) FROM deleted
)
SELECT CASE WHEN deleted.id IS NOT NULL THEN json_build_object('id', deleted.id, 'deleted', true) END,
       (SELECT count(*) FROM emitted)
FROM old LEFT JOIN deleted ON true;
