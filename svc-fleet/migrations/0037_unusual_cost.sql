-- Costs that stand out (budget/unusual.fn.sql).

-- Runs that are to be compared with those before them.
CREATE TABLE cost_look (
    account_id uuid NOT NULL,
    run        uuid PRIMARY KEY,
    first_at   timestamptz NOT NULL
);
CREATE INDEX cost_look_account ON cost_look (account_id);
CREATE TRIGGER account_required BEFORE INSERT ON cost_look FOR EACH ROW EXECUTE FUNCTION account_required();

-- What stood out.
--
--   kind          run: it cost much more than those before it; day: all of its runs did; failures: of three runs in a row
--   subject       what it is found of once: a run's id; a day; an agent on a repository and a day
--   repo_key, repo, agent, model, run_ids  null or empty of a day
--   usd           what it cost
--   compared_usd  the median of those before it; of failures, the smallest budget of a day or week
--   at            when the run, or the last of them, has started
CREATE TABLE cost_unusual (
    account_id   uuid NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('run', 'day', 'failures')),
    subject      text NOT NULL,
    repo_key     text,
    repo         text,
    agent        text,
    model        text,
    run_ids      jsonb NOT NULL DEFAULT '[]',
    usd          numeric NOT NULL,
    compared_usd numeric NOT NULL,
    at           timestamptz NOT NULL,
    found_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, kind, subject)
);
CREATE TRIGGER account_required BEFORE INSERT ON cost_unusual FOR EACH ROW EXECUTE FUNCTION account_required();
