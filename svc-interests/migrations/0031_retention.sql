-- Explanations go by whole months (retention/retention.h). Partitions are of ids, which are of version 7: in the order of time. What is
-- there becomes the default partition, which takes all rows until the first month has one. Nothing is read or copied for it.
ALTER TABLE recommendation_explanation RENAME TO recommendation_explanation_default;
ALTER INDEX recommendation_explanation_pkey RENAME TO recommendation_explanation_default_pkey;
CREATE TABLE recommendation_explanation (
    recommendation_id uuid PRIMARY KEY REFERENCES recommendation ON DELETE CASCADE,
    explanation       jsonb NOT NULL
) PARTITION BY RANGE (recommendation_id);
ALTER TABLE recommendation_explanation ATTACH PARTITION recommendation_explanation_default DEFAULT;

-- What stays of a recommendation that was deleted for its age: that it was made, so that its paper is not recommended again.
CREATE TABLE former_recommendation (
    interest_id       uuid NOT NULL REFERENCES interest ON DELETE CASCADE,
    arxiv_id          text NOT NULL,
    context_version   integer NOT NULL,
    account_id        uuid NOT NULL,
    recommendation_id uuid NOT NULL,
    PRIMARY KEY (interest_id, arxiv_id, context_version)
);

-- What was ever recommended. `recommended_at` and `rank` are null where the recommendation was deleted.
CREATE VIEW recommended AS
SELECT interest_id, account_id, arxiv_id, context_version, id AS recommendation_id, recommended_at, rank FROM recommendation
UNION ALL
SELECT interest_id, account_id, arxiv_id, context_version, recommendation_id, NULL, NULL FROM former_recommendation;

-- As of 0001_schema.sql and 0024_run_signal.sql, also of deleted recommendations: what experiments and runs say of their papers stays.
CREATE OR REPLACE VIEW experiment_of_paper AS
SELECT r.interest_id, e.*
FROM recommended r
JOIN experiment_paper p ON p.account_id = r.account_id AND p.arxiv_id = r.arxiv_id
JOIN experiment e ON e.id = p.experiment_id AND NOT e.is_deleted;

CREATE OR REPLACE VIEW run_signal AS
SELECT i.id AS interest_id, o.arxiv_id, o.stage AS signal
FROM interest i JOIN run_outcome o ON o.interest_id = i.id AND o.account_id = i.account_id
WHERE o.stage IN ('merged', 'closed') AND o.arxiv_id IS NOT NULL
UNION
SELECT r.interest_id, r.arxiv_id, o.stage
FROM recommended r JOIN run_outcome o ON o.recommendation_id = r.recommendation_id AND o.account_id = r.account_id
WHERE o.stage IN ('merged', 'closed') AND coalesce(o.interest_id, r.interest_id) = r.interest_id;
