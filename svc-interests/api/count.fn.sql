-- How many interests an account has and how many of them are active, counted as they change, for the bounds. What changes them changes
-- its digests, whose version is in the same row (digest/digest.fn.sql).

CREATE OR REPLACE FUNCTION interest_count_add(account uuid, added bigint, added_active bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO interest_count AS c (account_id, interests, active) VALUES (account, added, added_active)
    ON CONFLICT (account_id) DO UPDATE
    SET interests = c.interests + excluded.interests, active = c.active + excluded.active, digest_version = c.digest_version + 1;
END $$;

CREATE OR REPLACE FUNCTION interest_counted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    PERFORM interest_count_add(account_id, sign * count(*), sign * count(*) FILTER (WHERE is_active))
    FROM changed GROUP BY account_id ORDER BY account_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER interest_inserted AFTER INSERT ON interest REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION interest_counted();
CREATE OR REPLACE TRIGGER interest_deleted AFTER DELETE ON interest REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION interest_counted();

CREATE OR REPLACE FUNCTION interest_active_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM interest_count_add(NEW.account_id, 0, CASE WHEN NEW.is_active THEN 1 ELSE -1 END);
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER interest_activated AFTER UPDATE OF is_active ON interest
    FOR EACH ROW WHEN (OLD.is_active <> NEW.is_active) EXECUTE FUNCTION interest_active_counted();

-- Whether the account has room for `added` interests more, `added_active` of them active; else violates interest_max or
-- interest_active_max. One that becomes active counts as `added` 0.
CREATE OR REPLACE FUNCTION interest_has_room(account uuid, added bigint, added_active bigint, most int, active_most int) RETURNS boolean
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
