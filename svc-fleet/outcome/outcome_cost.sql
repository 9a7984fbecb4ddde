-- name: outcome_costs_get(account, first_day, last_day, group_by, only_repository) (read)
-- The days are in UTC. :group_by is what the runs are grouped by. :only_repository is the only one that the key may see; NULL:
-- all.
SELECT fleet_outcome_costs(:account, :first_day::date, :last_day::date, :group_by, repository_key(:only_repository));
