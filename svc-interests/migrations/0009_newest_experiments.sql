-- The newest experiments of a project in the order of an index, however many it has.
DROP INDEX experiment_by_project;
CREATE INDEX experiment_by_project ON experiment (account_id, project_id, told_at DESC, id DESC) WHERE NOT is_deleted;

-- The experiments about papers that were recommended for an interest; one comes once for each of its papers.
-- OFFSET 0: looked up paper by paper (0005).
CREATE VIEW experiment_of_paper AS
SELECT r.interest_id, about.*
FROM recommendation r
CROSS JOIN LATERAL (SELECT e.* FROM experiment e
                    WHERE e.arxiv_ids @> ARRAY[r.arxiv_id] AND e.account_id = r.account_id AND NOT e.is_deleted
                    OFFSET 0) about;

CREATE OR REPLACE VIEW linked_experiment AS
SELECT i.id AS interest_id, e.*
FROM interest i JOIN experiment e ON e.account_id = i.account_id AND e.project_id = i.project_id AND NOT e.is_deleted
UNION
SELECT * FROM experiment_of_paper;
