-- name: run_csv_outline(account, repository, outcome, agent, interest, paper, first_day, last_day, merged_from, merged_until,
--   repositories, run, limit) (read)
-- As run_list. :limit is the most rows.
SELECT ids, names, total
FROM run_outline(:account, repository_key(:repository), repos_named(:repositories), :run, :outcome, :agent, :interest, :paper,
                 :first_day, :last_day, :merged_from, :merged_until, :limit);

-- name: run_csv_rows(account, runs, columns) (read)
-- :runs is a JSON array of `ids` of run_csv_outline. :columns are the members that are columns.
SELECT page, taken FROM run_csv_rows(:account, :runs::jsonb, :columns::text[]);
