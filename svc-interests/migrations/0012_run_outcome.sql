-- What became of pull requests and issues that runs of agents opened, as the stream events.runs told.
CREATE TABLE run_outcome (
    account_id        uuid NOT NULL,
    url               text NOT NULL CHECK (octet_length(url) <= 8192),
    version           bigint NOT NULL, -- rises with each event about the link
    stage             text NOT NULL,   -- `open`, `closed`, `merged` or `withdrawn`
    interest_id       uuid,            -- the run said that it was for these
    recommendation_id uuid,
    arxiv_id          text,
    PRIMARY KEY (account_id, url)
);

CREATE INDEX run_outcome_of_interest ON run_outcome (interest_id, arxiv_id) WHERE interest_id IS NOT NULL;
CREATE INDEX run_outcome_of_recommendation ON run_outcome (recommendation_id) WHERE recommendation_id IS NOT NULL;
CREATE TRIGGER account_skipped BEFORE INSERT ON run_outcome FOR EACH ROW EXECUTE FUNCTION account_skipped();

-- What the runs of an account say counts for the account's own interests and recommendations alone.
CREATE VIEW run_signal AS
SELECT i.id AS interest_id, o.arxiv_id, o.stage AS signal
FROM interest i JOIN run_outcome o ON o.interest_id = i.id AND o.account_id = i.account_id
WHERE o.stage IN ('merged', 'closed') AND o.arxiv_id IS NOT NULL
UNION
SELECT r.interest_id, r.arxiv_id, o.stage
FROM recommendation r JOIN run_outcome o ON o.recommendation_id = r.id AND o.account_id = r.account_id
WHERE o.stage IN ('merged', 'closed');

CREATE OR REPLACE VIEW signal AS
SELECT r.interest_id, r.arxiv_id, f.signal
FROM feedback f JOIN recommendation r ON r.id = f.recommendation_id
UNION
SELECT e.interest_id, paper.arxiv_id, given.signal
FROM linked_experiment e
CROSS JOIN LATERAL unnest(e.arxiv_ids) AS paper (arxiv_id)
CROSS JOIN LATERAL (VALUES ('merged', e.pr_status = 'merged'),
                           ('closed', e.pr_status = 'closed'),
                           ('shipped', e.status = 'shipped' OR e.outcome = 'ship'),
                           ('abandoned', e.status IN ('abandoned', 'rejected') OR e.outcome = 'abandon'))
           AS given (signal, is_given)
WHERE given.is_given
UNION
SELECT * FROM run_signal;

CREATE OR REPLACE FUNCTION account_forget(account uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM interest WHERE account_id = account ORDER BY id FOR UPDATE;
    PERFORM account_lock(account, true);
    INSERT INTO deleted_account (id) VALUES (account) ON CONFLICT (id) DO NOTHING;
    DELETE FROM interest WHERE account_id = account;
    DELETE FROM experiment WHERE account_id = account;
    DELETE FROM run_outcome WHERE account_id = account;
    DELETE FROM idempotency WHERE account_id = account;
    DELETE FROM task WHERE account_id = account;
END $$;
