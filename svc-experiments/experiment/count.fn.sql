-- How many experiments an account has, counted as they are made and deleted, so that the bound costs no count of them.

CREATE OR REPLACE FUNCTION experiment_count_add(account uuid, added bigint) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO experiment_count AS c VALUES (account, pg_backend_pid() % 8, added)
    ON CONFLICT (account_id, part) DO UPDATE SET experiments = c.experiments + excluded.experiments;
END $$;

CREATE OR REPLACE FUNCTION experiment_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM experiment_count_add(account_id, CASE TG_OP WHEN 'INSERT' THEN count(*) ELSE -count(*) END)
    FROM changed GROUP BY account_id ORDER BY account_id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER experiment_inserted AFTER INSERT ON experiment REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION experiment_counted();
CREATE OR REPLACE TRIGGER experiment_deleted AFTER DELETE ON experiment REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION experiment_counted();

-- Whether the account has room for `added` experiments more; else violates experiment_max. Near the bound, requests of the account
-- take turns until they commit, and count again, so that they do not exceed it together.
CREATE OR REPLACE FUNCTION experiment_has_room(account uuid, added int, most int) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
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
