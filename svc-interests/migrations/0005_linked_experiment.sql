-- The experiments that belong to an interest, found by index however many experiments and recommendations there are.
CREATE INDEX experiment_by_project ON experiment (account_id, project_id) WHERE NOT is_deleted;
CREATE INDEX experiment_by_paper ON experiment USING gin (arxiv_ids) WHERE NOT is_deleted;

-- OFFSET 0: looked up paper by paper. The planner takes half a percent of all experiments to be about any one paper, and
-- would rather read all of them.
CREATE OR REPLACE VIEW linked_experiment AS
SELECT i.id AS interest_id, e.*
FROM interest i JOIN experiment e ON e.account_id = i.account_id AND e.project_id = i.project_id AND NOT e.is_deleted
UNION
SELECT r.interest_id, about.*
FROM recommendation r
CROSS JOIN LATERAL (SELECT e.* FROM experiment e
                    WHERE e.arxiv_ids @> ARRAY[r.arxiv_id] AND e.account_id = r.account_id AND NOT e.is_deleted
                    OFFSET 0) about;
