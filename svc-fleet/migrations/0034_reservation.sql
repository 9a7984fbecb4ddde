-- Budgets that stop runs: what starts reserve of them (budget/reservation.fn.sql).
--
--   max_usd_per_run  what one run may use
--   assume_usd       what a run counts that ends without a known spend; null: what was reserved for it
DROP FUNCTION IF EXISTS budget_announce(budget, budget_period);
DROP FUNCTION IF EXISTS budget_count(budget);
DROP FUNCTION IF EXISTS budget_part(run, int);
DROP FUNCTION IF EXISTS budget_period_count(budget, timestamptz, timestamptz);

ALTER TABLE run DROP CONSTRAINT run_spend_basis_check;
ALTER TABLE run ADD CONSTRAINT run_spend_basis_check CHECK (spend_basis IN ('reported', 'estimated', 'assumed'));

ALTER TABLE budget DROP CONSTRAINT budget_action_check;
ALTER TABLE budget ADD CONSTRAINT budget_action_check CHECK (action IN ('warn', 'stop'));
ALTER TABLE budget ADD COLUMN max_usd_per_run numeric;
ALTER TABLE budget ALTER COLUMN max_usd_per_run SET DEFAULT 10;
UPDATE budget SET max_usd_per_run = 10;
ALTER TABLE budget ALTER COLUMN max_usd_per_run SET NOT NULL;
ALTER TABLE budget ADD COLUMN assume_usd numeric;

--   reserved  for runs that have not ended
--   refused   starts
ALTER TABLE budget_period ADD COLUMN assumed numeric, ADD COLUMN reserved numeric, ADD COLUMN refused int;
ALTER TABLE budget_period ALTER COLUMN assumed SET DEFAULT 0, ALTER COLUMN reserved SET DEFAULT 0, ALTER COLUMN refused SET DEFAULT 0;
UPDATE budget_period SET assumed = 0, reserved = 0, refused = 0;
ALTER TABLE budget_period ALTER COLUMN assumed SET NOT NULL, ALTER COLUMN reserved SET NOT NULL, ALTER COLUMN refused SET NOT NULL;

-- What is added to the figures of the periods that a run or a reservation counts in.
CREATE TYPE budget_part AS (
    account_id   uuid,
    repo_key     text,
    interest_id  text,
    at           timestamptz,
    reported     numeric,
    estimated    numeric,
    assumed      numeric,
    reserved     numeric,
    runs         int,
    runs_unknown int
);

-- The money of a run that was started and of which the spend is not known yet.
--
--   key         of the start, the same when it is repeated
--   run_id      as the run reports it; null: it is not known yet
--   max_usd     what the agent is told
--   assume_usd  what the run counts if its spend stays unknown
--   is_over_budget  it was started whatever was left
--   state       held; settled: the run counts by its spend; released: there was no run
CREATE TABLE reservation (
    id          uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id  uuid NOT NULL,
    key         text NOT NULL,
    repo_key    text NOT NULL,
    repo        text NOT NULL,
    interest_id uuid,
    agent       text,
    provider    text,
    model       text,
    amount_usd  numeric NOT NULL,
    max_usd     numeric NOT NULL,
    assume_usd  numeric NOT NULL,
    is_over_budget boolean NOT NULL DEFAULT false,
    run_id      jsonb,
    run_attempt int NOT NULL DEFAULT 1,
    made_at     timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL,
    state       text NOT NULL DEFAULT 'held' CHECK (state IN ('held', 'settled', 'released')),
    UNIQUE (account_id, key)
);
CREATE INDEX reservation_by_run ON reservation (account_id, repo_key, (run_id #>> '{}'));
CREATE INDEX reservation_expiring ON reservation (expires_at) WHERE state = 'held';
CREATE TRIGGER account_required BEFORE INSERT ON reservation FOR EACH ROW EXECUTE FUNCTION account_required();
