-- name: snapshot_get (read)
-- $1 account, $2 experiment: what was kept at its newest decision (NULL: nothing). No row: no such experiment.
SELECT (SELECT k.graph || jsonb_build_object('snapshot', jsonb_build_object('at', time_json(k.at), 'trigger', k.trigger))
        FROM experiment_evidence k WHERE k.experiment_id = e.id ORDER BY k.version DESC LIMIT 1)
FROM experiment e WHERE e.account_id = $1 AND e.id = $2;

-- name: snapshot_store
-- $1 account, $2 experiment, $3 its version, $4 when, $5 what was set, $6 digest, $7 the answer, $8 request id.
SELECT evidence_keep($1, $2, $3, $4, $5, $6, $7::jsonb, $8);
