CREATE TABLE pool_entry (
    interest_id  uuid NOT NULL REFERENCES interest ON DELETE CASCADE,
    pool_version integer NOT NULL,
    arxiv_id     text NOT NULL REFERENCES paper,
    relevance    double precision NOT NULL CHECK (relevance BETWEEN 0 AND 1),
    matched      jsonb NOT NULL, -- the words that brought it
    PRIMARY KEY (interest_id, pool_version, arxiv_id)
);

COMMENT ON TABLE pool_entry IS 'Candidates for an interest. Those of another pool_version than the interest''s are not read.';

-- A pool whose last attempt failed is not building any more, in whatever way the attempt ended: its worker may have died.
-- Another task for the same interest, of its newer words, goes on.
CREATE FUNCTION pool_failed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE interest SET pool_status = 'failed'
    WHERE id = (NEW.input ->> 'interest_id')::uuid AND pool_status IN ('building', 'stale')
      AND NOT EXISTS (SELECT FROM task t
                      WHERE t.account_id = NEW.account_id AND t.kind = NEW.kind AND t.status IN ('pending', 'running')
                        AND t.input ->> 'interest_id' = NEW.input ->> 'interest_id');
    RETURN NULL;
END $$;

CREATE TRIGGER pool_failed AFTER UPDATE OF status ON task FOR EACH ROW
    WHEN (NEW.kind = 'pool_build' AND NEW.status = 'failed') EXECUTE FUNCTION pool_failed();
