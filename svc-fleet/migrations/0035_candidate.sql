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

-- What runs reported before there was this table. Ids of another form than these are left out, and the words of a reason are not read
-- again: its gate is `other`.
INSERT INTO candidate (account_id, arxiv_id, run, first_at)
SELECT r.account_id, substring(r.arxiv_id FROM '^([0-9]{4}\.[0-9]{4,5})'), r.id, r.first_at
FROM run r WHERE r.arxiv_id ~ '^[0-9]{4}\.[0-9]{4,5}(v[0-9]{1,3})?$'
ON CONFLICT DO NOTHING;

INSERT INTO candidate (account_id, arxiv_id, run, first_at, gate, reason)
SELECT d.account_id, substring(c.item ->> 'arxiv_id' FROM '^([0-9]{4}\.[0-9]{4,5})'), d.id, d.first_at, 'other', left(c.item ->> 'reason', 2000)
FROM run_detail d,
     jsonb_array_elements(CASE WHEN jsonb_typeof(d.detail -> 'selection_rejected') = 'array' THEN d.detail -> 'selection_rejected'
                               ELSE '[]' END) WITH ORDINALITY AS c (item, place)
WHERE c.place <= 500 AND c.item ->> 'arxiv_id' ~ '^[0-9]{4}\.[0-9]{4,5}(v[0-9]{1,3})?$'
ON CONFLICT DO NOTHING;
