-- name: recommendation_list(account, interest, period, limit, offset, source_type) (read)
-- Returns the number of all, and those of the page with the columns of recommended/recommended_paper.h. An :interest or
-- :source_type of NULL: any. Only the papers of the page are read. A page without any has one row.
WITH found AS NOT MATERIALIZED (
    SELECT r.*
    FROM recommendation r JOIN interest i ON i.id = r.interest_id
    WHERE r.account_id = :account AND (:interest::uuid IS NULL OR r.interest_id = :interest) AND is_of_period(r, i, :period)
      AND (:source_type::text IS NULL OR source_type(r) = :source_type)
), page AS MATERIALIZED (
    SELECT id FROM found ORDER BY relevance_score DESC, id LIMIT :limit OFFSET :offset
)
SELECT (SELECT count(*) FROM found) AS total,
       r.id AS recommendation_id, r.arxiv_id AS resource_id, r.reasoning, r.suggested_experiment,
       r.interest_id, i.name AS interest_name, time_json(r.recommended_at) AS recommended_at, r.relevance_score, r.rank,
       (SELECT g.signals FROM recommendation_signals(r.id) g) AS signals, p.updated_at AS paper_updated_at
FROM (SELECT) one
LEFT JOIN (page JOIN recommendation r USING (id) JOIN interest i ON i.id = r.interest_id JOIN paper p USING (arxiv_id)) ON true
ORDER BY r.relevance_score DESC, r.id;

-- name: recommendation_interest(account, recommendation) (read)
SELECT interest_id FROM recommendation WHERE account_id = :account AND id = :recommendation;

-- name: refresh_task_interest(account, task) (read)
-- NULL: all interests.
SELECT input ->> 'interest_id' FROM task
WHERE account_id = :account AND id = :task AND kind IN ('recommendations_refresh', 'recommendations_refresh_all');

-- name: recommendation_feedback(account, recommendation, signal, opposites, person)
-- :opposites are the signals that :signal revokes.
SELECT feedback_give(:account, :recommendation, :signal, :opposites::text[], :person::uuid);

-- name: recommendation_feedback_delete(account, recommendation, signal)
-- No row: there is no such recommendation.
WITH target AS (
    SELECT id FROM recommendation WHERE account_id = :account AND id = :recommendation
), removed AS (
    DELETE FROM feedback f USING target
    WHERE f.recommendation_id = target.id AND f.signal = :signal
    RETURNING f.signal
)
SELECT jsonb_build_object('recommendation_id', id, 'signal', :signal::text, 'removed', EXISTS (SELECT FROM removed))
FROM target;

-- name: recommendation_explanation(account, recommendation) (read)
-- NULL: none was stored. No row: there is no such recommendation.
SELECT jsonb_build_object('recommendation_id', r.id, 'interest_id', r.interest_id, 'resource_id', r.arxiv_id,
                          'recommended_at', time_json(r.recommended_at), 'relevance_score', r.relevance_score,
                          'rank', r.rank) || e.explanation
FROM recommendation r LEFT JOIN recommendation_explanation e ON e.recommendation_id = r.id
WHERE r.account_id = :account AND r.id = :recommendation;

-- name: recommendation_refresh(account, interest, num_results, request_id)
-- An :interest of NULL: all active ones. A :num_results of NULL: the daily_count of each. No row: there is no such interest.
SELECT task_json(task), task.id
FROM task_start(CASE WHEN :interest::uuid IS NULL THEN 'recommendations_refresh_all' ELSE 'recommendations_refresh' END,
                :account,
                jsonb_strip_nulls(jsonb_build_object('interest_id', :interest::uuid, 'num_results', :num_results::integer)),
                :request_id) AS task
WHERE :interest::uuid IS NULL OR EXISTS (SELECT FROM interest WHERE account_id = :account AND id = :interest);

-- name: refresh_task_get(account, task) (read)
SELECT task_json(t) FROM task t
WHERE account_id = :account AND id = :task AND kind IN ('recommendations_refresh', 'recommendations_refresh_all');
