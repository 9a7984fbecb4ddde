-- When the run of a reservation asked whether its agent may begin (budget/admission.fn.sql); null: it did not, so no agent has begun. Of those
-- that are held already it is not known, and they count as if their agents had begun.
ALTER TABLE reservation ADD COLUMN asked_at timestamptz;
UPDATE reservation SET asked_at = made_at WHERE state = 'held' AND run_id IS NOT NULL;
