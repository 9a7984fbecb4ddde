-- What the audit log has of this service (audit_row()).
CREATE OR REPLACE TRIGGER provisioning_started_audit AFTER INSERT OR UPDATE OF task_id ON provisioning FOR EACH ROW
    EXECUTE FUNCTION audit_row('provisioning.started', 'interest', 'interest_id', 'repo', 'task_id repo agent provider branch auto_merge');
CREATE OR REPLACE TRIGGER feed_created_audit AFTER INSERT ON feed FOR EACH ROW
    EXECUTE FUNCTION audit_row('feed.created', 'feed', 'id', '', 'interest_id min_score');
CREATE OR REPLACE TRIGGER feed_deleted_audit AFTER DELETE ON feed FOR EACH ROW EXECUTE FUNCTION audit_row('feed.deleted', 'feed', 'id', '', '');
CREATE OR REPLACE TRIGGER interest_deleted_audit AFTER DELETE ON interest FOR EACH ROW
    EXECUTE FUNCTION audit_row('interest.deleted', 'interest', 'id', 'name', '');
