-- Signals have the time since when they are given, as far as that is known: models are fitted to the newest (refresh/refit.fn.sql). OFFSET 0:
-- one look-up for each experiment, where the planner might read the whole table.
CREATE OR REPLACE VIEW run_signal AS
SELECT i.id AS interest_id, o.arxiv_id, o.stage AS signal, o.stage_at AS at
FROM interest i JOIN run_outcome o ON o.interest_id = i.id AND o.account_id = i.account_id
WHERE o.stage IN ('merged', 'closed') AND o.arxiv_id IS NOT NULL
UNION
SELECT r.interest_id, r.arxiv_id, o.stage, o.stage_at
FROM recommended r JOIN run_outcome o ON o.recommendation_id = r.recommendation_id AND o.account_id = r.account_id
WHERE o.stage IN ('merged', 'closed') AND coalesce(o.interest_id, r.interest_id) = r.interest_id;

CREATE OR REPLACE VIEW signal AS
SELECT s.interest_id, s.arxiv_id, s.signal, max(s.at) AS at
FROM (SELECT r.interest_id, r.arxiv_id, f.signal, f.recorded_at AS at
      FROM feedback f JOIN recommendation r ON r.id = f.recommendation_id
      UNION ALL
      SELECT e.interest_id, paper.arxiv_id, given.signal, given.at
      FROM linked_experiment e
      CROSS JOIN LATERAL (SELECT x.pr_status_at, x.decided_at FROM experiment x WHERE x.id = e.id OFFSET 0) AS since
      CROSS JOIN LATERAL unnest(e.arxiv_ids) AS paper (arxiv_id)
      CROSS JOIN LATERAL (VALUES ('merged', e.pr_status = 'merged', coalesce(since.pr_status_at, e.told_at)),
                                 ('closed', e.pr_status = 'closed', coalesce(since.pr_status_at, e.told_at)),
                                 ('shipped', e.status = 'shipped' OR e.outcome = 'ship', coalesce(since.decided_at, e.told_at)),
                                 ('abandoned', e.status IN ('abandoned', 'rejected') OR e.outcome = 'abandon',
                                  coalesce(since.decided_at, e.told_at)))
                 AS given (signal, is_given, at)
      WHERE given.is_given
      UNION ALL
      SELECT * FROM run_signal) s
GROUP BY s.interest_id, s.arxiv_id, s.signal;
