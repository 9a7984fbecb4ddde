-- How many interests an account has, and how many of them are active: the daily run works on those. Both are bounded. Requests that
-- add to them lock the row until they commit, so that they take turns and do not exceed a bound together.
CREATE TABLE interest_count (
    account_id uuid PRIMARY KEY,
    interests  bigint NOT NULL,
    active     bigint NOT NULL
) WITH (fillfactor = 50);

CREATE FUNCTION interest_count_add(account uuid, added bigint, added_active bigint) RETURNS void LANGUAGE sql VOLATILE AS $$
    INSERT INTO interest_count AS c VALUES (account, added, added_active)
    ON CONFLICT (account_id) DO UPDATE SET interests = c.interests + excluded.interests, active = c.active + excluded.active
$$;

CREATE FUNCTION interest_counted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    PERFORM interest_count_add(account_id, sign * count(*), sign * count(*) FILTER (WHERE is_active))
    FROM changed GROUP BY account_id ORDER BY account_id;
    RETURN NULL;
END $$;

CREATE FUNCTION interest_active_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM interest_count_add(NEW.account_id, 0, CASE WHEN NEW.is_active THEN 1 ELSE -1 END);
    RETURN NULL;
END $$;

-- Nothing changes from the count on until the triggers are there.
LOCK TABLE interest IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO interest_count SELECT account_id, count(*), count(*) FILTER (WHERE is_active) FROM interest GROUP BY account_id;
CREATE TRIGGER interest_inserted AFTER INSERT ON interest REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION interest_counted();
CREATE TRIGGER interest_deleted AFTER DELETE ON interest REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION interest_counted();
CREATE TRIGGER interest_activated AFTER UPDATE OF is_active ON interest
    FOR EACH ROW WHEN (OLD.is_active <> NEW.is_active) EXECUTE FUNCTION interest_active_counted();

-- Whether the account has room for `added` interests more, `added_active` of them active; else violates interest_max or
-- interest_active_max. One that becomes active counts as `added` 0.
CREATE FUNCTION interest_has_room(account uuid, added bigint, added_active bigint, most int, active_most int) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    c interest_count;
BEGIN
    SELECT * INTO c FROM interest_count x WHERE x.account_id = account FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM interest_count_add(account, 0, 0);
        SELECT * INTO c FROM interest_count x WHERE x.account_id = account FOR UPDATE;
    END IF;
    IF added > 0 AND c.interests + added > most THEN
        RAISE unique_violation USING MESSAGE = 'the account has as many interests as it may', CONSTRAINT = 'interest_max';
    END IF;
    IF added_active > 0 AND c.active + added_active > active_most THEN
        RAISE unique_violation
            USING MESSAGE = 'the account has as many active interests as it may', CONSTRAINT = 'interest_active_max';
    END IF;
    RETURN true;
END $$;

-- Everything that an account had; a note stays. The count is locked before the account, as in the transaction of a new interest.
CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM interest WHERE account_id = account ORDER BY id FOR UPDATE;
    PERFORM FROM interest_count WHERE account_id = account FOR UPDATE;
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    DELETE FROM interest WHERE account_id = account;
    DELETE FROM interest_count WHERE account_id = account;
    DELETE FROM experiment WHERE account_id = account;
    DELETE FROM run_outcome WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM task WHERE account_id = account;
END $$;
