-- How many experiments an account has, so that a bound costs no count of them.

-- A connection writes one row of the account, so that creations at the same time seldom wait for each other.
CREATE TABLE experiment_count (
    account_id  uuid NOT NULL,
    part        int NOT NULL,
    experiments bigint NOT NULL,
    PRIMARY KEY (account_id, part)
) WITH (fillfactor = 50);

CREATE FUNCTION experiment_count_add(account uuid, added bigint) RETURNS void LANGUAGE sql VOLATILE AS $$
    INSERT INTO experiment_count AS c VALUES (account, pg_backend_pid() % 8, added)
    ON CONFLICT (account_id, part) DO UPDATE SET experiments = c.experiments + excluded.experiments
$$;

CREATE FUNCTION experiment_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM experiment_count_add(account_id, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END)
    FROM changed GROUP BY account_id ORDER BY account_id;
    RETURN NULL;
END $$;

-- Nothing is inserted or deleted from the count on until the triggers are there.
LOCK TABLE experiment IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO experiment_count SELECT account_id, 0, count(*) FROM experiment GROUP BY account_id;
CREATE TRIGGER experiment_inserted AFTER INSERT ON experiment REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION experiment_counted();
CREATE TRIGGER experiment_deleted AFTER DELETE ON experiment REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION experiment_counted();

-- Whether the account has room for `added` experiments more; else violates experiment_max. Near the bound, requests of the account
-- take turns until they commit, and count again, so that they do not exceed it together.
CREATE FUNCTION experiment_has_room(account uuid, added int, most int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    is_alone boolean := false;
    total bigint;
BEGIN
    LOOP
        SELECT coalesce(sum(c.experiments), 0) INTO total FROM experiment_count c WHERE c.account_id = account;
        IF total + added > most THEN
            RAISE unique_violation USING MESSAGE = 'the account has as many experiments as it may', CONSTRAINT = 'experiment_max';
        END IF;
        -- Others can add as many at the same time as there are connections, each a batch.
        EXIT WHEN is_alone OR total + added + 10000 <= most;
        PERFORM account_lock(account, true);
        is_alone := true;
    END LOOP;
    RETURN true;
END $$;

-- Everything that an account had; a note stays.
CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    DELETE FROM experiment WHERE account_id = account;
    DELETE FROM experiment_count WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM project WHERE account_id = account;
END $$;
