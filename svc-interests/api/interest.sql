-- name: interest_list(account, limit, offset, only_interest) (read)
-- :only_interest is the only one that the key may see. NULL: all.
SELECT coalesce((SELECT jsonb_agg(page.json ORDER BY page.created_at DESC, page.id DESC)
                 FROM (SELECT i.created_at, i.id, interest_json(i) AS json FROM interest i
                       WHERE i.account_id = :account AND (:only_interest::uuid IS NULL OR i.id = :only_interest)
                       ORDER BY i.created_at DESC, i.id DESC
                       LIMIT :limit OFFSET :offset) page), '[]'),
       (SELECT count(*) FROM interest
        WHERE account_id = :account AND (:only_interest::uuid IS NULL OR id = :only_interest)) AS total;

-- name: interest_create(accounts, bodies, request_ids, interests_max, active_max)
-- An item of each array for each interest (pg/batch.h). :interests_max and :active_max bound the interests and the active ones of
-- its account. Starts the jobs that build the pools. Name and context that a body lacks are those of its repository. Violates
-- interest_max and interest_active_max. Rows are locked by account, then name, so that two such statements do not wait for each
-- other.
WITH wanted AS MATERIALIZED (
    SELECT item.*, uuid_v7() AS id, uuid_v7() AS task_id, b.*
    FROM unnest(:accounts::uuid[], :bodies::jsonb[], :request_ids::text[], :interests_max::int[], :active_max::int[])
             WITH ORDINALITY AS item (account, body, request_id, most, active_most, n),
         jsonb_to_record(item.body) AS b (name text, context text, daily_count integer, is_active boolean, model_provider text,
                                          source_repo_url text, project_id uuid, sources text[], schedule jsonb)
), room AS MATERIALIZED (
    SELECT account, interest_has_room(account, count(*), count(*) FILTER (WHERE coalesce(is_active, true)),
                                      min(most), min(active_most)) AS is_there
    FROM wanted
    GROUP BY account
    ORDER BY account
), made AS (
    INSERT INTO interest AS i (id, account_id, name, context, daily_count, is_active, model_provider, source_repo_url,
                               project_id, sources, schedule)
    SELECT id, account, coalesce(name, repository_title(source_repo_url)), coalesce(context, source_repo_url),
           coalesce(daily_count, 3), coalesce(is_active, true), model_provider, source_repo_url, project_id, sources, schedule
    FROM room JOIN wanted USING (account)
    WHERE room.is_there
    ORDER BY account, lower(coalesce(name, repository_title(source_repo_url)))
    RETURNING i.id, interest_json(i) AS json
), queued AS (
    SELECT CASE WHEN count(*) > 0 THEN task_notify() END
    FROM (SELECT account, array_agg(task_id) AS ids, array_agg(jsonb_build_object('interest_id', id)) AS inputs,
                 array_agg(request_id) AS request_ids
          FROM made JOIN wanted USING (id)
          GROUP BY account
          ORDER BY account) AS a,
         task_insert(a.ids, 'pool_build', a.account, a.inputs, a.request_ids, (SELECT l.pending_max FROM task_limit l))
)
SELECT n, json FROM made JOIN wanted USING (id), queued;

-- The version of an interest is the time of its last change by a user, in microseconds. The tag also has a hash of what it shows,
-- since its pool and its experiments change without it.

-- name: interest_get(accounts, interests, histories) (read)
-- An item of each array for each interest (pg/batch.h). Each function is called only if the interest may have rows for it.
-- :histories say which experiments are shown: `all`, those of the interest's `project`, or `none`.
-- OFFSET 0: one look-up for each interest, where the planner would read the whole table for as many ids as it expects.
WITH shown AS MATERIALIZED (
    SELECT item.n, (extract(epoch FROM i.updated_at) * 1000000)::bigint AS version, (interest_json(i) || jsonb_build_object(
        'context_sources', CASE WHEN EXISTS (SELECT FROM context_source s WHERE s.interest_id = i.id OFFSET 0)
                                THEN interest_sources_json(i.id) ELSE '[]' END,
        'experiment_history', CASE WHEN item.history <> 'none'
                                        AND EXISTS (SELECT FROM experiment e WHERE e.account_id = i.account_id OFFSET 0)
                                   THEN interest_experiments(i.account_id, CASE item.history WHEN 'all' THEN i.id END, i.project_id)
                                   ELSE '' END,
        'model', (SELECT model_json(m) FROM preference_model m WHERE m.interest_id = i.id)))::text AS json
    FROM unnest(:accounts::uuid[], :interests::uuid[], :histories::text[]) WITH ORDINALITY AS item (account, id, history, n)
    CROSS JOIN LATERAL (SELECT * FROM interest WHERE account_id = item.account AND id = item.id LIMIT 1) AS i
)
SELECT n, json, version || '-' || left(md5(json), 16) AS tag FROM shown;

