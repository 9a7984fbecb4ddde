-- When the figures of a budget were last compared with its runs, so that processes share that work.
ALTER TABLE budget ADD COLUMN checked_at timestamptz;
ALTER TABLE budget ALTER COLUMN checked_at SET DEFAULT now();
UPDATE budget SET checked_at = now();
ALTER TABLE budget ALTER COLUMN checked_at SET NOT NULL;
CREATE INDEX budget_unchecked ON budget (checked_at);
DROP FUNCTION IF EXISTS budget_check(uuid);
