-- Whether the interest that a run has told is borne out: by the key that reports, by an installation of the repository, or by its start. What
-- is not counts in no budget of the interest. Null: the run has told none, or a former version stored it, which asked for nothing.
ALTER TABLE run ADD COLUMN interest_is_proved boolean;
