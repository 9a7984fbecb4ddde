-- What the audit log has of this service (audit_row()).
CREATE OR REPLACE TRIGGER template_locked_audit AFTER UPDATE OF is_locked ON template FOR EACH ROW
    WHEN (NEW.is_locked AND NOT OLD.is_locked) EXECUTE FUNCTION audit_row('template.locked', 'template', 'id', 'name', 'is_locked');
