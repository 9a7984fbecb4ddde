-- original-sha256: 46117b37e1918f87dd0a3e2663ace41e7fdef99874a627d6424c0b0193f61246
--
-- The papers that runs considered, each once a run (candidate/candidate.fn.sql).
--
--   arxiv_id  the id of the paper, as arxiv_id_of() writes it
--   run, first_at  of the run
--   gate      at which the run passed it over; null: it is the paper that the run was about
CREATE TABLE candidate (
    account_id uuid NOT NULL,
    arxiv_id   text NOT NULL CONSTRAINT arxiv_id_bytes CHECK (octet_length(arxiv_id) <= 64),
    run        uuid NOT NULL,
    first_at   timestamptz NOT NULL,
    gate       text CHECK (gate IN ('relevance', 'duplicate', 'license', 'container', 'feasibility', 'risk', 'scope', 'budget', 'other')),
    reason     text,
    score      double precision,
    PRIMARY KEY (run, arxiv_id)
);
CREATE INDEX candidate_of_paper ON candidate (account_id, arxiv_id);

-- What runs reported before there was this table, the newest first (service/fill.h).
INSERT INTO fill (name, cursor) VALUES ('candidates', 'ffffffff-ffff-ffff-ffff-ffffffffffff');
