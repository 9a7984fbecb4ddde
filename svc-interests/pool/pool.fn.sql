-- Whether to draw the background for an index of this size: there is none, or the index has become a tenth larger or smaller.
CREATE OR REPLACE FUNCTION background_is_due(documents integer) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT $1 > 0 AND NOT EXISTS (SELECT FROM background b WHERE abs(b.documents - $1) <= b.documents / 10)
$$;

-- The last day (UTC) on which it was the interest's turn to have all papers searched for its pool. Each of seven days is the turn of a
-- seventh of all interests.
CREATE OR REPLACE FUNCTION pool_turn(interest uuid) RETURNS date LANGUAGE sql STABLE AS $$
    SELECT day - (day - '2000-01-01'::date + (uuid_hash(interest) & 65535)) % 7 FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) today
$$;

-- Refuse candidates of an interest that is not there, and delete them with theirs. Whoever deletes an interest waits for the statement that
-- has stored candidates of it, and sees them then.
CREATE OR REPLACE FUNCTION interest_required() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    PERFORM FROM interest WHERE id IN (SELECT interest_id FROM made) ORDER BY id FOR KEY SHARE;
    IF EXISTS (SELECT FROM (SELECT DISTINCT interest_id FROM made) m
               WHERE NOT EXISTS (SELECT FROM interest i WHERE i.id = m.interest_id OFFSET 0)) THEN
        RAISE foreign_key_violation USING MESSAGE = 'there is no such interest', CONSTRAINT = 'interest_required';
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER interest_required AFTER INSERT ON pool_entry REFERENCING NEW TABLE AS made
    FOR EACH STATEMENT EXECUTE FUNCTION interest_required();

CREATE OR REPLACE FUNCTION pool_dropped() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM pool_entry e USING changed WHERE e.interest_id = changed.id;
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER pool_dropped AFTER DELETE ON interest REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION pool_dropped();

-- A pool whose last attempt failed is not building any more, in whatever way the attempt ended: its worker may have died.
-- Another task for the same interest, of its newer words, goes on. Of two that fail at the same time, one waits for the other and sees
-- its end.
CREATE OR REPLACE FUNCTION pool_failed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM interest WHERE id = (NEW.input ->> 'interest_id')::uuid AND pool_status IN ('building', 'stale') FOR NO KEY UPDATE;
    UPDATE interest SET pool_status = 'failed'
    WHERE id = (NEW.input ->> 'interest_id')::uuid AND pool_status IN ('building', 'stale')
      AND NOT EXISTS (SELECT FROM task t
                      WHERE t.account_id = NEW.account_id AND t.kind = NEW.kind AND t.status IN ('pending', 'running')
                        AND t.input ->> 'interest_id' = NEW.input ->> 'interest_id');
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER pool_failed AFTER UPDATE OF status ON task FOR EACH ROW
    WHEN (NEW.kind = 'pool_build' AND NEW.status = 'failed') EXECUTE FUNCTION pool_failed();
