-- name: outcome_costs_get (read)
-- $1 account, $2 first day, $3 last day, in UTC, $4 what the runs are grouped by, $5 the only repository that the key may see (NULL: all).
SELECT fleet_outcome_costs($1, $2::date, $3::date, $4, repository_key($5));
