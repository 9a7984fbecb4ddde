-- As of 0012_run_outcome.sql. A run that was for one interest, as each of a key that is limited to one is, says nothing about what was
-- recommended for another.
CREATE OR REPLACE VIEW run_signal AS
SELECT i.id AS interest_id, o.arxiv_id, o.stage AS signal
FROM interest i JOIN run_outcome o ON o.interest_id = i.id AND o.account_id = i.account_id
WHERE o.stage IN ('merged', 'closed') AND o.arxiv_id IS NOT NULL
UNION
SELECT r.interest_id, r.arxiv_id, o.stage
FROM recommendation r JOIN run_outcome o ON o.recommendation_id = r.id AND o.account_id = r.account_id
WHERE o.stage IN ('merged', 'closed') AND coalesce(o.interest_id, r.interest_id) = r.interest_id;
