-- Budgets of what runs cost (budget/budget.fn.sql).
--
--   target      what the scope is about: '' for the account, a repository in lower case, an interest's id
--   counted_from  the beginning of the first period that counts runs
--   zone_since  when time_zone and week_starts begin to hold; until then those before them do
CREATE TABLE budget (
    id                 uuid PRIMARY KEY DEFAULT uuid_v7(),
    account_id         uuid NOT NULL,
    scope              text NOT NULL CHECK (scope IN ('account', 'repo', 'interest')),
    target             text NOT NULL,
    repo               text CHECK ((repo IS NOT NULL) = (scope = 'repo')),
    interest_id        uuid CHECK ((interest_id IS NOT NULL) = (scope = 'interest')),
    period             text NOT NULL CHECK (period IN ('day', 'week', 'month')),
    usd                numeric NOT NULL CHECK (usd BETWEEN 0 AND 1000000),
    action             text NOT NULL CHECK (action = 'warn'),
    warn_percent       int[] NOT NULL,
    time_zone          text NOT NULL,
    week_starts        int NOT NULL CHECK (week_starts BETWEEN 1 AND 7),
    zone_since         timestamptz NOT NULL DEFAULT '-infinity',
    former_time_zone   text NOT NULL,
    former_week_starts int NOT NULL,
    counted_from       timestamptz NOT NULL DEFAULT 'infinity',
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    UNIQUE (account_id, scope, target, period)
);
CREATE TRIGGER account_required BEFORE INSERT ON budget FOR EACH ROW EXECUTE FUNCTION account_required();

-- What was spent in a period; no row: nothing yet.
--
--   runs_unknown  those that have ended and of which the spend is not known
--   corrected_at  when a report came last that was of the period after its end
CREATE TABLE budget_period (
    account_id   uuid NOT NULL,
    budget_id    uuid NOT NULL REFERENCES budget ON DELETE CASCADE,
    starts_at    timestamptz NOT NULL,
    ends_at      timestamptz NOT NULL,
    reported     numeric NOT NULL DEFAULT 0,
    estimated    numeric NOT NULL DEFAULT 0,
    runs         int NOT NULL DEFAULT 0,
    runs_unknown int NOT NULL DEFAULT 0,
    corrected_at timestamptz,
    PRIMARY KEY (budget_id, starts_at)
);

-- The shares of a period's budget that the account was told of.
CREATE TABLE budget_notice (
    budget_id uuid NOT NULL,
    starts_at timestamptz NOT NULL,
    percent   int NOT NULL,
    passed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (budget_id, starts_at, percent),
    FOREIGN KEY (budget_id, starts_at) REFERENCES budget_period ON DELETE CASCADE
);
