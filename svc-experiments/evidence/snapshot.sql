-- name: snapshot_get(account, experiment) (read)
-- Returns what was kept at its newest decision (NULL: nothing). No row: no such experiment.
SELECT (SELECT k.graph || jsonb_build_object('snapshot', jsonb_build_object('at', time_json(k.at), 'trigger', k.trigger))
        FROM experiment_evidence k WHERE k.experiment_id = e.id ORDER BY k.version DESC LIMIT 1)
FROM experiment e WHERE e.account_id = :account AND e.id = :experiment;

-- name: snapshot_store(account, experiment, version, at, trigger, digest, graph, request_id)
-- :version is that of the experiment, :trigger what was set, :graph the answer.
SELECT evidence_keep(:account, :experiment, :version, :at, :trigger, :digest, :graph::jsonb, :request_id);
