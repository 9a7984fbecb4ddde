-- name: cost_look_one
-- The account whose runs were compared, NULL if there were none, and why they could not be.
SELECT account_id, fault FROM cost_look_one();

-- name: cost_looks_drop
DELETE FROM cost_look;
