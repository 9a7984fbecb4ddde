-- A day's run gives the accounts their tasks in the order of their ids; those after this one are still without. NULL: none is, as in the
-- runs of the former version, which queued all at once.
ALTER TABLE daily_run ADD COLUMN next_account uuid;
