-- What the audit log has of this service (audit_row()); beside it code_host/trigger.sql tells of runs that are started.
CREATE OR REPLACE TRIGGER installation_revoked_audit AFTER UPDATE OF status ON installation FOR EACH ROW
    WHEN (NEW.status = 'revoked' AND OLD.status <> 'revoked')
    EXECUTE FUNCTION audit_row('installation.revoked', 'installation', 'id', 'repo', '');
CREATE OR REPLACE TRIGGER budget_overridden_new_audit AFTER INSERT ON reservation FOR EACH ROW
    WHEN (NEW.is_over_budget)
    EXECUTE FUNCTION audit_row('budget.overridden', 'reservation', 'id', 'repo', 'agent model amount_usd');
CREATE OR REPLACE TRIGGER budget_overridden_audit AFTER UPDATE OF is_over_budget ON reservation FOR EACH ROW
    WHEN (NEW.is_over_budget AND NOT OLD.is_over_budget)
    EXECUTE FUNCTION audit_row('budget.overridden', 'reservation', 'id', 'repo', 'is_over_budget amount_usd');
CREATE OR REPLACE TRIGGER budget_changed_audit AFTER INSERT OR DELETE OR UPDATE OF usd, action, warn_percent, max_usd_per_run, assume_usd, time_zone,
    week_starts ON budget FOR EACH ROW
    EXECUTE FUNCTION audit_row('budget.changed', 'budget', 'id', 'target',
                               'scope target period usd action warn_percent max_usd_per_run assume_usd time_zone week_starts');
