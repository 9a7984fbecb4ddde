-- name: refresh_targets(account, interest, task) (read)
-- Returns the interests that the task has not refreshed yet. An :interest of NULL: all active ones.
SELECT id
FROM interest i
WHERE account_id = :account AND (:interest::uuid IS NULL AND is_active OR id = :interest)
  AND NOT EXISTS (SELECT FROM refreshed_interest r WHERE r.task_id = :task AND r.interest_id = i.id)
ORDER BY id;

-- name: refresh_load(interest, scoring, context_version, last_recommendation_at) (read)
-- :scoring is the version of the scoring code. Of :context_version and :last_recommendation_at the caller knows what was
-- recommended. Returns name, context with the texts that its addresses lead to, context, pool_version, daily_count, model, the
-- ids of the papers that were recommended, newest first (NULL: those that the caller knows), when the background was drawn, the
-- examples that the model learned from, without their papers, its version, that of the embedder, the preference scores by this
-- model, embedder and code, when papers were last recommended, and whether the interest uses another embedder than its pool has.
SELECT i.name, interest_context(i) AS whole_context, i.context, i.pool_version, i.daily_count, m.model,
       CASE WHEN (i.context_version, i.last_recommendation_at)
                 IS DISTINCT FROM (:context_version::integer, :last_recommendation_at::timestamptz)
            THEN (SELECT coalesce(jsonb_agg(r.arxiv_id ORDER BY r.recommended_at DESC NULLS LAST, r.rank), '[]')
                  FROM recommended r
                  WHERE r.interest_id = i.id AND r.context_version = i.context_version) END AS recommended,
       (SELECT drawn_at FROM background) AS drawn_at,
       (SELECT e.examples FROM preference_evidence e WHERE e.interest_id = i.id AND e.version = m.version) AS examples,
       coalesce(m.version, 0) AS model_version, coalesce(m.embedder, i.embedder) AS embedder, s.scores,
       i.last_recommendation_at, i.pool_embedder IS DISTINCT FROM i.embedder AS is_behind
FROM interest i LEFT JOIN preference_model m ON m.interest_id = i.id
LEFT JOIN preference_scores s ON s.interest_id = i.id AND s.model_version = m.version AND s.scoring = :scoring
                             AND s.embedder IS NOT DISTINCT FROM coalesce(m.embedder, i.embedder)
WHERE i.id = :interest;

-- name: refresh_save(interest, pool_version, papers, task, last_recommendation_at, is_unhurried)
-- :pool_version and :last_recommendation_at are those of the interest when :papers were selected. :is_unhurried is `on` if nobody
-- waits for what the account is told (outbox_notify() in task/event.fn.sql). Stores the papers and records the interest as
-- refreshed when both are unchanged: another refresh may have recommended the same papers. Returns whether they are. No row: the
-- interest was deleted. The papers are of the time at which the interest was locked, so that a digest, which waits for that lock,
-- sees all of the time before it (digest/digest_message.fn.sql).
WITH target AS (
    SELECT i.*,
           pool_version = :pool_version
           AND last_recommendation_at IS NOT DISTINCT FROM :last_recommendation_at::timestamptz AS is_unchanged,
           set_config('expops.is_unhurried', :is_unhurried, true)
    FROM interest i
    WHERE id = :interest
    FOR UPDATE
), locked AS MATERIALIZED (
    SELECT clock_timestamp() AS at FROM target
), made AS (
    INSERT INTO recommendation (interest_id, account_id, arxiv_id, context_version, relevance_score, rank, reasoning,
                                suggested_experiment, recommended_at)
    SELECT target.id, target.account_id, r.arxiv_id, target.context_version, r.relevance_score, r.rank, r.reasoning,
           r.suggested_experiment, locked.at
    FROM target, locked,
         jsonb_to_recordset(:papers::jsonb) AS r (arxiv_id text, relevance_score double precision, rank integer,
                                                  reasoning text, suggested_experiment text)
    WHERE target.is_unchanged
    ON CONFLICT (interest_id, arxiv_id, context_version) DO NOTHING
    RETURNING id, arxiv_id, relevance_score, rank, reasoning
), explained AS (
    INSERT INTO recommendation_explanation (recommendation_id, explanation)
    SELECT made.id, r.explanation
    FROM made JOIN jsonb_to_recordset(:papers::jsonb) AS r (arxiv_id text, explanation jsonb) USING (arxiv_id)
), refreshed AS (
    INSERT INTO refreshed_interest (task_id, interest_id, recommended, pool_size)
    SELECT :task, id, (SELECT count(*) FROM made), pool_size FROM target WHERE is_unchanged
), updated AS (
    UPDATE interest i SET
        last_recommendation_at = CASE WHEN EXISTS (SELECT FROM made) THEN now() ELSE i.last_recommendation_at END,
        computed_for = target.context_version
    FROM target WHERE i.id = target.id AND target.is_unchanged
)
SELECT is_unchanged, recommendations_announce(i, :task, (SELECT jsonb_agg(to_jsonb(made)) FROM made))
FROM target LEFT JOIN interest i USING (id);

-- name: refresh_save_scores(interest, model_version, embedder, scoring, scores)
-- :scores are the preference scores of its candidates by the model, the embedder and the scoring code of these versions.
INSERT INTO preference_scores (interest_id, model_version, embedder, scoring, scores)
VALUES (:interest, :model_version, :embedder, :scoring, :scores)
ON CONFLICT (interest_id) DO UPDATE SET
    model_version = excluded.model_version, embedder = excluded.embedder, scoring = excluded.scoring, scores = excluded.scores;

-- name: refresh_end(task)
-- Returns its result, the number of interests, of recommendations, of interests whose pool is empty, and of others that got fewer
-- recommendations than were asked for. The end of a task of the daily run is told.
WITH refreshed AS (
    DELETE FROM refreshed_interest WHERE task_id = :task RETURNING *
), told AS MATERIALIZED (
    SELECT event_emit('events.interests', 'day.refreshed', t.account_id, jsonb_build_object(
               'day', t.input -> 'day', 'interests', (SELECT count(*) FROM refreshed),
               'recommended', (SELECT coalesce(sum(recommended), 0) FROM refreshed)))
    FROM task t WHERE t.id = :task AND t.input ? 'day'
)
SELECT jsonb_build_object('interests', coalesce(
           jsonb_agg(jsonb_build_object('interest_id', interest_id, 'recommended', recommended, 'pool_size', refreshed.pool_size)
                     ORDER BY interest_id), '[]')),
       count(*) AS interests, coalesce(sum(recommended), 0) AS papers,
       count(*) FILTER (WHERE refreshed.pool_size = 0) AS empty_pools,
       count(*) FILTER (WHERE refreshed.pool_size > 0 AND recommended < coalesce(task.num_results, i.daily_count)) AS short_lists,
       (SELECT count(*) FROM told)
FROM refreshed LEFT JOIN interest i ON i.id = interest_id
CROSS JOIN (SELECT (input ->> 'num_results')::integer AS num_results FROM task WHERE id = :task) task;
