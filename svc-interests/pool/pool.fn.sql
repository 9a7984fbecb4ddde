-- Whether to draw the background for an index of this size: there is none, or the index has become a tenth larger or smaller.
CREATE OR REPLACE FUNCTION background_is_due(documents integer) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT $1 > 0 AND NOT EXISTS (SELECT FROM background b WHERE abs(b.documents - $1) <= b.documents / 10)
$$;

-- The last day (UTC) on which it was the interest's turn to have all papers searched for its pool. Each of seven days is the turn of a
-- seventh of all interests.
CREATE OR REPLACE FUNCTION pool_turn(interest uuid) RETURNS date LANGUAGE sql STABLE AS $$
    SELECT day - (day - '2000-01-01'::date + (uuid_hash(interest) & 65535)) % 7 FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS day) today
$$;

-- A pool whose last attempt failed is not building any more, in whatever way the attempt ended: its worker may have died.
-- Another task for the same interest, of its newer words, goes on.
CREATE OR REPLACE FUNCTION pool_failed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE interest SET pool_status = 'failed'
    WHERE id = (NEW.input ->> 'interest_id')::uuid AND pool_status IN ('building', 'stale')
      AND NOT EXISTS (SELECT FROM task t
                      WHERE t.account_id = NEW.account_id AND t.kind = NEW.kind AND t.status IN ('pending', 'running')
                        AND t.input ->> 'interest_id' = NEW.input ->> 'interest_id');
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER pool_failed AFTER UPDATE OF status ON task FOR EACH ROW
    WHEN (NEW.kind = 'pool_build' AND NEW.status = 'failed') EXECUTE FUNCTION pool_failed();
