-- original-sha256: 2aeaeac90a6bec6735c89b33f29a6e630cd27b1435613a9a3fa44cafb875aada
--
-- The papers that experiments name, each in a row (evidence/evidence.fn.sql), so that those on a paper are found.
CREATE TABLE experiment_paper (
    account_id    uuid NOT NULL,
    arxiv_id      text NOT NULL CONSTRAINT arxiv_id_bytes CHECK (octet_length(arxiv_id) <= 64),
    experiment_id uuid NOT NULL REFERENCES experiment ON DELETE CASCADE,
    PRIMARY KEY (account_id, arxiv_id, experiment_id)
);
CREATE INDEX experiment_paper_of_experiment ON experiment_paper (experiment_id);

-- Of experiments that were made before, the newest first (service/fill.h).
INSERT INTO fill (name, cursor) VALUES ('experiment_papers', 'ffffffff-ffff-ffff-ffff-ffffffffffff');
