-- What the audit log has of this service (audit_row()); beside it run/run.fn.sql tells of runs that are started.
CREATE OR REPLACE TRIGGER experiment_deleted_audit AFTER DELETE ON experiment FOR EACH ROW
    EXECUTE FUNCTION audit_row('experiment.deleted', 'experiment', 'id', 'name', '');
CREATE OR REPLACE TRIGGER project_deleted_audit AFTER DELETE ON project FOR EACH ROW
    EXECUTE FUNCTION audit_row('project.deleted', 'project', 'id', 'name', '');

-- As evidence/snapshot.fn.sql says what a decision is.
CREATE OR REPLACE TRIGGER experiment_decided_new_audit AFTER INSERT ON experiment FOR EACH ROW
    WHEN (NEW.outcome IS NOT NULL OR NEW.status IN ('shipped', 'rejected', 'abandoned'))
    EXECUTE FUNCTION audit_row('experiment.decided', 'experiment', 'id', 'name', 'outcome status');
CREATE OR REPLACE TRIGGER experiment_decided_audit AFTER UPDATE OF outcome, status ON experiment FOR EACH ROW
    WHEN ((NEW.outcome IS NOT NULL AND NEW.outcome IS DISTINCT FROM OLD.outcome)
          OR (NEW.status IN ('shipped', 'rejected', 'abandoned') AND NEW.status <> OLD.status))
    EXECUTE FUNCTION audit_row('experiment.decided', 'experiment', 'id', 'name', 'outcome status');
