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

-- What is told of an account that was deleted is not kept.
CREATE TRIGGER account_skipped BEFORE INSERT ON experiment FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- Which experiments are about a paper.
CREATE TABLE experiment_paper (
    account_id    uuid NOT NULL,
    arxiv_id      text NOT NULL,
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    PRIMARY KEY (account_id, arxiv_id, experiment_id)
);
CREATE INDEX experiment_paper_of_experiment ON experiment_paper (experiment_id);

CREATE FUNCTION experiment_papers_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM experiment_paper WHERE experiment_id = NEW.id AND arxiv_id <> ALL (NEW.arxiv_ids);
    INSERT INTO experiment_paper (account_id, arxiv_id, experiment_id)
    SELECT NEW.account_id, arxiv_id, NEW.id FROM unnest(NEW.arxiv_ids) AS about (arxiv_id)
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER papers_follow AFTER INSERT OR UPDATE OF arxiv_ids ON experiment
    FOR EACH ROW EXECUTE FUNCTION experiment_papers_follow();

-- The experiments about papers that were recommended for an interest; one comes once for each of its papers.
CREATE VIEW experiment_of_paper AS
SELECT r.interest_id, e.*
FROM recommendation r
JOIN experiment_paper p ON p.account_id = r.account_id AND p.arxiv_id = r.arxiv_id
JOIN experiment e ON e.id = p.experiment_id AND NOT e.is_deleted;

-- The experiments that belong to an interest: of its project, or of a paper that was recommended for it.
CREATE VIEW linked_experiment AS
SELECT i.id AS interest_id, e.*
FROM interest i JOIN experiment e ON e.account_id = i.account_id AND e.project_id = i.project_id AND NOT e.is_deleted
UNION
SELECT * FROM experiment_of_paper;
