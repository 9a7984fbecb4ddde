-- name: ticket_claim
-- $1 account, $2 experiment: its ticket, and whether the caller is to read it now. No row: no such experiment.
WITH found AS MATERIALIZED (
    SELECT e.id, e.ticket_source, e.external_ticket_id, e.ticket_url FROM experiment e WHERE e.account_id = $1 AND e.id = $2
    FOR KEY SHARE -- one that is being deleted is waited for
), claimed AS (
    INSERT INTO ticket AS t (experiment_id, source, id, due_at)
    SELECT f.id, f.ticket_source, f.external_ticket_id, clock_timestamp() + interval '1 minute' FROM found f
    WHERE f.ticket_source IN ('tracker_a', 'tracker_b') AND f.external_ticket_id <> ''
    ON CONFLICT (experiment_id, source, id) DO UPDATE SET due_at = excluded.due_at WHERE t.due_at <= clock_timestamp()
    RETURNING t.id
)
SELECT f.ticket_source AS source, f.external_ticket_id AS ticket, f.ticket_url AS url, EXISTS (SELECT FROM claimed) AS is_due FROM found f;

-- name: ticket_store
-- $1 experiment, $2 source, $3 ticket, $4 title, $5 state, $6 address, as the tracker says them.
UPDATE ticket SET
    title = left($4, 1000), state = left($5, 200), url = CASE WHEN $6 ~ '^https?://' AND length($6) <= 2048 THEN $6 END, fault = NULL,
    read_at = now(), due_at = now() + interval '10 minutes'
WHERE experiment_id = $1 AND source = $2 AND id = $3;

-- name: ticket_store_fault
-- $1 experiment, $2 source, $3 ticket, $4 why it could not be read.
UPDATE ticket SET fault = $4 WHERE experiment_id = $1 AND source = $2 AND id = $3;

-- name: ticket_get
-- $1 account, $2 experiment, $3 source, $4 ticket.
SELECT jsonb_build_object('ticket_source', t.source, 'external_ticket_id', t.id, 'title', t.title, 'state', t.state,
                          'url', coalesce(e.ticket_url, t.url), 'read_at', time_json(t.read_at), 'fault', t.fault)
FROM experiment e JOIN ticket t ON t.experiment_id = e.id
WHERE e.account_id = $1 AND e.id = $2 AND t.source = $3 AND t.id = $4;

-- name: ticket_decision (read)
-- $1 account, $2 experiment: its ticket, and its decision in lines of text (NULL: there is none yet). No row: no such experiment.
SELECT e.ticket_source AS source, e.external_ticket_id AS ticket, e.ticket_url AS url,
       CASE WHEN coalesce(e.outcome, nullif(e.decision, '')) IS NOT NULL THEN
           concat_ws(E'\n', 'Experiment: ' || e.name, 'Outcome: ' || e.outcome, 'Decision: ' || left(nullif(e.decision, ''), 10000),
                     CASE WHEN e.observed_delta IS NOT NULL THEN
                         concat_ws(' ', 'Observed change:', e.observed_delta, 'of ' || e.target_metric,
                                   '(' || replace(e.delta_confidence, '_', ' ') || ')') END)
       END AS decision
FROM experiment e WHERE e.account_id = $1 AND e.id = $2;
