-- Changes of what a key or a session allows, written in the transaction that makes them, whichever process does. What a gateway has
-- read of keys holds until it hears of one (key/key_watch.h). A new key, session or member changes nothing that was read.

CREATE OR REPLACE FUNCTION key_change_add(changed uuid) RETURNS void LANGUAGE sql AS $$
    INSERT INTO key_change (subject) VALUES (changed) ON CONFLICT DO NOTHING
$$;

CREATE OR REPLACE FUNCTION api_key_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM key_change_add(OLD.account_id);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER api_key_changed
    AFTER UPDATE OF account_id, hash, kind, scopes, repo, interest_id, expires_at, revoked_at, deleted_at, repo_verified OR DELETE ON api_key
    FOR EACH ROW EXECUTE FUNCTION api_key_changed();

-- A key that gets a person has the scopes of their role from then on. Most get one in the transaction that makes them.
CREATE OR REPLACE FUNCTION api_key_person_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM key_change_add(k.account_id) FROM api_key k
    WHERE k.id = coalesce(NEW.key_id, OLD.key_id) AND k.created_at <> now();
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER api_key_person_changed AFTER INSERT OR UPDATE OR DELETE ON api_key_person
    FOR EACH ROW EXECUTE FUNCTION api_key_person_changed();

CREATE OR REPLACE FUNCTION session_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM key_change_add(coalesce(OLD.person_id, OLD.account_id));
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER session_changed
    AFTER UPDATE OF hash, account_id, person_id, key_id, scopes, expires_at OR DELETE ON session
    FOR EACH ROW EXECUTE FUNCTION session_changed();

CREATE OR REPLACE FUNCTION member_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM key_change_add(OLD.person_id);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER member_changed AFTER UPDATE OF role OR DELETE ON member FOR EACH ROW EXECUTE FUNCTION member_changed();

CREATE OR REPLACE FUNCTION person_changed() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM key_change_add(OLD.id);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER person_changed AFTER UPDATE OF is_operator, disabled_at OR DELETE ON person
    FOR EACH ROW EXECUTE FUNCTION person_changed();
