-- The versions of the built-in embedder, which one process trains (indexing/trainer.h) and all replicas use. The
-- parameters of a version never change, and its name is made from them. Of a format, the one with the greatest number is
-- current.
CREATE TABLE embedder (
    version     text PRIMARY KEY CHECK (octet_length(version) BETWEEN 1 AND 100),
    number      bigint NOT NULL UNIQUE GENERATED ALWAYS AS IDENTITY,
    format      integer NOT NULL,  -- of the parameters
    bytes       integer NOT NULL CHECK (bytes BETWEEN 1 AND 33554432), -- of all chunks
    fingerprint bytea NOT NULL,    -- digest of the papers that the parameters depend on
    trained_at  timestamptz NOT NULL DEFAULT now(),
    -- The corpus that training was last found to give this version for:
    papers      integer NOT NULL,
    change      bigint NOT NULL,   -- its newest change
    checked_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE embedder_chunk (
    version text REFERENCES embedder ON DELETE CASCADE,
    number  integer CHECK (number BETWEEN 0 AND 127), -- from 0
    data    bytea NOT NULL CHECK (octet_length(data) BETWEEN 1 AND 262144),
    PRIMARY KEY (version, number)
);
ALTER TABLE embedder_chunk ALTER data SET STORAGE EXTERNAL; -- nothing in it can be compressed

-- Replicas hear of a new version as they hear of changes.
CREATE TRIGGER embedder_tell AFTER INSERT OR UPDATE ON embedder
    FOR EACH STATEMENT EXECUTE FUNCTION asset_tell_change();
