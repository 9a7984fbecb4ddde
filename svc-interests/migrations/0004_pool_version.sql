-- A pool is of the interest's name and context, what counts as recommended already of the context alone: a new name
-- builds the pool anew and brings no paper back.
ALTER TABLE interest ADD COLUMN pool_version integer NOT NULL DEFAULT 1;
UPDATE interest SET pool_version = context_version;
ALTER TABLE pool_entry RENAME COLUMN context_version TO pool_version;

COMMENT ON COLUMN interest.pool_version IS 'rises when name or context change';
COMMENT ON COLUMN interest.context_version IS 'rises when the context changes';
COMMENT ON TABLE pool_entry IS 'Candidates for an interest. Those of another pool_version than the interest''s are not read.';
