-- name: cost_look_next
-- Whether there were runs to compare.
SELECT cost_look_next();

-- name: cost_looks_drop
DELETE FROM cost_look;