-- name: interest_update(account, interest, body, request_id, versions, active_max)
-- :versions are those that If-Match allows. NULL: any. :active_max bounds the active interests of the account. Violates
-- interest_active_max. No row: there is no such interest. A row with NULL: it has another version. A new name, context or sources
-- delete the pool and start the job that builds it again. A new repository only starts the job, which reads it.
WITH old AS MATERIALIZED (
    SELECT i.*, (extract(epoch FROM i.updated_at) * 1000000)::bigint AS version
    FROM interest i
    WHERE i.account_id = :account AND i.id = :interest
    FOR UPDATE
), was AS (
    SELECT i.*, coalesce(b.name, i.name) AS new_name, coalesce(b.context, i.context) AS new_context, b.daily_count AS new_count,
           b.is_active AS new_active, b.model_provider AS new_provider, b.source_repo_url AS new_repo,
           b.project_id AS new_project, CASE WHEN :body::jsonb ? 'sources' THEN b.sources ELSE i.sources END AS new_sources
    FROM old AS i,
         jsonb_to_record(:body::jsonb) AS b (name text, context text, daily_count integer, is_active boolean,
                                             model_provider text, source_repo_url text, project_id uuid, sources text[])
    WHERE CASE WHEN i.version <> ALL (:versions::bigint[]) THEN false -- before the bound: CASE keeps the order
               WHEN b.is_active AND NOT i.is_active THEN interest_has_room(:account, 0, 1, 0, :active_max::int)
               ELSE true END
), changed AS (
    SELECT id, pool_size FROM was WHERE (new_name, new_context, new_sources) IS DISTINCT FROM (name, context, sources)
), dropped AS (
    DELETE FROM pool_entry p USING changed WHERE p.interest_id = changed.id
), queued AS (
    SELECT task_start('pool_build', :account, jsonb_build_object('interest_id', id), :request_id)
    FROM was
    WHERE id IN (SELECT id FROM changed) OR (:body::jsonb ? 'source_repo_url' AND new_repo IS DISTINCT FROM source_repo_url)
), written AS (
    UPDATE interest i SET
        name = was.new_name,
        context = was.new_context,
        daily_count = coalesce(was.new_count, i.daily_count),
        is_active = coalesce(was.new_active, i.is_active),
        model_provider = CASE WHEN :body::jsonb ? 'model_provider' THEN was.new_provider ELSE i.model_provider END,
        source_repo_url = CASE WHEN :body::jsonb ? 'source_repo_url' THEN was.new_repo ELSE i.source_repo_url END,
        project_id = CASE WHEN :body::jsonb ? 'project_id' THEN was.new_project ELSE i.project_id END,
        sources = was.new_sources,
        schedule = CASE WHEN :body::jsonb ? 'schedule'
                        THEN coalesce(i.schedule, schedule_default()) || nullif(:body::jsonb -> 'schedule', 'null')
                        ELSE i.schedule END,
        pool_version = i.pool_version + (SELECT count(*) FROM changed)::int,
        context_version = i.context_version + (was.new_context <> i.context)::int,
        pool_status = CASE WHEN EXISTS (SELECT FROM changed) THEN 'stale' ELSE i.pool_status END,
        pool_size = CASE WHEN EXISTS (SELECT FROM changed) THEN 0 ELSE i.pool_size END,
        updated_at = greatest(clock_timestamp(), i.updated_at + interval '1 microsecond') -- the version of If-Match: never equal
    FROM was
    WHERE i.id = was.id
    RETURNING interest_json(i) AS json, (extract(epoch FROM i.updated_at) * 1000000)::bigint AS version
)
SELECT written.json || coalesce((SELECT jsonb_build_object('pool_invalidated', pool_size) FROM changed), '{}'),
       written.version || '-' || left(md5(written.json::text), 16) AS tag, (SELECT count(*) FROM queued)
FROM old LEFT JOIN written ON true;

-- name: interest_delete(account, interest, versions)
-- Also deletes its recommendations, feedback, pool and model. :versions and the rows are as in interest_update.
WITH old AS MATERIALIZED (
    SELECT id, (extract(epoch FROM updated_at) * 1000000)::bigint AS version
    FROM interest
    WHERE account_id = :account AND id = :interest
    FOR UPDATE
), deleted AS (
    DELETE FROM interest i USING old
    WHERE i.id = old.id AND (:versions::bigint[] IS NULL OR old.version = ANY (:versions::bigint[]))
    RETURNING i.id
)
SELECT CASE WHEN deleted.id IS NOT NULL THEN jsonb_build_object('id', deleted.id, 'deleted', true) END
FROM old LEFT JOIN deleted ON true;

-- name: interest_toggle(account, interest, active_max)
-- :active_max bounds the active interests of the account. Violates interest_active_max.
WITH old AS MATERIALIZED (
    SELECT i.id, i.is_active FROM interest i WHERE i.account_id = :account AND i.id = :interest FOR UPDATE
)
UPDATE interest i SET
    is_active = NOT i.is_active,
    updated_at = greatest(clock_timestamp(), i.updated_at + interval '1 microsecond')
FROM old
WHERE i.id = old.id AND (old.is_active OR interest_has_room(:account, 0, 1, 0, :active_max::int))
RETURNING interest_json(i);

-- name: interest_keeps_place(account, interest, body) (read)
-- Returns whether an update with :body leaves the project and repository of the interest as they are, and what it has of both.
SELECT jsonb_build_object('project_id', project_id, 'source_repo_url', source_repo_url)
       @> (SELECT coalesce(jsonb_object_agg(key, value), '{}')
           FROM jsonb_each(:body::jsonb)
           WHERE key IN ('project_id', 'source_repo_url')) AS keeps_place,
       context, source_repo_url
FROM interest
WHERE account_id = :account AND id = :interest;

-- name: interest_pool_get(account, interest) (read)
SELECT jsonb_build_object('interest_id', id, 'project_id', project_id, 'pool_status', pool_status, 'pool_size', pool_size,
                          'agent_paused', agent_paused_at IS NOT NULL)
FROM interest
WHERE account_id = :account AND id = :interest;
