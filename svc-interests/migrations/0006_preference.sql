-- The signals that an interest's readers gave about papers.
CREATE VIEW signal AS
SELECT r.interest_id, r.arxiv_id, f.signal
FROM feedback f JOIN recommendation r ON r.id = f.recommendation_id
UNION
SELECT e.interest_id, paper.arxiv_id, given.signal
FROM linked_experiment e
CROSS JOIN LATERAL unnest(e.arxiv_ids) AS paper (arxiv_id)
CROSS JOIN LATERAL (VALUES ('merged', e.pr_status = 'merged'),
                           ('closed', e.pr_status = 'closed'),
                           ('shipped', e.status = 'shipped' OR e.outcome = 'ship'),
                           ('abandoned', e.status IN ('abandoned', 'rejected') OR e.outcome = 'abandon'))
           AS given (signal, is_given)
WHERE given.is_given;

-- The newest model that was fitted to an interest's feedback.
CREATE TABLE preference_model (
    interest_id uuid PRIMARY KEY REFERENCES interest ON DELETE CASCADE,
    version     integer NOT NULL,
    model       bytea NOT NULL,
    fitted_at   timestamptz NOT NULL DEFAULT now()
);
