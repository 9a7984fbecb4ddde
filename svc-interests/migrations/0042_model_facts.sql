-- What a preference model was fitted to and how good it is:
-- {"model_version": 2, "examples": 46, "positives": 18, "auc": 0.83, "learned": {"more": ["sparse attention"], "less": []}}.
-- They are of the model with this version; a process of an earlier version of the service replaces a model and leaves these.
ALTER TABLE preference_model ADD COLUMN facts jsonb;
