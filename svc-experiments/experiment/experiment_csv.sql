-- name: experiment_csv_outline(account, project, status, ticket_source, ticket, created_via, tag, is_limited, only_repository,
--   only_project, limit) (read)
-- A :project, :status, :ticket_source, :ticket, :created_via or :tag of NULL: any. :is_limited: the key is limited, to
-- :only_repository and :only_project. :limit is the most rows.
SELECT ids, names, total
FROM experiment_outline(:account, :project, :status, :ticket_source, :ticket, :created_via, :tag, :is_limited,
                        :only_repository, :only_project, :limit);

-- name: experiment_csv_of_ids(account, experiments) (read)
-- Returns the outline of the :experiments, a JSON array of ids.
SELECT :experiments::json AS ids, experiment_figure_names(f.found) AS names, cardinality(f.found) AS total
FROM (SELECT ARRAY(SELECT e.id FROM experiment e WHERE e.account_id = :account
                   AND e.id = ANY (ARRAY(SELECT i::uuid FROM json_array_elements_text(:experiments::json) i)))) AS f (found);

-- name: experiment_csv_rows(account, experiments) (read)
-- :experiments is a JSON array of ids.
SELECT experiment_rows(:account, :experiments::jsonb);
