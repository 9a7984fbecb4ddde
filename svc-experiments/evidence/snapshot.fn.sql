-- Evidence as it was when an experiment was decided: what fades later, such as what runs looked for, is kept (evidence/snapshot.h).

-- An outcome or a final status was set: let the evidence be kept, once for the change.
CREATE OR REPLACE FUNCTION experiment_decided() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM task_put('evidence_keep', NEW.account_id, jsonb_build_object(
        'experiment_id', NEW.id, 'version', NEW.version, 'at', time_json(NEW.updated_at),
        'trigger', CASE WHEN NEW.outcome IS NOT NULL AND (TG_OP = 'INSERT' OR NEW.outcome IS DISTINCT FROM OLD.outcome)
                        THEN 'outcome' ELSE 'status' END), NULL, NULL);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER evidence_of_new AFTER INSERT ON experiment FOR EACH ROW
    WHEN (NEW.outcome IS NOT NULL OR NEW.status IN ('shipped', 'rejected', 'abandoned'))
    EXECUTE FUNCTION experiment_decided();
CREATE OR REPLACE TRIGGER evidence_of_change AFTER UPDATE OF outcome, status ON experiment FOR EACH ROW
    WHEN ((NEW.outcome IS NOT NULL AND NEW.outcome IS DISTINCT FROM OLD.outcome)
          OR (NEW.status IN ('shipped', 'rejected', 'abandoned') AND NEW.status <> OLD.status))
    EXECUTE FUNCTION experiment_decided();

-- The text of a field as it was after the changes of a moment, which is given in milliseconds.
CREATE OR REPLACE FUNCTION experiment_text_at(e experiment, field text, at timestamptz) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    later experiment_history;
BEGIN
    SELECT h.* INTO later FROM experiment_history h
    WHERE h.experiment_id = e.id AND h.field = $2 AND h.at >= $3 + interval '1 millisecond' ORDER BY h.id LIMIT 1;
    RETURN CASE WHEN later.id IS NULL THEN to_jsonb(e) ->> $2 ELSE later.was #>> '{}' END;
END $$;

-- Keep the evidence of a change, of the newest 20 of the experiment, and tell the account and, of its digest, the
-- audit log. One that is kept already stays as it is.
CREATE OR REPLACE FUNCTION evidence_keep(account uuid, experiment uuid, version bigint, at timestamptz, trigger text, digest text, graph jsonb,
                                         request_id text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    e experiment;
BEGIN
    SELECT x.* INTO e FROM experiment x WHERE x.id = $2 AND x.account_id = $1 FOR NO KEY UPDATE; -- one at a time, to keep no more
    INSERT INTO experiment_evidence (experiment_id, version, at, trigger, digest, graph)
    SELECT e.id, $3, $4, $5, $6, $7 WHERE e.id IS NOT NULL
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    DELETE FROM experiment_evidence k
    WHERE k.experiment_id = e.id AND k.version IN (SELECT o.version FROM experiment_evidence o WHERE o.experiment_id = e.id
                                                   ORDER BY o.version DESC OFFSET 20);
    PERFORM audit_emit(account, 'experiment.evidence_kept', jsonb_build_object('kind', 'experiment', 'id', e.id, 'name', e.name),
                       jsonb_build_array(jsonb_build_object('field', 'digest', 'from', NULL, 'to', $6)));
    PERFORM message_emit('events.experiments', 'experiment.decided', account, jsonb_build_object(
        'experiment_id', e.id, 'name', e.name, 'status', experiment_text_at(e, 'status', $4), 'outcome', experiment_text_at(e, 'outcome', $4),
        'decision', left(experiment_text_at(e, 'decision', $4), 1000),
        'decided_at', time_json($4), 'digest', $6, 'url', '/console/experiments/' || e.id), $8);
END $$;
