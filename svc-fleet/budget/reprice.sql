-- name: spend_reprice(first_day, after_at, after)
-- Takes the next runs behind the run :after, which began at :after_at; both are NULL at the start. See the function.
SELECT last_at, last_id, runs, changed FROM spend_reprice(:first_day, :after_at, :after);
