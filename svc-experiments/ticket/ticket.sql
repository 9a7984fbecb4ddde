-- name: ticket_claim(account, experiment)
-- Returns the experiment's ticket, and whether the caller is to read it now. No row: no such experiment. What is kept of tickets
-- that it named before goes.
WITH found AS MATERIALIZED (
    SELECT e.id, e.ticket_source, e.external_ticket_id, e.ticket_url
    FROM experiment e
    WHERE e.account_id = :account AND e.id = :experiment
    FOR NO KEY UPDATE -- one that is being deleted is waited for, and so is who has just claimed another ticket of it
), former AS (
    DELETE FROM ticket t USING found f
    WHERE t.experiment_id = f.id AND (t.source, t.id) IS DISTINCT FROM (f.ticket_source, f.external_ticket_id)
), claimed AS (
    INSERT INTO ticket AS t (experiment_id, source, id, due_at)
    SELECT f.id, f.ticket_source, f.external_ticket_id, clock_timestamp() + interval '1 minute' FROM found f
    WHERE f.ticket_source IN ('tracker_a', 'tracker_b') AND f.external_ticket_id <> ''
    ON CONFLICT (experiment_id, source, id) DO UPDATE SET due_at = excluded.due_at WHERE t.due_at <= clock_timestamp()
    RETURNING t.id
)
SELECT f.ticket_source AS source, f.external_ticket_id AS ticket, f.ticket_url AS url, EXISTS (SELECT FROM claimed) AS is_due
FROM found f;

-- name: ticket_store(experiment, source, ticket, title, state, url)
-- :title, :state and :url are as the tracker says them.
UPDATE ticket SET
    title = left(:title, 1000), state = left(:state, 200),
    url = CASE WHEN :url ~ '^https?://' AND length(:url) <= 2048 THEN :url END,
    fault = NULL, read_at = now(), due_at = now() + interval '10 minutes'
WHERE experiment_id = :experiment AND source = :source AND id = :ticket;

-- name: ticket_store_fault(experiment, source, ticket, fault)
-- :fault is why it could not be read.
UPDATE ticket SET fault = :fault
WHERE experiment_id = :experiment AND source = :source AND id = :ticket;

-- name: ticket_get(account, experiment, source, ticket)
-- Nothing is known of it where the experiment names another one meanwhile.
SELECT jsonb_build_object('ticket_source', :source::text, 'external_ticket_id', :ticket::text, 'title', t.title, 'state', t.state,
                          'url', coalesce(e.ticket_url, t.url), 'read_at', time_json(t.read_at), 'fault', t.fault)
FROM experiment e LEFT JOIN ticket t ON t.experiment_id = e.id AND t.source = :source AND t.id = :ticket
WHERE e.account_id = :account AND e.id = :experiment;

-- name: ticket_decision(account, experiment) (read)
-- Returns the experiment's ticket, and its decision in lines of text (NULL: there is none yet). No row: no such experiment.
SELECT e.ticket_source AS source, e.external_ticket_id AS ticket, e.ticket_url AS url,
       CASE WHEN coalesce(e.outcome, nullif(e.decision, '')) IS NOT NULL THEN
           concat_ws(E'\n', 'Experiment: ' || e.name, 'Outcome: ' || e.outcome,
                     'Decision: ' || left(nullif(e.decision, ''), 10000),
                     CASE WHEN e.observed_delta IS NOT NULL THEN
                         concat_ws(' ', 'Observed change:', e.observed_delta, 'of ' || e.target_metric,
                                   '(' || replace(e.delta_confidence, '_', ' ') || ')') END)
       END AS decision
FROM experiment e WHERE e.account_id = :account AND e.id = :experiment;
