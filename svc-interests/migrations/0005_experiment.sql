-- What the stream events.experiments told about experiments. A deleted one stays as its id, so that an older event
-- that comes late does not bring it back.
CREATE TABLE experiment (
    id             uuid PRIMARY KEY,
    account_id     uuid NOT NULL,
    version        bigint NOT NULL, -- rises with each change of it
    told_at        timestamptz NOT NULL, -- of the event
    is_deleted     boolean NOT NULL DEFAULT false,
    name           text,
    status         text,
    hypothesis     text,
    decision       text,
    outcome        text,
    observed_delta double precision,
    target_metric  text,
    pr_status      text,
    project_id     uuid,
    arxiv_ids      text[] NOT NULL -- of the papers that it came of
);

-- An account's, and the newest of a project in the order of the index, however many there are.
CREATE INDEX experiment_by_project ON experiment (account_id, project_id, told_at DESC, id DESC);

-- Those about a paper. Without a list of entries that are still to be sorted in: each look-up would read it whole, and the
-- planner rather the table.
CREATE INDEX experiment_by_paper ON experiment USING gin (arxiv_ids) WITH (fastupdate = off) WHERE NOT is_deleted;

-- What is told of an account that was deleted is not kept.
CREATE TRIGGER account_skipped BEFORE INSERT ON experiment FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- The experiments about papers that were recommended for an interest; one comes once for each of its papers.
-- OFFSET 0: looked up paper by paper. The planner takes half a percent of all experiments to be about any one paper, and
-- would rather read all of them. The account is compared behind it: one may have most of the experiments.
CREATE VIEW experiment_of_paper AS
SELECT r.interest_id, about.*
FROM recommendation r
CROSS JOIN LATERAL (SELECT e.* FROM experiment e
                    WHERE e.arxiv_ids @> ARRAY[r.arxiv_id] AND NOT e.is_deleted
                    OFFSET 0) about
WHERE about.account_id = r.account_id;

-- The experiments that belong to an interest: of its project, or of a paper that was recommended for it.
CREATE VIEW linked_experiment AS
SELECT i.id AS interest_id, e.*
FROM interest i JOIN experiment e ON e.account_id = i.account_id AND e.project_id = i.project_id AND NOT e.is_deleted
UNION
SELECT * FROM experiment_of_paper;
