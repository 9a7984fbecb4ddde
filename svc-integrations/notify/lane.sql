-- name: lane_claim(queue, limit, account_slots, accounts, lease_s)
-- An account may have :account_slots. :accounts: those of the slots in use, one for each.
SELECT endpoint_id, is_retry, claim, account_id
FROM lane_take(:queue, :limit::int, :account_slots::int, :accounts::uuid[], :lease_s::int);

-- name: lane_wait (read)
-- Returns the milliseconds until a lane is due. NULL: nothing waits.
SELECT ceil(extract(epoch FROM min(front.due_at) - now()) * 1000)::bigint
FROM (VALUES ('quick'), ('slow'), ('mail')) AS q (queue),
     LATERAL (SELECT l.due_at FROM endpoint_lane l WHERE l.queue = q.queue AND l.due_at IS NOT NULL ORDER BY l.due_at LIMIT 1) AS front;

-- name: lane_step(endpoint, is_retry, claim, last_attempt, lease_s, is_over)
-- :is_retry: the lane is that of attempts after a failure. :last_attempt: how it ended, or NULL. :lease_s: of the claim, which is
-- given up if :is_over.
SELECT s.delivery_id, s.day, s.message_id, s.tries, s.body, s.account_id, s.kind, s.url, s.secret, s.old_secret,
       endpoint_target(s.url, s.secret) AS target,
       (SELECT e.name FROM endpoint e WHERE e.id = :endpoint AND s.kind = 'email') AS name
FROM lane_step(:endpoint, :is_retry, :claim::bigint, :last_attempt::jsonb, :lease_s::int, :is_over) s;

-- name: lane_measure (read)
-- Returns the seconds for which the lane that is due for longest has waited; the number of active endpoints that fail, and of
-- others; the number of deliveries that wait.
SELECT greatest(0, extract(epoch FROM now() - (SELECT min(due_at) FROM endpoint_lane WHERE due_at IS NOT NULL))) AS due_s,
       count(*) FILTER (WHERE failing_since IS NOT NULL) AS failing, count(*) FILTER (WHERE failing_since IS NULL) AS working,
       (SELECT count(*) FROM delivery_queue) AS waiting
FROM endpoint WHERE status = 'active';
