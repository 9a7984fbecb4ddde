-- replaces: 0008_bulk_import and 0001_asset 0002_vector 0004_change_order 0005_lists 0006_embedder 0007_embedder_recipe
-- replaces: 0009_newer_version
--
-- Papers, the truth from which every replica builds its index.

-- Numbers the states of all papers in the order in which they are committed (indexing/change.fn.sql): whoever has seen number n has
-- seen all below it.
CREATE SEQUENCE asset_change;

-- Writers of papers wait for each other by a lock on this empty table: an advisory lock could be held by other roles of the database.
CREATE TABLE asset_change_order ();

CREATE TABLE asset (
    arxiv_id          text COLLATE "C" PRIMARY KEY CHECK (arxiv_id ~ '^([0-9]{4}\.[0-9]{4,5}|[a-z-]+/[0-9]{7})$'),
    title             text NOT NULL CHECK (title <> ''),
    abstract          text NOT NULL DEFAULT '',
    authors           text[] NOT NULL DEFAULT '{}',
    categories        text[] NOT NULL DEFAULT '{}', -- the primary one first
    published_at      timestamptz,
    updated_at        timestamptz,
    github_url        text,
    container_image   text,
    container_status  text NOT NULL DEFAULT 'none'
                      CHECK (container_status IN ('none', 'queued', 'building', 'ready', 'failed')),
    containerfile     text,
    working_directory text,
    environment_vars  jsonb NOT NULL DEFAULT '{}',
    reference_summary jsonb NOT NULL DEFAULT '{"total": 0, "classified": 0, "by_class": {}}',
    license           text,
    is_deleted        boolean NOT NULL DEFAULT false, -- withdrawn at its source; kept so that replicas hear of it
    change            bigint NOT NULL DEFAULT nextval('asset_change') UNIQUE,
    has_container     boolean NOT NULL GENERATED ALWAYS AS (container_status = 'ready') STORED,
    added_at          timestamptz DEFAULT now() -- when it came in; null: before this column
);

-- Rows of up to half a page are stored as they are: compressing them saves little.
ALTER TABLE asset SET (toast_tuple_target = 4080);

CREATE INDEX asset_added ON asset (added_at) WHERE NOT is_deleted;

-- Tells an index on a replica's disk which database it was made from.
CREATE TABLE index_source (id uuid NOT NULL);
INSERT INTO index_source VALUES (uuid_v7());

-- The lists: papers under each key (list_keys()) in their order, so that a page far behind costs no more than reading this index.
-- Papers are never deleted, and only triggers write their keys, so there is no foreign key.
CREATE TABLE asset_key (
    arxiv_id      text COLLATE "C",
    key           text COLLATE "C",
    published_at  timestamptz,
    has_container boolean NOT NULL,
    PRIMARY KEY (arxiv_id, key)
);
CREATE INDEX asset_key_order ON asset_key (key, published_at DESC NULLS LAST, arxiv_id DESC) INCLUDE (has_container);

-- How many papers there are, counted as they change: a list says how many it has in all without counting them.
CREATE TABLE asset_count (
    key           text COLLATE "C", -- as in asset_key
    has_container boolean,
    papers        bigint NOT NULL,  -- under the key
    named         bigint NOT NULL,  -- of them those that name the key itself, not only a category below it
    reference     numeric NOT NULL, -- references of those papers, counted under '' alone
    classified    numeric NOT NULL, -- of them those that are classified
    PRIMARY KEY (key, has_container)
);

-- ---- Vectors of papers by an outside embedder, each made once for all replicas ----

-- One model, asked in one way: within a space vectors compare.
CREATE TABLE vector_space (
    name       text PRIMARY KEY,
    dimension  int CHECK (dimension BETWEEN 1 AND 4096), -- NULL until the first vector
    done       bigint NOT NULL DEFAULT 0, -- every paper whose change is not above this has been seen to
    holder     text,                      -- the process that sees to the next ones
    held_until timestamptz                -- and for how long at most
);

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

-- ---- The built-in embedder ----

-- Its versions, which one process trains (indexing/trainer.h) and all replicas use. The parameters of a version never change, and its
-- name is made from them. Of the versions whose recipe a process knows, that of the greatest recipe, and among these of the greatest
-- number, is current. A process that does not know recipes writes versions of the first one, and uses the greatest number of any
-- recipe, which it can read: the format is the same.
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
    checked_at  timestamptz NOT NULL DEFAULT now(),
    recipe      integer NOT NULL DEFAULT 1 -- how it was trained (engine/vector/training.h)
);

CREATE TABLE embedder_chunk (
    version text REFERENCES embedder ON DELETE CASCADE,
    number  integer CHECK (number BETWEEN 0 AND 127), -- from 0
    data    bytea NOT NULL CHECK (octet_length(data) BETWEEN 1 AND 262144),
    PRIMARY KEY (version, number)
);
ALTER TABLE embedder_chunk ALTER data SET STORAGE EXTERNAL; -- nothing in it can be compressed
