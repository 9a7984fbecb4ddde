-- name: experiment_list (read)
-- $1 account; project, status, ticket source, ticket, created_via: NULL lets all through; $7 only actionable ones or
-- all; $8 limit, $9 offset.
SELECT page, total FROM experiment_page($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: experiment_create
-- $2 the body, $3 the request.
SELECT experiment_detail_json(e), e.version FROM experiment_new($1, $2, $3) e;

-- name: experiment_get (read)
SELECT experiment_detail_json(e), e.version FROM experiment e WHERE id = $1 AND account_id = $2;

-- name: experiment_update
-- $3 the key that does it, $4 the members that are to change, $5 the request, $6 versions that may be changed, NULL: any.
-- No row: there is none; a row of NULL: it is of another version.
WITH was AS MATERIALIZED (
    SELECT experiment AS e FROM experiment WHERE id = $1 AND account_id = $2 FOR UPDATE
), becomes AS MATERIALIZED (
    SELECT experiment_change(was.e, $4, $3, $5) AS e FROM was
    WHERE $6::bigint[] IS NULL OR (was.e).version = ANY ($6::bigint[])
)
SELECT CASE WHEN (becomes.e).id IS NOT NULL THEN experiment_detail_json(becomes.e) END, (becomes.e).version
FROM was LEFT JOIN becomes ON true;

-- name: experiment_delete
-- $3 the request.
WITH gone AS (
    DELETE FROM experiment WHERE id = $1 AND account_id = $2 RETURNING id, experiment AS e
), told AS (
    SELECT event_emit('events.experiments', 'experiment.deleted', $2, experiment_event(gone.e), $3) FROM gone
)
SELECT json_build_object('id', id, 'deleted', true), (SELECT count(*) FROM told) FROM gone;
