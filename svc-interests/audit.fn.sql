-- What the audit log has of this service (audit_row()).
CREATE OR REPLACE TRIGGER provisioning_started_audit AFTER INSERT OR UPDATE OF task_id ON provisioning FOR EACH ROW
    EXECUTE FUNCTION audit_row('provisioning.started', 'interest', 'interest_id', 'repo', 'task_id repo agent provider branch auto_merge');
CREATE OR REPLACE TRIGGER feed_created_audit AFTER INSERT ON feed FOR EACH ROW
    EXECUTE FUNCTION audit_row('feed.created', 'feed', 'id', '', 'interest_id min_score');
CREATE OR REPLACE TRIGGER feed_deleted_audit AFTER DELETE ON feed FOR EACH ROW EXECUTE FUNCTION audit_row('feed.deleted', 'feed', 'id', '', '');
CREATE OR REPLACE TRIGGER interest_deleted_audit AFTER DELETE ON interest FOR EACH ROW
    EXECUTE FUNCTION audit_row('interest.deleted', 'interest', 'id', 'name', '');
CREATE OR REPLACE TRIGGER agent_paused_audit AFTER UPDATE OF agent_paused_at ON interest FOR EACH ROW
    WHEN (OLD.agent_paused_at IS NULL AND NEW.agent_paused_at IS NOT NULL)
    EXECUTE FUNCTION audit_row('agent.paused', 'interest', 'id', 'name', '');
CREATE OR REPLACE TRIGGER agent_resumed_audit AFTER UPDATE OF agent_paused_at ON interest FOR EACH ROW
    WHEN (OLD.agent_paused_at IS NOT NULL AND NEW.agent_paused_at IS NULL)
    EXECUTE FUNCTION audit_row('agent.resumed', 'interest', 'id', 'name', '');
