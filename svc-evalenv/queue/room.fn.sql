-- The bounds of what an account may have.

-- Raise a violation of the constraint `name` unless the account has room for one more: `counted` of `most`. Near the end, requests
-- of the account take turns until they commit, and count again, so that they do not exceed it together; then `is_certain`.
CREATE OR REPLACE FUNCTION room_require(account uuid, name text, counted bigint, most int, is_certain boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF counted >= most THEN
        RAISE unique_violation USING MESSAGE = 'the account has as many as it may', CONSTRAINT = name;
    END IF;
    IF NOT is_certain AND counted >= most - 100 THEN
        PERFORM account_turn(account);
        RETURN false;
    END IF;
    RETURN true;
END $$;

CREATE OR REPLACE FUNCTION work_waiting(account uuid, kind text, most int) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT count(*) FROM (SELECT FROM work w WHERE w.account_id = $1 AND w.kind = $2 AND w.status = 'queued' LIMIT most) AS waiting
$$;

-- Room for one more build or run that waits for a worker.
CREATE OR REPLACE FUNCTION work_require_room(account uuid, kind text, most int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT room_require(account, kind || '_waiting_max', work_waiting(account, kind, most), most, false) THEN
        PERFORM room_require(account, kind || '_waiting_max', work_waiting(account, kind, most), most, true);
    END IF;
END $$;
