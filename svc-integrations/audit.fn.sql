-- What the audit log has of this service (audit_row()).

-- A model's key has no account at the provider.
CREATE OR REPLACE TRIGGER connection_connected_audit AFTER INSERT OR UPDATE OF id ON connection FOR EACH ROW WHEN (NEW.external_id IS NOT NULL)
    EXECUTE FUNCTION audit_row('connection.connected', 'connection', 'id', 'provider', 'connected_at external_login scopes');
CREATE OR REPLACE TRIGGER model_key_connected_audit AFTER INSERT OR UPDATE OF id ON connection FOR EACH ROW WHEN (NEW.external_id IS NULL)
    EXECUTE FUNCTION audit_row('model_key.connected', 'connection', 'id', 'provider', 'connected_at base_url');
CREATE OR REPLACE TRIGGER connection_disconnected_audit AFTER DELETE ON connection FOR EACH ROW
    EXECUTE FUNCTION audit_row('connection.disconnected', 'connection', 'id', 'provider', '');

-- Addresses of webhooks may be secrets, and those of mails are persons'.
CREATE OR REPLACE TRIGGER webhook_created_audit AFTER INSERT ON endpoint FOR EACH ROW
    EXECUTE FUNCTION audit_row('webhook.created', 'webhook', 'id', 'name', 'kind events repos interest_ids !url !email');
CREATE OR REPLACE TRIGGER webhook_updated_audit AFTER UPDATE OF name, events, repos, interest_ids, status, url, email ON endpoint FOR EACH ROW
    EXECUTE FUNCTION audit_row('webhook.updated', 'webhook', 'id', 'name', 'name events repos interest_ids status !url !email');
CREATE OR REPLACE TRIGGER webhook_deleted_audit AFTER DELETE ON endpoint FOR EACH ROW
    EXECUTE FUNCTION audit_row('webhook.deleted', 'webhook', 'id', 'name', '');
CREATE OR REPLACE TRIGGER webhook_secret_rotated_audit AFTER UPDATE OF secret_hint ON endpoint FOR EACH ROW
    WHEN (NEW.kind = 'webhook' AND NEW.secret_hint IS DISTINCT FROM OLD.secret_hint)
    EXECUTE FUNCTION audit_row('webhook.secret_rotated', 'webhook', 'id', 'name', '');

-- The app at the code host is of no account.
CREATE OR REPLACE TRIGGER app_created_audit AFTER INSERT ON app FOR EACH ROW EXECUTE FUNCTION audit_row('app.created', 'app', 'app_id', 'slug', 'owner_login');
CREATE OR REPLACE TRIGGER app_replaced_audit AFTER UPDATE OF app_id ON app FOR EACH ROW WHEN (NEW.app_id <> OLD.app_id)
    EXECUTE FUNCTION audit_row('app.replaced', 'app', 'app_id', 'slug', 'app_id owner_login');
CREATE OR REPLACE TRIGGER app_deleted_audit AFTER DELETE ON app FOR EACH ROW EXECUTE FUNCTION audit_row('app.deleted', 'app', 'app_id', 'slug', '');
