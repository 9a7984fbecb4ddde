-- Telling the gateway of changes that its audit log names.

-- Tell of a change, on the stream of this service's schema: {"action", "target": {"kind", "id", "name"}, "changed": [{"field", "from",
-- "to"}], "by": {"key_id", "ip", "user_agent"}}. `by` is null where no request makes it; or {"kind": "operator"}.
CREATE OR REPLACE FUNCTION audit_emit(account uuid, action text, target jsonb, changed jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM event_emit('events.audit.' || current_schema(), 'audit', account, jsonb_build_object(
        'action', action, 'target', target, 'changed', changed,
        'by', nullif(current_setting('expops.audit', true), '')::jsonb));
END $$;

-- Only an operator lets a task run again that has failed for good, or drops it; the release before does not say who.
CREATE OR REPLACE FUNCTION task_retried() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nullif(current_setting('expops.audit', true), '') IS NULL THEN
        PERFORM set_config('expops.audit', '{"kind": "operator"}', true);
    END IF;
    PERFORM audit_emit(NEW.account_id, CASE NEW.status WHEN 'pending' THEN 'task.retried' ELSE 'task.dropped' END,
                       jsonb_build_object('kind', 'task', 'id', NEW.id, 'name', NEW.kind), '[]');
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER task_retried_audit AFTER UPDATE OF status ON task FOR EACH ROW
    WHEN (OLD.status = 'failed' AND NEW.status IN ('pending', 'cancelled')) EXECUTE FUNCTION task_retried();

-- The columns `fields` that differ, as `changed`. A column whose name begins with ! is secret: its values are left out.
CREATE OR REPLACE FUNCTION audit_changes(old_row jsonb, new_row jsonb, fields text[]) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RETURN (
    SELECT coalesce(jsonb_agg(jsonb_build_object('field', c.name, 'from', CASE WHEN c.is_shown THEN old_row -> c.name END,
                                                 'to', CASE WHEN c.is_shown THEN new_row -> c.name END) ORDER BY c.name), '[]')
    FROM (SELECT ltrim(f, '!') AS name, f NOT LIKE '!%' AS is_shown FROM unnest(fields) f) c
    WHERE nullif(old_row -> c.name, 'null') IS DISTINCT FROM nullif(new_row -> c.name, 'null'));
END $$;

-- A trigger that tells of a change of a row. Its arguments: the action, the kind of the target, the columns of its id and of its name, and
-- the columns that are told. An update that changes none of these is not told of, nor what goes with its account.
CREATE OR REPLACE FUNCTION audit_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    old_row jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    new_row jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    is_row jsonb := coalesce(new_row, old_row);
    account uuid := is_row ->> 'account_id';
    fields text[] := string_to_array(TG_ARGV[4], ' ');
    changed jsonb := CASE WHEN TG_OP = 'DELETE' THEN '[]' ELSE audit_changes(coalesce(old_row, '{}'), new_row, fields) END;
BEGIN
    IF TG_OP = 'UPDATE' AND changed = '[]' AND cardinality(fields) > 0 OR EXISTS (SELECT FROM deleted_account d WHERE d.id = account) THEN
        RETURN NULL;
    END IF;
    PERFORM audit_emit(account, TG_ARGV[0], jsonb_build_object('kind', TG_ARGV[1], 'id', is_row ->> TG_ARGV[2], 'name', is_row ->> TG_ARGV[3]),
                       changed);
    RETURN NULL;
END $$;
