-- name: delivery_run (read)
-- $1 run (NULL: found by the call), $2 call, $3 account (NULL: any). Id, template and its sealed secret; of any account, several
-- runs may have the call.
SELECT r.id, r.template_id, t.secret FROM run r LEFT JOIN template t ON t.id = r.template_id
WHERE ($1::uuid IS NULL OR r.id = $1) AND ($1::uuid IS NOT NULL OR r.call_id = $2)
  AND ($3::uuid IS NULL OR r.account_id = $3);

-- name: delivery_store
-- $1 run, $2 account (NULL: any), $3 attempt, $4 result, $5 id of the delivery, $6 lease.
SELECT run_result($1, $2, $3, $4::jsonb, $5, $6::interval);

-- name: delivery_forget
-- $1 days. Deletes up to 1000 deliveries that are older and whose run has ended: a repeated one then still changes nothing. How many.
WITH old AS (
    SELECT d.ctid FROM delivery d JOIN work w ON w.id = d.run_id
    WHERE d.received_at < now() - make_interval(days => $1::int) AND w.finished_at IS NOT NULL
    ORDER BY d.received_at LIMIT 1000
), deleted AS (
    DELETE FROM delivery WHERE ctid = ANY (ARRAY(SELECT ctid FROM old)) RETURNING 1
)
SELECT count(*) FROM deleted;

-- name: delivery_answer (read)
-- $1 run, $2 whether the delivery was taken before.
SELECT json_build_object('run_id', id, 'accepted', true, 'duplicate', $2::boolean, 'status', status) FROM work WHERE id = $1;
