-- name: delivery_run(run, call, account) (read)
-- A :run of NULL: it is found by the :call. An :account of NULL: any; then several runs may have the call. Returns the run, its
-- template and the sealed secret of that.
SELECT r.id, r.template_id, t.secret
FROM run r LEFT JOIN template t ON t.id = r.template_id
WHERE (:run::uuid IS NULL OR r.id = :run) AND (:run::uuid IS NOT NULL OR r.call_id = :call)
  AND (:account::uuid IS NULL OR r.account_id = :account);

-- name: delivery_store(run, account, attempt, result, delivery, lease)
-- An :account of NULL: any.
SELECT run_result(:run, :account, :attempt, :result::jsonb, :delivery, :lease::interval);

-- name: delivery_forget(days)
-- Delete up to 1000 deliveries that are older than :days and whose run has ended: a repeated one then still changes nothing.
-- Returns their number.
WITH old AS (
    SELECT d.ctid FROM delivery d JOIN work w ON w.id = d.run_id
    WHERE d.received_at < now() - make_interval(days => :days::int) AND w.finished_at IS NOT NULL
    ORDER BY d.received_at LIMIT 1000
), deleted AS (
    DELETE FROM delivery WHERE ctid = ANY (ARRAY(SELECT ctid FROM old)) RETURNING 1
)
SELECT count(*) FROM deleted;

-- name: delivery_answer(run, is_duplicate) (read)
-- :is_duplicate: the delivery was taken before.
SELECT json_build_object('run_id', id, 'accepted', true, 'duplicate', :is_duplicate::boolean, 'status', status)
FROM work WHERE id = :run;
