-- name: experiment_store(account, told_at, is_deleted, experiment)
-- Stores the experiment of an event. An event with an older version than the stored one changes nothing, and neither does an
-- event after a deletion. :told_at is the time of the event.
INSERT INTO experiment AS known (id, account_id, version, told_at, is_deleted, name, status, hypothesis, decision, outcome,
                                 observed_delta, target_metric, pr_status, pr_status_at, project_id, arxiv_ids, decided_at)
SELECT e.id, :account, coalesce(e.version, 0), :told_at, :is_deleted, e.name, e.status, e.hypothesis, e.decision, e.outcome,
       e.observed_delta, e.target_metric, lower(e.pr_status), :told_at, e.project_id,
       ARRAY(SELECT DISTINCT arxiv_id_of(named) FROM unnest(e.arxiv_ids) AS named WHERE arxiv_id_of(named) IS NOT NULL), :told_at
FROM jsonb_to_record(:experiment::jsonb)
     AS e (id uuid, version bigint, name text, status text, hypothesis text, decision text, outcome text,
           observed_delta double precision, target_metric text, pr_status text, project_id uuid, arxiv_ids text[])
ON CONFLICT (id) DO UPDATE SET
    (version, told_at, is_deleted, name, status, hypothesis, decision, outcome, observed_delta, target_metric, pr_status,
     pr_status_at, project_id, arxiv_ids, decided_at) =
    (excluded.version, excluded.told_at, excluded.is_deleted, excluded.name, excluded.status, excluded.hypothesis,
     excluded.decision, excluded.outcome, excluded.observed_delta, excluded.target_metric, excluded.pr_status,
     CASE WHEN known.pr_status IS NOT DISTINCT FROM excluded.pr_status THEN coalesce(known.pr_status_at, known.told_at)
          ELSE excluded.told_at END,
     excluded.project_id, excluded.arxiv_ids,
     CASE WHEN trial_verdict(known.outcome, known.status, NULL, NULL)
               = trial_verdict(excluded.outcome, excluded.status, NULL, NULL)
          THEN known.decided_at ELSE excluded.told_at END)
WHERE known.account_id = excluded.account_id AND NOT known.is_deleted AND known.version <= excluded.version;
