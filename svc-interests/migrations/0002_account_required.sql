-- A request that was under way when its account was deleted leaves nothing behind: neither an interest, which the daily
-- run would go on to serve, nor a task.
CREATE FUNCTION account_required() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM deleted_account WHERE id = NEW.account_id) THEN
        RAISE foreign_key_violation USING MESSAGE = 'the account was deleted', CONSTRAINT = 'account_required';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER account_required BEFORE INSERT ON interest FOR EACH ROW EXECUTE FUNCTION account_required();
CREATE TRIGGER account_required BEFORE INSERT ON task FOR EACH ROW EXECUTE FUNCTION account_required();

DELETE FROM interest i USING deleted_account d WHERE d.id = i.account_id;
DELETE FROM task t USING deleted_account d WHERE d.id = t.account_id;
