-- Vectors of papers by an outside embedder, each made once for all replicas.

-- One model, asked in one way: within a space vectors compare.
CREATE TABLE vector_space (
    name       text PRIMARY KEY,
    dimension  int CHECK (dimension BETWEEN 1 AND 4096), -- NULL until the first vector
    done       bigint NOT NULL DEFAULT 0, -- every paper whose change is not above this has been seen to
    holder     text,                      -- the process that sees to the next ones
    held_until timestamptz                -- and for how long at most
);

-- What a vector is made of. Not PARALLEL SAFE: the statements that ask for it look at few rows, sooner than a worker is
-- started.
CREATE FUNCTION text_digest(title text, abstract text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(convert_to(title || E'\n' || abstract, 'UTF8'))
$$;

-- `change` is drawn from the numbers of the papers' changes, so that one who follows those hears of vectors too.
CREATE TABLE asset_vector (
    space    text REFERENCES vector_space ON DELETE CASCADE,
    arxiv_id text COLLATE "C" REFERENCES asset,
    digest   bytea NOT NULL,  -- of the text that it was made of; it counts while the paper has that text
    vector   bytea NOT NULL,  -- a signed byte an element; its length says nothing
    change   bigint NOT NULL,
    PRIMARY KEY (space, arxiv_id),
    UNIQUE (space, change)
);
ALTER TABLE asset_vector ALTER vector SET STORAGE EXTERNAL; -- nothing in it can be compressed

CREATE TRIGGER asset_vector_lock BEFORE INSERT OR UPDATE ON asset_vector
    FOR EACH STATEMENT EXECUTE FUNCTION asset_lock_changes();
CREATE TRIGGER asset_vector_number BEFORE INSERT OR UPDATE ON asset_vector
    FOR EACH ROW EXECUTE FUNCTION asset_number_change();
