-- name: recommendation_list (read)
-- $1 account, $2 interest or NULL, $3 period, $4 limit, $5 offset, $6 source_type or NULL: the number of all, and those of the page with
-- the columns of recommended/recommended_paper.h. Only the papers of the page are read. A page without any has one row.
WITH found AS NOT MATERIALIZED (
    SELECT r.* FROM recommendation r JOIN interest i ON i.id = r.interest_id
    WHERE r.account_id = $1 AND ($2::uuid IS NULL OR r.interest_id = $2) AND is_of_period(r, i, $3)
      AND ($6::text IS NULL OR source_type(r) = $6)
), page AS MATERIALIZED (
    SELECT id FROM found ORDER BY relevance_score DESC, id LIMIT $4 OFFSET $5
)
SELECT (SELECT count(*) FROM found) AS total,
       r.id AS recommendation_id, r.arxiv_id AS resource_id, r.reasoning, r.suggested_experiment, r.interest_id, i.name AS interest_name,
       time_json(r.recommended_at) AS recommended_at, r.relevance_score, r.rank,
       (SELECT g.signals FROM recommendation_signals(r.id) g) AS signals, p.updated_at AS paper_updated_at
FROM (SELECT) one
LEFT JOIN (page JOIN recommendation r USING (id) JOIN interest i ON i.id = r.interest_id JOIN paper p USING (arxiv_id)) ON true
ORDER BY r.relevance_score DESC, r.id;

-- name: recommendation_interest (read)
-- $1 account, $2 recommendation.
SELECT interest_id FROM recommendation WHERE account_id = $1 AND id = $2;

-- name: refresh_task_interest (read)
-- $1 account, $2 task. NULL: all interests.
SELECT input ->> 'interest_id' FROM task
WHERE account_id = $1 AND id = $2 AND kind IN ('recommendations_refresh', 'recommendations_refresh_all');

-- name: recommendation_feedback
-- $1 account, $2 recommendation, $3 signal, $4 an array of the signals that it revokes, $5 person. A repeated signal keeps the time of
-- the first; it is that of who gave it last.
WITH target AS (
    SELECT id FROM recommendation WHERE account_id = $1 AND id = $2 FOR UPDATE
), revoked AS (
    DELETE FROM feedback f USING target WHERE f.recommendation_id = target.id AND f.signal = ANY ($4::text[])
), recorded AS (
    INSERT INTO feedback AS f (recommendation_id, signal, person_id) SELECT id, $3, $5::uuid FROM target
    ON CONFLICT (recommendation_id, signal) DO UPDATE SET recorded_at = f.recorded_at, person_id = excluded.person_id
    RETURNING *
)
SELECT jsonb_build_object('recommendation_id', recommendation_id, 'signal', signal, 'recorded_at', time_json(recorded_at))
FROM recorded;

-- name: recommendation_feedback_delete
-- $1 account, $2 recommendation, $3 signal. No row: no such recommendation.
WITH target AS (
    SELECT id FROM recommendation WHERE account_id = $1 AND id = $2
), removed AS (
    DELETE FROM feedback f USING target WHERE f.recommendation_id = target.id AND f.signal = $3 RETURNING f.signal
)
SELECT jsonb_build_object('recommendation_id', id, 'signal', $3::text, 'removed', EXISTS (SELECT FROM removed)) FROM target;

-- name: recommendation_explanation (read)
-- $1 account, $2 recommendation: NULL if none was stored. No row: no such recommendation.
SELECT jsonb_build_object('recommendation_id', r.id, 'interest_id', r.interest_id, 'resource_id', r.arxiv_id,
                          'recommended_at', time_json(r.recommended_at), 'relevance_score', r.relevance_score,
                          'rank', r.rank) || e.explanation
FROM recommendation r LEFT JOIN recommendation_explanation e ON e.recommendation_id = r.id
WHERE r.account_id = $1 AND r.id = $2;

-- name: recommendation_refresh
-- $1 account, $2 interest or NULL for all active ones, $3 number of papers or NULL, $4 request id.
-- No row: no such interest.
SELECT task_json(task), task.id
FROM task_start(CASE WHEN $2::uuid IS NULL THEN 'recommendations_refresh_all' ELSE 'recommendations_refresh' END, $1,
                jsonb_strip_nulls(jsonb_build_object('interest_id', $2::uuid, 'num_results', $3::integer)), $4) AS task
WHERE $2::uuid IS NULL OR EXISTS (SELECT FROM interest WHERE account_id = $1 AND id = $2);

-- name: refresh_task_get (read)
SELECT task_json(t) FROM task t
WHERE account_id = $1 AND id = $2 AND kind IN ('recommendations_refresh', 'recommendations_refresh_all');
